"""Somebody else's partition judged against unequal devices, and repaired.

python examples/judge_metis.py
"""

import numpy as np
import pymetis

import evener as ev
from evener.graphs.generating.delaunay import triangle_mesh

graph = triangle_mesh(10_000, seed=7).dual_graph()
platform = ev.Platform.flat([1.0] * 6 + [4.0] * 2)  # six slow devices, two fast ones

# What many codes do: METIS with equal blocks. Any other source of `part` will do, as a file:
# part = ev.read_part("mesh.part", graph.n)
adjacency = pymetis.CSRAdjacency(graph.xadj, graph.adjncy.astype(np.int64))
part = pymetis.part_graph(platform.k, adjacency).vertex_part

given = ev.Partition(part, platform.k)
contract, _ = ev.contract_for(graph, platform, epsilon=0.03)
before = ev.evaluate(graph, given, platform, contract)

kept = ev.enforce(graph, given, contract, names=platform.names)
after = ev.evaluate(graph, kept.partition, platform, contract)

for name, judged in (("as given", before), ("enforced", after)):
    certificate, prediction = judged.certificate, judged.prediction
    ratio = certificate.weights / contract.targets
    print(f"{name}: {certificate.holds.sum()} of {platform.k} contracts kept, blocks at "
          f"{ratio.min():.2f} to {ratio.max():.2f} of their targets, "
          f"{prediction.makespan / prediction.bound:.2f}x the bound")  # fmt: skip
print(f"moved: {kept.moved / graph.n:.0%} of the cells")

# A plan made for these devices needs no such repair, and cuts less.
plan = ev.plan(graph, platform, ev.PlanOptions(tool="metis", epsilon=0.03))
print("planned: all kept:", plan.certificate.all_hold)
print("cuts less than the repaired one:", plan.evaluation.edge_cut < after.edge_cut)

# It prints:
# as given: 0 of 8 contracts kept, blocks at 0.4... to 1.7... of their targets, 1.7...x the bound
# enforced: 8 of 8 contracts kept, blocks at 0.9... to 1.0... of their targets, 1.0...x the bound
# moved: ...% of the cells
# planned: all kept: True
# cuts less than the repaired one: True

"""Small real calls that reach the kernels of a first plan: read, divide, evaluate, export a mesh.

These calls compile a quarter of all kernels, in pieces that two processes finish in about equal
time. One process divides, beginning with kernels that nothing else needs; the other meanwhile
compiles the kernels that the first process needs next.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from evener.cli.precompile.rehearsals import seconds
from evener.cli.precompile.samples import SPEEDS, machine_of, places
from evener.graphs.graph import Graph
from evener.graphs.mesh import Mesh
from evener.plans.partition import Contract, Partition
from evener.plans.workload import WORKLOADS


def triangles() -> Mesh:
    """Return a mesh of triangles, large enough for several levels of coarsening."""
    from evener.graphs.generating.delaunay import triangle_mesh

    return triangle_mesh(2000, 3)


def dividing() -> None:
    """Plan a mesh for different devices: for least cut, for least time, for SpMV's least time."""
    from evener.planning.in_memory import plan
    from evener.planning.options import PlanOptions

    graph = triangles().dual_graph()
    for objective in ("cut", "seconds"):
        plan(graph, machine_of(), PlanOptions(objective=objective))
    plan(graph, machine_of(), PlanOptions(objective="seconds", workload=WORKLOADS["spmv"]))


def _halves(graph: Graph) -> tuple[Partition, Contract]:
    """Return blocks that break a contract, and the contract."""
    k = len(SPEEDS)
    part = Partition((np.arange(graph.n) * k // graph.n).astype(np.int32), k)
    targets = np.array(SPEEDS) * graph.n / sum(SPEEDS)
    return part, Contract(targets, 0.97 * targets, 1.03 * targets)


def repairing() -> None:
    """Repair blocks to keep their contract."""
    from evener.partitioning.enforce import enforce

    graph = next(places())
    enforce(graph, *_halves(graph))


def cutting() -> None:
    """Refine borders, also of groups of blocks one after the other, as on large meshes."""
    from evener.partitioning.levels.levels import finest
    from evener.partitioning.refinement.cutting import cut_anew
    from evener.partitioning.refinement.fm import grouped
    from evener.partitioning.refinement.fm_kernels import BlockState, WeightLimits

    graph = next(places())
    blocks = _halves(graph)[0]
    part, weight = np.array(blocks.part), np.bincount(blocks.part).astype(float)
    low, high = 0.9 * weight, 1.1 * weight
    limits = WeightLimits(low, high, low.copy(), high.copy())
    state = BlockState(part, weight, np.ones(blocks.k, np.int64), limits)
    level = finest(graph, np.arange(graph.n), None, np.empty(0, np.int32), 1)
    cut_anew(level, state, reach=1.0, seed=7, threads=1)
    grouped(level, part, np.arange(graph.n, dtype=np.int32), blocks.k, seed=7, threads=1)


def judging() -> None:
    """Map blocks to devices, and count what they compute and send."""
    from evener.partitioning.mapping.blocks import map_blocks
    from evener.planning.evaluate import evaluate

    graph = next(places())
    part, _ = _halves(graph)
    targets = np.full(part.k, graph.n / part.k)
    wide = Contract(targets, 0.5 * targets, 2 * targets)
    map_blocks(graph, part, machine_of(), wide)
    evaluate(graph, part, machine_of(), wide)


def reading() -> None:
    """Write a mesh, and read it as a graph of cells."""
    from evener.io import read
    from evener.io.write import write_mesh

    with TemporaryDirectory() as name:
        path = Path(name) / "mesh.su2"
        write_mesh(path, triangles())
        read(path)


FIRST: dict[str, Callable[[], None]] = {
    "first: dividing": dividing,
    "first: repairing": repairing,
    "first: cutting": cutting,
    "first: seconds": seconds,
    "first: reading": reading,
    "first: judging": judging,
}

"""A mesh in memory, as your code has it, divided over three unequal devices.

python examples/own_mesh.py
"""

import numpy as np

import evener as ev

TRIANGLE = 5  # VTK's number; a quad is 9, a tetrahedron 10, a hexahedron 12

# A square of 60 x 60 points, every small square cut into two triangles.
side = 60
x, y = np.meshgrid(np.linspace(0, 1, side), np.linspace(0, 1, side))
points = np.column_stack([x.ravel(), y.ravel()])
corner = np.arange(side * side).reshape(side, side)
a, b, c, d = (part.ravel() for part in (corner[:-1, :-1], corner[:-1, 1:], corner[1:, 1:],
                                         corner[1:, :-1]))  # fmt: skip
cells = np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])])

mesh = ev.Mesh(
    points,
    offsets=np.arange(0, cells.size + 1, 3),  # cell i has corners[offsets[i]:offsets[i + 1]]
    corners=cells.ravel(),
    kinds=np.full(len(cells), TRIANGLE),
)
# Work per cell: here three times as much near the lower edge. None: 1 each.
work = np.where(mesh.centres()[:, 1] < 0.1, 3.0, 1.0)
graph = mesh.dual_graph().with_(vwgt=work)

platform = ev.Platform.flat([1.0, 1.0, 4.0])  # the third is four times as fast
plan = ev.plan(graph, platform, ev.PlanOptions(connected=True))

part = plan.partition.part  # part[i]: the device of cell i
for device in range(platform.k):
    mine = np.flatnonzero(part == device)
    share = work[mine].sum() / work.sum()
    print(f"{platform.names[device]}: {share:.1%} of the work, in one piece:",
          plan.certificate.components[device] == 1)  # fmt: skip
print("every block keeps its contract:", plan.certificate.all_hold)

ev.write_part("mesh.part", part, "metis")  # a block number a line
ev.write_part("mesh.vtu", part, "vtu", mesh=mesh, fields={"work": work})  # for ParaView

# It prints:
# dev0: 1... of the work, in one piece: True
# dev1: 1... of the work, in one piece: True
# dev2: 6... of the work, in one piece: True
# every block keeps its contract: True

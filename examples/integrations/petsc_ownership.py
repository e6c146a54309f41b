"""Plans a matrix of the rows that PETSc's ranks own; each row goes to the rank of its device.

mpirun -n 3 python3 petsc_ownership.py
"""

import numpy as np
from petsc4py import PETSc

import evener as ev

side = 60  # of a grid
A = PETSc.Mat().createAIJ((side**2, side**2), nnz=5, comm=PETSc.COMM_WORLD)
A.setUp()
first, last = A.getOwnershipRange()
for i in range(first, last):
    row, column = divmod(i, side)
    near = [(row - 1, column), (row, column - 1), (row, column + 1), (row + 1, column)]
    inside = [r * side + c for r, c in near if 0 <= r < side and 0 <= c < side]
    A.setValues(i, [i, *inside], [5, *[-1] * len(inside)])
A.assemble()

offsets, columns, _ = A.getValuesCSR()  # of the rows that this rank owns
rows = np.repeat(np.arange(first, last), np.diff(offsets))
others = rows != columns  # without the diagonal
xadj = np.append(0, np.cumsum(np.bincount(rows[others] - first, minlength=last - first)))
comm = A.comm.tompi4py()
graph = ev.DistributedGraph.from_local(comm, xadj, columns[others])
plan = ev.plan(graph, [float(1 + r) for r in range(comm.size)])  # a device for each rank

owners = PETSc.IS().createGeneral(plan.part.astype(PETSc.IntType), comm=comm)
index_set = owners.buildTwoSided()  # the rows of this rank's device, by their numbers
B = A.createSubMatrix(index_set, index_set)
counts = comm.gather(B.getLocalSize()[0])
norms = A.norm(), B.norm()
if comm.rank == 0:
    print(f"rows of each rank: {counts}; norms {norms[0]:.4f} and {norms[1]:.4f}")
    print(plan.verdict())

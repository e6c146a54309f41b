"""Reorders a matrix in PETSc's own distribution by matrix.plan; saves products and a solution."""

import numpy as np
from petsc4py import PETSc

from evener.doors import petsc

comm = PETSc.COMM_WORLD
with np.load("matrix.npz") as file:
    indptr, indices, data, x, b = (file[name] for name in ("indptr", "indices", "data", "x", "b"))
n = indptr.size - 1

# As any program has it: equal numbers of rows, in the order of the file.
A = PETSc.Mat().createAIJ((n, n), comm=comm)
A.setUp()
first, last = A.getOwnershipRange()
for row in range(first, last):
    mine = slice(indptr[row], indptr[row + 1])
    A.setValues([row], indices[mine].astype(PETSc.IntType), data[mine])
A.assemble()

order, offsets, index_set = petsc.rows("matrix.plan", n=n)
B = A.createSubMatrix(index_set, index_set)
here = order[offsets[comm.rank] : offsets[comm.rank + 1]]
values, product, right, solution = (B.createVecRight() for _ in range(4))
values.setArray(x[here])
B.mult(values, product)

solver = PETSc.KSP().create(comm)
solver.setOperators(B)
solver.setType("cg")
solver.setTolerances(rtol=1e-12)
right.setArray(b[here])
solver.solve(right, solution)

np.savez(
    f"rank{comm.rank}.npz", order=order, offsets=offsets, owned=B.getOwnershipRange(),
    indices=index_set.getIndices(), product=product.getArray(), solution=solution.getArray(),
    iterations=solver.getIterationNumber(), reason=solver.getConvergedReason(),
)  # fmt: skip

"""Reorders a matrix in PETSc's own distribution by matrix.plan; saves products and solutions.

petsc_rows.py MATRIX.npz BLOCK_SIZE
"""

import sys

import numpy as np
from petsc4py import PETSc

from evener.integrations import petsc

comm = PETSc.COMM_WORLD
block_size = int(sys.argv[2])
with np.load(sys.argv[1]) as file:
    indptr, indices, data, x, b = (file[name] for name in ("indptr", "indices", "data", "x", "b"))
n = indptr.size - 1


def solved(preconditioner):
    """Solve by CG; iterations, and this rank's part of the solution."""
    solver = PETSc.KSP().create(comm)
    solver.setOperators(B)
    solver.setType("cg")
    solver.getPC().setType(preconditioner)
    solver.setTolerances(rtol=1e-12)
    right, solution = B.createVecs()
    right.setArray(b[here])
    solver.solve(right, solution)
    assert solver.getConvergedReason() > 0
    return solver.getIterationNumber(), solution.getArray().copy()


# As any program has it: equal numbers of rows, in the order of the file.
A = PETSc.Mat().createAIJ((n, n), comm=comm)
A.setUp()
first, last = A.getOwnershipRange()
start, end = indptr[first], indptr[last]
A.setValuesCSR((indptr[first : last + 1] - start).astype(PETSc.IntType),
               indices[start:end].astype(PETSc.IntType), data[start:end])  # fmt: skip
A.assemble()

order, offsets, index_set = petsc.rows("matrix.plan", n=n, block_size=block_size)
B = A.createSubMatrix(index_set, index_set)
here = order[offsets[comm.rank] : offsets[comm.rank + 1]]
values, product = B.createVecs()
values.setArray(x[here])
B.mult(values, product)

saved = {}
for name in ("none", "hypre") if PETSc.Sys.hasExternalPackage("hypre") else ("none",):
    saved[f"{name} iterations"], saved[name] = solved(name)
np.savez(
    f"rank{comm.rank}.npz", order=order, offsets=offsets, owned=B.getOwnershipRange(),
    indices=index_set.getIndices(), product=product.getArray(), **saved,
)  # fmt: skip

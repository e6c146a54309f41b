"""Solves with a matrix whose rows a plan divides over the ranks of a PETSc program.

mpirun -n 3 python3 petsc_matrix.py matrix.mtx matrix.plan
"""

import sys

import numpy as np
from petsc4py import PETSc
from scipy.io import mmread
from scipy.sparse import csgraph, identity

from evener.integrations import petsc

joined = mmread(sys.argv[1]).tocsr()
matrix = (csgraph.laplacian(abs(joined)) + 0.01 * identity(joined.shape[0])).tocsr()

# In the order of the file, equal numbers of rows on all ranks, as PETSc divides them by itself.
A = PETSc.Mat().createAIJ(matrix.shape, comm=PETSc.COMM_WORLD)
A.setUp()
first, last = A.getOwnershipRange()
here = matrix[first:last]
A.setValuesCSR(here.indptr.astype(PETSc.IntType), here.indices.astype(PETSc.IntType), here.data)
A.assemble()

order, offsets, index_set = petsc.rows(sys.argv[2], n=matrix.shape[0])
B = A.createSubMatrix(index_set, index_set)
x, b = B.createVecs()
b.setArray(np.sin(index_set.getIndices()))  # of each row, by its number in the file
solver = PETSc.KSP().create(B.comm)
solver.setOperators(B)
solver.setType("cg")
solver.setTolerances(rtol=1e-10)
solver.solve(b, x)
norm = x.norm()
if B.comm.rank == 0:
    print(f"rows of each rank: {np.diff(offsets).tolist()}")
    print(f"CG: {solver.getIterationNumber()} iterations, |x| = {norm:.6f}")

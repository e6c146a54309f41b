"""Distributes mesh.msh by mesh.plan, on any number of ranks; saves what was checked."""

import numpy as np
from petsc4py import PETSc

from evener.integrations import petsc

dm = PETSc.DMPlex().createFromFile("mesh.msh", comm=PETSc.COMM_WORLD)
dm.setPartitioner(petsc.partitioner("mesh.plan", dm))
checked = petsc.check(dm, dm.distribute(), "mesh.plan")
np.savez(f"rank{dm.comm.rank}.npz", cells=checked.cells, facets=checked.facets)

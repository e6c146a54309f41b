"""Gives each rank of a PETSc program the cells of its block, and a layer of ghosts.

mpirun -n 3 python3 petsc_mesh.py mesh.msh mesh.plan
"""

import sys

from petsc4py import PETSc

from evener.integrations import petsc

mesh, plan = sys.argv[1:3]
dm = PETSc.DMPlex().createFromFile(mesh, comm=PETSc.COMM_WORLD)
dm.setPartitioner(petsc.partitioner(plan, dm, file=mesh))
sf = dm.distribute()
checked = petsc.check(dm, sf, plan)
dm.distributeOverlap(1)

start, end = dm.getHeightStratum(0)
found = dm.comm.tompi4py().gather((checked.cells, end - start - checked.cells))
if dm.comm.rank == 0:
    for rank, (own, ghosts) in enumerate(found):
        print(f"rank {rank}: {own:,} cells of its own, {ghosts} ghosts")
    print(f"{checked.facets} facets between ranks, as many as the plan cuts")

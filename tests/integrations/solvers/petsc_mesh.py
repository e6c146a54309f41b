"""Distributes mesh.msh by mesh.plan in three ways, and again by an array; saves where cells are."""

import numpy as np
from petsc4py import PETSc

from evener.integrations import firedrake, petsc

comm = PETSc.COMM_WORLD


def read():
    return PETSc.DMPlex().createFromFile("mesh.msh", comm=comm)


def origins(dm, sf):
    """Rank and number, before it was distributed, of each cell that is here now."""
    start, end = dm.getHeightStratum(0)
    _, leaves, remote = sf.getGraph()
    leaves = np.arange(len(remote)) if leaves is None else leaves
    return np.array([remote[i] for i, p in enumerate(leaves) if start <= p < end]).reshape(-1, 2)


saved = {}
for name in ("mesh.plan", "rows.npz", "part.npz"):
    dm = read()
    dm.setPartitioner(petsc.partitioner(name, dm, file=None if name == "part.npz" else "mesh.msh"))
    sf = dm.distribute()
    saved[name] = origins(dm, sf)
    checked = petsc.check(dm, sf, name)
    saved[f"checked {name}"] = [checked.cells, -1 if checked.facets is None else checked.facets]

# From unequal slices: cells are numbered rank after rank.
counts = comm.tompi4py().allgather(dm.getHeightStratum(0)[1])
part = np.random.default_rng(3).choice(comm.size, sum(counts)) if comm.rank == 0 else None
dm.setPartitioner(petsc.partitioner(part, dm))
sf = dm.distribute()
saved["again"] = origins(dm, sf)
saved["counts"] = counts
saved["part"] = comm.tompi4py().bcast(part)
assert petsc.check(dm, sf, part).facets is None

# As Firedrake does with distribution_parameters={"partition": (sizes, points)}.
sizes, points = firedrake.partition("mesh.plan", comm.tompi4py(), file="mesh.msh")
assert (sizes is None) == (points is None) == (comm.rank > 0)
dm = read()
shell = dm.getPartitioner()
shell.setType(shell.Type.SHELL)
shell.setShellPartition(comm.size, sizes, points)
sf = dm.distribute()
saved["firedrake"] = origins(dm, sf)

np.savez(f"rank{comm.rank}.npz", **saved)

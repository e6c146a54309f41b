"""Tries what must be refused, one after the other; each rank saves what it was told."""

import numpy as np
from dolfinx.mesh import GhostMode, create_mesh
from dolfinx_mesh import TRIANGLES, as_from_0_12_on, read
from mpi4py import MPI

from evener.errors import EvenerError
from evener.integrations import dolfinx

comm = MPI.COMM_WORLD
NONE, SHARED = GhostMode.none, GhostMode.shared_facet


def made(partitioner, name="mesh.xdmf", mode=NONE):
    return create_mesh(comm, *read(name), TRIANGLES, mode, partitioner)


by_plan = dolfinx.partitioner("mesh.plan")
tried = {
    "ranks": lambda: made(dolfinx.partitioner("two.plan")),
    "cells": lambda: made(by_plan, "shorter.xdmf"),
    "shuffled": lambda: made(by_plan, "shuffled.xdmf"),
    "shuffled, 0.12": lambda: made(as_from_0_12_on(by_plan), "shuffled.xdmf"),
    "other file": lambda: made(
        dolfinx.partitioner("mesh.plan", file="shuffled.xdmf"), "shuffled.xdmf"
    ),
    "points": lambda: made(dolfinx.partitioner("points.plan")),
    "text": lambda: made(dolfinx.partitioner("mesh.xdmf")),
    "missing": lambda: made(dolfinx.partitioner("nothing.plan")),
    "ghosts": lambda: made(dolfinx.partitioner("mesh.plan", "none"), mode=SHARED),
    "not ours": lambda: dolfinx.check(create_mesh(comm, *read(), TRIANGLES, SHARED), "mesh.plan"),
}
told = {}
for name, trial in tried.items():
    try:
        told[name] = f"not refused: {trial()}"
    except EvenerError as error:
        told[name] = f"{type(error).__name__}: {error}"
    except TypeError as error:  # 0.5 calls again, with other arguments, after any exception
        told[name] = f"{type(error.__context__).__name__}: {error.__context__}"
    comm.Barrier()  # all ranks get here
np.savez(f"rank{comm.rank}.npz", **told)

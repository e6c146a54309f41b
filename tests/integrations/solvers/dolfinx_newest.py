"""As dolfinx_mesh.py and dolfinx_refusals.py, for DOLFINx 0.11; the mesh is in mesh.npz."""

import basix.ufl
import numpy as np
from dolfinx.mesh import GhostMode, create_cell_partitioner, create_mesh
from mpi4py import MPI

from evener.errors import EvenerError
from evener.integrations import dolfinx

comm = MPI.COMM_WORLD
TRIANGLES = basix.ufl.element("Lagrange", "triangle", 1, shape=(2,))
MODES = (GhostMode.none, GhostMode.shared_facet)

with np.load("mesh.npz") as file:  # a slice on each rank, as readers have it
    cells, points = (np.array_split(file[name], comm.size)[comm.rank] for name in ("cells", "x"))


def made(partitioner, cells=cells):
    return create_mesh(comm, cells, TRIANGLES, points, partitioner)


def as_from_0_12_on(partitioner, mode):
    """Have DOLFINx build the dual graph and call the partitioner as 0.12 does."""
    return create_cell_partitioner(
        lambda comm, n, graph, ghosting: partitioner(comm, n, graph, None, None, ghosting), mode, 2
    )


saved = {}
for mode in MODES:
    ways = {
        "0.11": dolfinx.partitioner("mesh.plan", mode),
        "0.12": as_from_0_12_on(dolfinx.partitioner("mesh.plan"), mode),
    }
    for way, partitioner in ways.items():
        mesh = made(partitioner)
        owned = mesh.topology.index_map(2).size_local
        here = np.array(mesh.topology.original_cell_index)
        saved[f"{way} {mode.name} owned"], saved[f"{way} {mode.name} ghosts"] = np.split(
            here, [owned]
        )
        saved[f"{way} {mode.name} checked"] = dolfinx.check(mesh, "mesh.plan")

tried = {
    "ranks": lambda: made(dolfinx.partitioner("two.plan")),
    "cells": lambda: made(dolfinx.partitioner("mesh.plan"), cells[1:]),
    "shuffled": lambda: made(dolfinx.partitioner("mesh.plan"), cells[::-1].copy()),
    "shuffled, 0.12": lambda: made(
        as_from_0_12_on(dolfinx.partitioner("mesh.plan"), MODES[0]), cells[::-1].copy()
    ),
    "not ours": lambda: dolfinx.check(made(None), "mesh.plan"),
}
for name, trial in tried.items():
    try:
        saved[name] = f"not refused: {trial()}"
    except EvenerError as error:
        saved[name] = f"{type(error).__name__}: {error}"
    comm.Barrier()  # all ranks get here
np.savez(f"rank{comm.rank}.npz", **saved)

"""Makes a mesh of mesh.xdmf by mesh.plan in several ways; saves which cells are where."""

import numpy as np
import ufl
from dolfinx.io import XDMFFile
from dolfinx.mesh import GhostMode, create_cell_partitioner, create_mesh
from mpi4py import MPI

from evener.integrations import dolfinx

comm = MPI.COMM_WORLD
TRIANGLES = ufl.Mesh(ufl.VectorElement("Lagrange", "triangle", 1))


def read(name="mesh.xdmf"):
    with XDMFFile(comm, name, "r") as file:
        return file.read_topology_data(name="Grid"), file.read_geometry_data(name="Grid")


def as_from_0_12_on(partitioner):
    """Have DOLFINx 0.5 build the dual graph and call the partitioner as 0.12 does."""
    return create_cell_partitioner(
        lambda comm, n, graph, ghosting: partitioner(comm, n, graph, None, None, ghosting)
    )


def as_in_0_6(plan, mode):
    """Call the partitioner without ghost mode, which is given when it is made."""
    partitioner = dolfinx.partitioner(plan, mode)
    return lambda comm, n, dimension, cells, _: partitioner(comm, n, dimension, cells)


if __name__ == "__main__":
    saved = {}
    for mode in (GhostMode.none, GhostMode.shared_facet):
        ways = {
            "0.5": dolfinx.partitioner("mesh.plan", file="mesh.xdmf"),
            "0.6": as_in_0_6("mesh.plan", mode),
            "0.12": as_from_0_12_on(dolfinx.partitioner("mesh.plan")),
            "rows": dolfinx.partitioner("rows.npz"),
        }
        for way, partitioner in ways.items():
            mesh = create_mesh(comm, *read(), TRIANGLES, mode, partitioner)
            cells = mesh.topology.index_map(2)
            here = np.array(mesh.topology.original_cell_index)
            saved[f"{way} {mode.name} owned"] = here[: cells.size_local]
            saved[f"{way} {mode.name} ghosts"] = here[cells.size_local :]
            saved[f"{way} {mode.name} checked"] = dolfinx.check(mesh, "mesh.plan")
    np.savez(f"rank{comm.rank}.npz", **saved)

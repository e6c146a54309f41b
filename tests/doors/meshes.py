"""A mesh of triangles in files that solvers read, and its plan for three unequal devices."""

import meshio
import numpy as np

import evener as ev
from evener.graphs.generating.delaunay import triangle_mesh

SPEEDS = [1.0, 2.0, 4.0]


def write_mesh(path, points, triangles):
    """Write triangles for PETSc (.msh of version 2.2) or DOLFINx (.xdmf)."""
    # Of three coordinates in .msh, as Gmsh writes; of two in .xdmf, where they are the dimension.
    flat = path.suffix == ".xdmf"
    points = points if flat else np.column_stack([points, np.zeros(len(points))])
    mesh = meshio.Mesh(points, [("triangle", triangles)])
    if flat:
        meshio.write(path, mesh)
    else:
        tags = [np.ones(len(triangles), np.int32)]
        mesh.cell_data = {"gmsh:physical": tags, "gmsh:geometrical": tags}
        meshio.write(path, mesh, file_format="gmsh22", binary=False)


def write_planned(folder, suffix, n=600):
    """Write mesh, shuffled (the same cells in another order), and plans of it; return the plan."""
    mesh = triangle_mesh(n, seed=11)
    triangles = mesh.corners.reshape(-1, 3)
    write_mesh(folder / f"mesh{suffix}", mesh.points, triangles)
    order = np.random.default_rng(5).permutation(len(triangles))
    write_mesh(folder / f"shuffled{suffix}", mesh.points, triangles[order])
    write_mesh(folder / f"shorter{suffix}", mesh.points, triangles[:-1])
    file = folder / f"mesh{suffix}"
    plan = ev.plan(str(file), SPEEDS)
    ev.write_plan(folder / "mesh.plan", plan)
    return plan

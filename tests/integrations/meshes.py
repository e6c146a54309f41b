"""A mesh of triangles in files that solvers read, and its plan for three unequal devices."""

import meshio
import numpy as np

import evener as ev
from evener.graphs.generating.delaunay import triangle_mesh

SPEEDS = [1.0, 2.0, 4.0]


def write_mesh(path, points, triangles):
    """Write triangles for PETSc (.msh) or DOLFINx (.xdmf)."""
    if path.suffix == ".xdmf":  # of two coordinates, which are its dimension
        meshio.write(path, meshio.Mesh(points, [("triangle", triangles)]))
    else:
        write_msh(path, np.column_stack([points, np.zeros(len(points))]), [("triangle", triangles)])


def write_msh(path, points, cells):
    """Write Gmsh's format 2.2, all cells of one group."""
    tags = [np.ones(len(corners), np.int32) for _, corners in cells]
    fields = {"gmsh:physical": tags, "gmsh:geometrical": tags}
    meshio.write(path, meshio.Mesh(points, cells, cell_data=fields), "gmsh22", binary=False)


def write_mixed(path, side=12):
    """Write a square of quadrilaterals, of which every third is two triangles."""
    corner = np.arange((side + 1) ** 2).reshape(side + 1, side + 1)
    x, y = np.divmod(corner.ravel(), side + 1)
    cells = []
    for i, j in np.ndindex(side, side):
        a, b, c, d = corner[i, j], corner[i + 1, j], corner[i + 1, j + 1], corner[i, j + 1]
        split = (i + j) % 3 == 0
        cells.append(("triangle", [[a, b, c], [a, c, d]]) if split else ("quad", [[a, b, c, d]]))
    points = np.column_stack([x, y, 0 * x]).astype(float)
    write_msh(path, points, [(kind, np.array(corners)) for kind, corners in cells])


def write_hexahedra(path, side):
    """Write a cube of hexahedra with corners at these coordinates."""
    corner = np.arange(side.size**3).reshape(side.size, side.size, side.size)
    low, high = slice(None, -1), slice(1, None)
    around = [(low, low), (high, low), (high, high), (low, high)]
    hexahedra = np.stack([corner[i, j, k].ravel() for k in (low, high) for i, j in around], axis=1)
    points = np.stack(np.meshgrid(side, side, side, indexing="ij"), axis=-1).reshape(-1, 3)
    write_msh(path, points.astype(float), [("hexahedron", hexahedra)])


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

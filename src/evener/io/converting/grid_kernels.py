"""The lists of a regular grid's vertices."""

# mypy: ignore-errors
from evener.jit import njit


@njit(cache=True, nogil=True, counted=False)
def grid_rows(first, nx, ny, nz, diagonal, xadj, adjncy):
    """Write the adjacency lists of a grid of nx * ny * nz vertices, from vertex `first` on.

    The last axis varies fastest; a grid in the plane has nx = 1. diagonal: also link vertices one
    step apart along both of the last two axes. xadj (rows + 1,) from 0; adjncy has room for eight
    neighbours each.
    """
    edge = 0
    xadj[0] = 0
    layer = ny * nz
    for i in range(xadj.size - 1):
        v = first + i
        z, rest = v % nz, v // nz
        y, x = rest % ny, rest // ny
        if x > 0:
            adjncy[edge] = v - layer
            edge += 1
        if diagonal and y > 0 and z > 0:
            adjncy[edge] = v - nz - 1
            edge += 1
        if y > 0:
            adjncy[edge] = v - nz
            edge += 1
        if z > 0:
            adjncy[edge] = v - 1
            edge += 1
        if z < nz - 1:
            adjncy[edge] = v + 1
            edge += 1
        if y < ny - 1:
            adjncy[edge] = v + nz
            edge += 1
        if diagonal and y < ny - 1 and z < nz - 1:
            adjncy[edge] = v + nz + 1
            edge += 1
        if x < nx - 1:
            adjncy[edge] = v + layer
            edge += 1
        xadj[i + 1] = edge

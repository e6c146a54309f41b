"""Kernels of meshes whose cells are bounded by any polygons: faces, owners, neighbours."""

# mypy: ignore-errors
from evener.graphs.mesh_kernels import BAD_FACE, BAD_ORDER, OK
from evener.jit import njit


@njit(cache=True, nogil=True)
def check_owners(offsets, owner, neighbour, where):
    """Whether faces have 3 corners or more, and cells are numbered >= 0; where[1] = largest."""
    largest = -1
    for f in range(owner.size):
        where[0] = f
        if offsets[f + 1] - offsets[f] < 3:
            return BAD_FACE
        if owner[f] < 0:
            return BAD_ORDER
        largest = max(largest, owner[f])
        if f < neighbour.size:
            if neighbour[f] < 0 or neighbour[f] == owner[f]:
                return BAD_ORDER
            largest = max(largest, neighbour[f])
    where[1] = largest
    return OK


@njit(cache=True, nogil=True)
def count_faces_of_cells(owner, neighbour, count):
    """Number of faces each cell has."""
    count[:] = 0
    for f in range(owner.size):
        count[owner[f]] += 1
        if f < neighbour.size:
            count[neighbour[f]] += 1


@njit(cache=True, nogil=True)
def poly_centres(points, offsets, corners, owner, neighbour, count, out):
    """Mean over a cell's faces of the mean of the face's corners."""
    out[:] = 0.0
    for f in range(owner.size):
        size = offsets[f + 1] - offsets[f]
        for d in range(points.shape[1]):
            total = 0.0
            for j in range(offsets[f], offsets[f + 1]):
                total += points[corners[j], d]
            out[owner[f], d] += total / size
            if f < neighbour.size:
                out[neighbour[f], d] += total / size
    for cell in range(count.size):
        for d in range(points.shape[1]):
            out[cell, d] /= max(count[cell], 1)


@njit(cache=True, nogil=True)
def fill_rings(offsets, corners, u, v):
    """The edges around every face."""
    for f in range(offsets.size - 1):
        for j in range(offsets[f], offsets[f + 1]):
            u[j] = corners[j]
            v[j] = corners[j + 1] if j + 1 < offsets[f + 1] else corners[offsets[f]]

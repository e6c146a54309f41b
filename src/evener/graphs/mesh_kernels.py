"""Finds which cells of a mesh share a face, in linear time for any mesh.

A face is identified by its corners in ascending order. A counting sort by each corner in turn, the
last first, makes equal faces adjacent. This is exact, needs no hashing, and is as fast on
adversarial meshes (such as one point shared by all cells) as on usual meshes.
"""

# mypy: ignore-errors
import numpy as np

from evener.graphs.cell_kernels import (
    BASE,
    CORNERS,
    DIM,
    EDGE,
    FACE,
    FACE_SIZE,
    LINE,
    MAX_FACE,
    MIDSIDE,
    N_EDGES,
    N_FACES,
    NONE,
    POINT_SET,
    POLYGON,
    SIZE,
)
from evener.jit import inner, njit

OK, BAD_OFFSETS, BAD_KIND, BAD_SIZE, BAD_CORNER, BAD_FACE, BAD_ORDER = 0, 1, 2, 3, 4, 5, 6


@njit(cache=True, nogil=True)
def check_lists(offsets, corners, n_points, where):
    """Check that offsets ascend from 0 to corners.size and corners lie in [0, n_points)."""
    last = offsets.size - 1
    if offsets[0] != 0 or offsets[last] != corners.size:
        where[0] = 0
        return BAD_OFFSETS
    for i in range(last):
        if offsets[i + 1] < offsets[i] or offsets[i + 1] > corners.size:
            where[0] = i
            return BAD_OFFSETS
        for j in range(offsets[i], offsets[i + 1]):
            if corners[j] < 0 or corners[j] >= n_points:
                where[0], where[1] = i, corners[j]
                return BAD_CORNER
    return OK


@njit(cache=True, nogil=True)
def check_kinds(offsets, kinds, where):
    """Check that every cell is of a known type and has as many corners as its type."""
    for i in range(kinds.size):
        size = offsets[i + 1] - offsets[i]
        kind = kinds[i]
        where[0], where[1] = i, size
        if BASE[kind] == NONE:
            return BAD_KIND
        if (SIZE[kind] > 0 and size != SIZE[kind]) or size < CORNERS[BASE[kind]]:
            return BAD_SIZE
    return OK


@njit(cache=True, nogil=True)
def count_faces(offsets, kinds):
    """Return (number of faces of all cells, corners of the largest face)."""
    count, width = 0, 1
    for i in range(kinds.size):
        base = BASE[kinds[i]]
        if base in (POLYGON, POINT_SET):
            count += offsets[i + 1] - offsets[i]
            if base == POLYGON:
                width = max(width, 2)
        elif base == LINE:
            count += 2
        else:
            count += N_FACES[base]
            for f in range(N_FACES[base]):
                width = max(width, FACE_SIZE[base, f])
    return count, width


@inner()
def face_corners(offsets, corners, kinds, cell, face, out):
    """Write the corners of a cell's face to `out`; return their number."""
    first = offsets[cell]
    base = BASE[kinds[cell]]
    if base in (LINE, POINT_SET):
        out[0] = corners[first + face]
        return 1
    if base == POLYGON:
        size = offsets[cell + 1] - first
        out[0] = corners[first + face]
        out[1] = corners[first + (face + 1) % size]
        return 2
    size = FACE_SIZE[base, face]
    for i in range(size):
        out[i] = corners[first + FACE[base, face, i]]
    return size


@njit(cache=True, nogil=True)
def fill_faces(offsets, corners, kinds, keys, cell_of, face_of):
    """List all faces; keys (width, f): their corners + 1, ascending, then zeros.

    cell_of, face_of (f,): the cell of each face, and the face's number in the cell. A repeated
    corner of a face counts once; a face that thereby loses a dimension is left out. Returns the
    number of faces.
    """
    width = keys.shape[0]
    key = np.empty(MAX_FACE, np.int32)
    count = 0
    for cell in range(kinds.size):
        base = BASE[kinds[cell]]
        size_of_cell = offsets[cell + 1] - offsets[cell]
        n_faces = N_FACES[base]
        needed = 3
        if base in (POLYGON, POINT_SET):
            n_faces = size_of_cell
        elif base == LINE:
            n_faces = 2
        if base in (LINE, POINT_SET):
            needed = 1
        elif DIM[kinds[cell]] == 2:
            needed = 2
        for face in range(n_faces):
            size = face_corners(offsets, corners, kinds, cell, face, key)
            distinct = 0
            for i in range(size):
                corner = key[i]
                j = distinct - 1
                while j >= 0 and key[j] > corner:
                    j -= 1
                if j >= 0 and key[j] == corner:
                    continue
                for move in range(distinct, j + 1, -1):
                    key[move] = key[move - 1]
                key[j + 1] = corner
                distinct += 1
            if distinct < needed:
                continue
            for i in range(width):
                keys[i, count] = key[i] + 1 if i < distinct else 0
            cell_of[count] = cell
            face_of[count] = face
            count += 1
    return count


@njit(cache=True, nogil=True)
def sort_by(key, n_points, order, out):
    """Write `order`, sorted by key[order[i]], to `out` by a stable counting sort."""
    start = np.zeros(n_points + 2, np.int64)
    for i in range(order.size):
        start[key[order[i]] + 1] += 1
    for i in range(n_points + 1):
        start[i + 1] += start[i]
    for i in range(order.size):
        face = order[i]
        out[start[key[face]]] = face
        start[key[face]] += 1


@inner()
def run_end(keys, order, first):
    """Return the index after the run of equal faces that begins at `first` in the sorted order."""
    a = order[first]
    stop = first + 1
    while stop < order.size:
        b = order[stop]
        for i in range(keys.shape[0]):
            if keys[i, a] != keys[i, b]:
                return stop
        stop += 1
    return stop


@njit(cache=True, nogil=True)
def count_runs(keys, order, counts):
    """Set counts to (number of faces with one cell, number of pairs of equal faces)."""
    counts[:] = 0
    first = 0
    while first < order.size:
        stop = run_end(keys, order, first)
        size = stop - first
        if size == 1:
            counts[0] += 1
        counts[1] += size * (size - 1) // 2
        first = stop


@njit(cache=True, nogil=True)
def fill_runs(keys, order, cell_of, single, u, v):
    """Set `single` to the faces with one cell, and u, v to the cells of pairs of equal faces."""
    singles, pairs = 0, 0
    first = 0
    while first < order.size:
        stop = run_end(keys, order, first)
        if stop == first + 1:
            single[singles] = order[first]
            singles += 1
        for i in range(first, stop):
            for j in range(i + 1, stop):
                u[pairs] = cell_of[order[i]]
                v[pairs] = cell_of[order[j]]
                pairs += 1
        first = stop


@njit(cache=True, nogil=True)
def gather_faces(offsets, corners, kinds, cells, faces, out_offsets, out):
    """Write the corners of some faces to `out`, in the cell's own order."""
    size = 0
    out_offsets[0] = 0
    for i in range(cells.size):
        size += face_corners(offsets, corners, kinds, cells[i], faces[i], out[size:])
        out_offsets[i + 1] = size


@njit(cache=True, nogil=True)
def count_edges(offsets, kinds):
    """Return the number of pairs that fill_edges writes."""
    count = 0
    for i in range(kinds.size):
        base = BASE[kinds[i]]
        size = offsets[i + 1] - offsets[i]
        if base == POINT_SET:
            count += size * (size - 1) // 2
        elif base == POLYGON:
            count += size
        else:
            more = size - CORNERS[base]
            count += N_EDGES[base]
            if MIDSIDE[kinds[i]]:
                count += N_EDGES[base]
                more -= N_EDGES[base]
            count += more * CORNERS[base]
    return count


@njit(cache=True, nogil=True)
def fill_edges(offsets, corners, kinds, u, v):
    """Write the edges of all cells; a point at the middle of an edge splits it.

    Other points of higher order are joined to all corners of their cell.
    """
    count = 0
    for i in range(kinds.size):
        base = BASE[kinds[i]]
        first = offsets[i]
        size = offsets[i + 1] - first
        if base == POINT_SET:
            for a in range(size):
                for b in range(a + 1, size):
                    u[count], v[count] = corners[first + a], corners[first + b]
                    count += 1
            continue
        if base == POLYGON:
            for a in range(size):
                u[count], v[count] = corners[first + a], corners[first + (a + 1) % size]
                count += 1
            continue
        after = CORNERS[base]
        for e in range(N_EDGES[base]):
            a, b = corners[first + EDGE[base, e, 0]], corners[first + EDGE[base, e, 1]]
            if MIDSIDE[kinds[i]]:
                middle = corners[first + after]
                after += 1
                u[count], v[count] = a, middle
                count += 1
                a = middle
            u[count], v[count] = a, b
            count += 1
        for extra in range(after, size):
            for a in range(CORNERS[base]):
                u[count], v[count] = corners[first + a], corners[first + extra]
                count += 1


@njit(cache=True, nogil=True)
def centres(points, offsets, corners, kinds, out):
    """Compute the mean of each cell's corners, without points of higher order."""
    for i in range(kinds.size):
        base = BASE[kinds[i]]
        size = offsets[i + 1] - offsets[i]
        if base not in (POLYGON, POINT_SET):
            size = CORNERS[base]
        for d in range(points.shape[1]):
            total = 0.0
            for j in range(offsets[i], offsets[i] + size):
                total += points[corners[j], d]
            out[i, d] = total / size


# Meshes whose cells are bounded by any polygons: faces, owners, neighbours.


@njit(cache=True, nogil=True)
def check_owners(offsets, owner, neighbour, where):
    """Check that faces have 3 corners or more and cell numbers are >= 0; where[1]: largest cell."""
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
    """Set count to the number of faces of each cell."""
    count[:] = 0
    for f in range(owner.size):
        count[owner[f]] += 1
        if f < neighbour.size:
            count[neighbour[f]] += 1


@njit(cache=True, nogil=True)
def poly_centres(points, offsets, corners, owner, neighbour, count, out):
    """Compute, for each cell, the mean over its faces of the mean of the face's corners."""
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
    """Write the edges around every face."""
    for f in range(offsets.size - 1):
        for j in range(offsets[f], offsets[f + 1]):
            u[j] = corners[j]
            v[j] = corners[j + 1] if j + 1 < offsets[f + 1] else corners[offsets[f]]

"""SU2 mesh files: cells, points, and one marker for every connected piece of the boundary."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from evener.arrays import IntArray
from evener.errors import InputError
from evener.filing.writing_graphs import table_text
from evener.graphs import Graph
from evener.meshes import Faces, Mesh

SU2_KINDS = (5, 9, 10, 12, 13, 14)  # VTK's numbers are SU2's: triangles to pyramids
_FACE_KINDS = {2: 3, 3: 5, 4: 9}  # corners of a boundary face: line, triangle, quad


def su2_text(mesh: Mesh) -> bytes:
    """Return the mesh as SU2 reads it; fields of cells and points have no place in the format.

    The pieces of the boundary are named boundary0, boundary1, ... in the order of their smallest
    point. Raises InputError for cells SU2 does not know and for points without coordinates.
    """
    unknown = sorted(set(mesh.kinds.tolist()) - set(SU2_KINDS))
    if unknown:
        raise InputError(f"SU2 has no cells of VTK's type {unknown[0]}")
    if not mesh.has_coordinates or mesh.dim > mesh.points.shape[1]:
        raise InputError("SU2 needs the coordinates of all points")
    dim = mesh.points.shape[1] if mesh.dim == 3 else 2
    if mesh.points.shape[1] > dim and np.ptp(mesh.points[:, dim]) > 0:
        raise InputError("SU2 has no surfaces in space: the points' z differ")
    numbers = list(map(repr, mesh.points[:, :dim].ravel().tolist()))
    columns = [numbers[j::dim] for j in range(dim)]
    rows = map(" ".join, zip(*columns, map(str, range(mesh.n_points)), strict=True))
    return b"".join(
        [
            f"NDIME= {dim}\nNELEM= {mesh.n_cells}\n".encode(),
            _lists(mesh.kinds, mesh.offsets, mesh.corners, numbered=True),
            f"NPOIN= {mesh.n_points}\n".encode(),
            "\n".join(rows).encode(),
            b"\n",
            _markers(mesh.boundary_faces(), mesh.n_points),
        ]
    )


def _lists(
    kinds: npt.NDArray[np.integer], offsets: IntArray, corners: IntArray, *, numbered: bool
) -> bytes:
    """Lines of type, corners and perhaps the running number; a table for each run of one type."""
    ends = np.flatnonzero(np.diff(kinds)) + 1
    pieces = []
    for first, last in pairwise([0, *ends.tolist(), kinds.size]):
        width = int(offsets[first + 1] - offsets[first])
        table = np.empty((last - first, width + 1 + numbered), np.int64)
        table[:, 0] = kinds[first]
        table[:, 1 : width + 1] = corners[offsets[first] : offsets[last]].reshape(-1, width)
        if numbered:
            table[:, -1] = np.arange(first, last)
        pieces.append(table_text(table, " "))
    return b"".join(pieces)


def _markers(faces: Faces, n_points: int) -> bytes:
    """Return the boundary, split where no face joins its points."""
    counts = np.diff(faces.offsets)
    starts = faces.offsets[:-1]
    following = np.arange(faces.corners.size) + 1
    following[faces.offsets[1:] - 1] = starts
    joined = Graph.from_edges(n_points, faces.corners, faces.corners[following])
    _, label = joined.components()
    of_face = label[faces.corners[starts]]
    pieces = [f"NMARK= {np.unique(of_face).size}\n".encode()]
    for number, piece in enumerate(np.unique(of_face)):
        chosen = np.flatnonzero(of_face == piece)
        chosen = chosen[np.argsort(counts[chosen], kind="stable")]
        sizes = counts[chosen]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        inside = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - starts[chosen], sizes)
        kinds = np.array([_FACE_KINDS[size] for size in sizes.tolist()])
        pieces.append(f"MARKER_TAG= boundary{number}\nMARKER_ELEMS= {chosen.size}\n".encode())
        pieces.append(_lists(kinds, offsets, faces.corners[inside], numbered=False))
    return b"".join(pieces)

"""Makes a PolyMesh from cells of any shape: polyhedra, prisms, and VTK's other solid cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import BoolArray, IntArray
from evener.errors import InputError
from evener.graphs.cell_kernels import BASE, DIM, FACE, FACE_SIZE, N_FACES
from evener.graphs.mesh import Fields
from evener.graphs.polymesh import PolyMesh
from evener.io.meshes.rows import note_unused, ragged
from evener.io.sources import Source

_POLYHEDRON = 42
_PRISMS = {15: 5, 16: 6}  # VTK's types, and the corners of their bases


def is_polyhedral(kinds: IntArray) -> BoolArray:
    """Return which cells require a PolyMesh."""
    return np.asarray((kinds == _POLYHEDRON) | np.isin(kinds, list(_PRISMS)), np.bool_)


def make_polymesh(
    source: Source,
    points: npt.NDArray[Any],
    counts: IntArray,
    corners: IntArray,
    kinds: IntArray,
    *,
    cell_data: Fields,
    point_data: Fields,
    **of_polyhedra: IntArray,
) -> PolyMesh:
    """Return the PolyMesh of the solid cells; notes say what was left out.

    counts (c,): corners of each cell. of_polyhedra: `faces_of` (p,) faces of each polyhedron,
    `face_sizes`, `face_corners`. Raises InputError if three or more cells share a face.
    """
    solid = is_polyhedral(kinds) | (DIM[kinds] == 3)
    if not solid.all():
        left_out = int(np.count_nonzero(~solid))
        cells = "cells" if left_out > 1 else "cell"
        source.notes.append(
            f"{left_out:,} {cells} of lower dimension, such as boundaries, left out."
        )
    first = np.cumsum(counts) - counts
    cell_of, sizes, nodes = [], [], []
    number = np.cumsum(solid) - 1  # number of each cell among the solid ones
    if (kinds == _POLYHEDRON).any():
        cell_of.append(np.repeat(number[kinds == _POLYHEDRON], of_polyhedra["faces_of"]))
        sizes.append(of_polyhedra["face_sizes"])
        nodes.append(of_polyhedra["face_corners"])
    for kind in np.unique(kinds[solid & (kinds != _POLYHEDRON)]).tolist():
        some = np.flatnonzero(kinds == kind)
        for face in _faces_of(kind):
            if counts[some].min() <= max(face):
                raise source.error(f"has cells of VTK's type {kind} with too few corners")
            cell_of.append(number[some])
            sizes.append(np.full(some.size, len(face)))
            nodes.append(corners[first[some][:, None] + face].ravel())
    owner, neighbour, order = _matched(
        source, np.concatenate(cell_of), np.concatenate(sizes), np.concatenate(nodes)
    )
    size, corner = np.concatenate(sizes), np.concatenate(nodes)
    begin = (np.cumsum(size) - size)[order]
    try:
        mesh = PolyMesh(
            points,
            np.concatenate([[0], np.cumsum(size[order])]),
            corner[ragged(begin, size[order])],
            owner,
            neighbour,
            {name: values[solid] for name, values in cell_data.items()},
            point_data,
        )
    except InputError as error:
        raise source.error(error.message, hint=error.hint) from error
    note_unused(source, mesh)
    return mesh


def _faces_of(kind: int) -> list[list[int]]:
    """Return the corners of each face of a cell kind, turned outward."""
    if kind in _PRISMS:
        n = _PRISMS[kind]
        sides = [[i, (i + 1) % n, n + (i + 1) % n, n + i] for i in range(n)]
        return [[0, *range(n - 1, 0, -1)], list(range(n, 2 * n)), *sides]
    base = BASE[kind]
    return [FACE[base, f, : FACE_SIZE[base, f]].tolist() for f in range(N_FACES[base])]


def _matched(
    source: Source, cell_of: IntArray, sizes: IntArray, nodes: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Return owner, neighbour and one listed copy of each face; inner faces first."""
    width = int(sizes.max())
    keys = np.full((sizes.size, width), -1, np.int64)
    keys[np.arange(width) < sizes[:, None]] = nodes
    keys.sort(axis=1)
    _, key_of = np.unique(keys, axis=0, return_inverse=True)
    order = np.lexsort((cell_of, key_of.ravel()))
    key_of = key_of.ravel()[order]
    starts = np.flatnonzero(np.diff(key_of, prepend=-1))
    runs = np.diff(np.append(starts, key_of.size))
    if runs.max() > 2:
        raise source.error(
            f"has a face that belongs to {runs.max()} cells; at most two can share a face"
        )
    inside = starts[runs == 2]
    outside = starts[runs == 1]
    listed = np.concatenate([order[inside], order[outside]])
    return cell_of[listed], cell_of[order[inside + 1]], listed

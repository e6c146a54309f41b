"""Finds the cells that periodic faces couple: by pairs of points, or by geometry."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from evener.arrays import FloatArray, IntArray, IntVector
from evener.graphs.mesh import Mesh

MAX_CORNERS = 4  # of a cell's face
NEAR = 1e-6  # max. distance of a translated face from its match, relative to the extent


class Boundary:
    """The faces of a mesh that belong to one cell, found by their corners.

    owner (f,): the cell of each face. corners (f, MAX_CORNERS): its points, ascending, preceded by
    -1 if there are fewer.
    """

    def __init__(self, mesh: Mesh) -> None:
        faces = mesh.boundary_faces()
        self.points, self.owner = mesh.points, faces.owner
        self.corners = rows_of(np.diff(faces.offsets), faces.corners)

    def paired_by_points(self, links: Iterable[tuple[IntVector, IntVector]]) -> IntArray:
        """Return pairs of faces (p, 2) whose corners are all linked by pairs of points.

        links: for each surface its points and their images, as indices of the mesh's points.
        """
        found = [np.empty((0, 2), np.int64)]
        for points, images in links:
            image = np.full(len(self.points) + 1, -1, np.int64)
            image[points] = images
            moved = image[self.corners]  # index -1 selects the last entry, which is -1
            whole = ((moved >= 0) | (self.corners < 0)).all(axis=1)
            faces = np.flatnonzero(whole)
            others = self.places(np.sort(moved[faces], axis=1))
            keep = (others >= 0) & (others != faces)
            found.append(np.column_stack([faces[keep], others[keep]]))
        return once(np.concatenate(found))

    def places(self, corners: IntArray) -> IntVector:
        """Return the face with each row of corners, ascending, (r,); -1 if there is none."""
        both = np.concatenate([self.corners, corners])
        _, code = np.unique(both, axis=0, return_inverse=True)
        place = np.full(len(both), -1, np.int64)
        place[code.ravel()[: len(self.corners)]] = np.arange(len(self.corners))
        return np.asarray(place[code.ravel()[len(self.corners) :]])

    def paired_by_place(self, first: IntVector, second: IntVector) -> IntArray | None:
        """Return pairs of faces (p, 2), from `first` and `second`, that a common translation joins.

        None if some translated face coincides with no face.
        """
        met = met_when_moved(self._centres(first), self._centres(second))
        return None if met is None else np.column_stack([first, second[met]])

    def coupled(self, pairs: IntArray) -> IntArray:
        """Return the cells of pairs of faces, (p, 2)."""
        return np.asarray(self.owner[pairs], np.int64).reshape(-1, 2)

    def _centres(self, faces: IntVector) -> FloatArray:
        corners = self.corners[faces]
        there = (corners >= 0)[:, :, None]
        total = np.where(there, self.points[corners], 0.0).sum(axis=1)
        return np.asarray(total / there.sum(axis=1))


def rows_of(counts: IntArray, corners: IntArray) -> IntArray:
    """Return the corners of faces, ascending, (f, MAX_CORNERS), preceded by -1 if fewer."""
    rows = np.full((counts.size, MAX_CORNERS), -1, np.int64)
    face = np.repeat(np.arange(counts.size), counts)
    column = np.arange(corners.size) - np.repeat(np.cumsum(counts) - counts, counts)
    rows[face, column] = corners
    rows.sort(axis=1)
    return rows


def once(pairs: IntArray) -> IntArray:
    """Return the pairs (p, 2) without repetitions in either order."""
    ordered = np.sort(pairs, axis=1)
    return np.asarray(np.unique(ordered, axis=0)) if len(pairs) else ordered


def met_when_moved(first: FloatArray, second: FloatArray) -> IntVector | None:
    """Return the index (m,) of the point in `second` that each point in `first` meets.

    All points of `first` are translated by the same vector. None if the numbers of points differ,
    or if the points do not match one to one.
    """
    if not len(first) or first.shape != second.shape or not first.shape[1]:
        return None
    from scipy.spatial import KDTree

    shift = second.mean(axis=0) - first.mean(axis=0)
    extent = max(float(np.ptp(first, axis=0).max()), float(np.abs(shift).max()))
    distance, place = KDTree(second).query(first + shift)
    if distance.max() > NEAR * extent or np.unique(place).size < place.size:
        return None
    return np.asarray(place, np.int64)


def paired_surfaces(
    boundary: Boundary, faces: dict[str, IntVector], names: Iterable[tuple[str, str]]
) -> tuple[IntArray, list[str]]:
    """Return pairs of faces (p, 2) of surfaces that match, and the names of unmatched surfaces.

    Surfaces match if a translation makes their faces meet. faces: by surface name; names: pairs of
    names of surfaces to be matched; a pair with a missing surface is skipped.
    """
    pairs: list[IntArray] = [np.empty((0, 2), np.int64)]
    left = dict(faces)
    for one, other in names:
        if not {one, other} <= set(left):
            continue
        if (faces[one] < 0).any() or (faces[other] < 0).any():
            continue
        found = boundary.paired_by_place(faces[one], faces[other])
        if found is not None:
            pairs.append(found)
            del left[one], left[other]
    return np.concatenate(pairs), list(left)

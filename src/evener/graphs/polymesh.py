"""PolyMesh: cells bounded by any polygons, validated once, with its dual and nodal graphs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, NoReturn

import numpy as np

from evener.arrays import FloatArray, IntArray, as_integers
from evener.errors import InputError
from evener.graphs.graph import Graph
from evener.graphs.mesh import (
    Faces,
    Fields,
    checked_corners,
    checked_fields,
    checked_pairs,
    checked_points,
    graph_by_faces,
    no_pairs,
)
from evener.wording import plural, two_lines


@dataclass(frozen=True, eq=False)
class PolyMesh:
    """Cells bounded by any polygons, as in OpenFOAM.

    points (p, 3) float64; face_offsets (f + 1,) int64 and face_corners int32: the corners of each
    face, turning outward from its owner; owner (f,) int32: the first cell of each face, which is
    the only cell of a boundary face; neighbour (i,) int32, i <= f: the second cell of the first i
    faces, the inner faces.
    cell_data, point_data: arrays by name, with one row per cell or point. n_cells: number of cells.
    coupled (p, 2) int64: the cells at both sides of each pair of cyclic faces. regions: the cells
    of each cell zone.

    Raises InputError for corners out of range, faces of fewer than 3 corners, a face with the same
    cell on both sides, cells without a face, and coordinates that are not finite.
    """

    dim: ClassVar[int] = 3
    together: ClassVar[bool] = False  # coupled cells may be apart: OpenFOAM sends data between them
    exchange: ClassVar[str] = "faces"  # as in Workload.exchange: OpenFOAM sends a value per face
    has_coordinates: ClassVar[bool] = True

    points: FloatArray
    face_offsets: IntArray
    face_corners: IntArray
    owner: IntArray
    neighbour: IntArray
    cell_data: Fields = field(default_factory=dict)
    point_data: Fields = field(default_factory=dict)
    coupled: IntArray = field(default_factory=no_pairs)
    regions: Mapping[str, IntArray] = field(default_factory=dict)
    n_cells: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        from evener.graphs import mesh_kernels as kernels

        put = object.__setattr__
        put(self, "points", checked_points(self.points, widths=(3,)))
        put(self, "face_offsets", as_integers(self.face_offsets, "face_offsets"))
        put(self, "face_corners", checked_corners(self.face_corners, self.n_points))
        for name in ("owner", "neighbour"):
            cells = as_integers(getattr(self, name), name)
            # Each cell has a face, so cell numbers are below twice the number of faces.
            if cells.size and cells.max() >= 2 * max(1, self.face_offsets.size):
                raise InputError(
                    f"{name} contains cell {cells.max()}, but the mesh has too few faces for so "
                    "many cells"
                )
            put(self, name, np.maximum(cells, -1).astype(np.int32))
        n_faces = self.owner.size
        if n_faces == 0:
            raise InputError("the mesh has no faces")
        if self.face_offsets.size != n_faces + 1 or self.neighbour.size > n_faces:
            sizes = f"{self.face_offsets.size - 1} faces, {n_faces} owners"
            raise InputError(f"inconsistent counts: {sizes}, {self.neighbour.size} neighbours")
        where = np.zeros(2, np.int64)
        code = kernels.check_lists(self.face_offsets, self.face_corners, self.n_points, where)
        code = code or kernels.check_owners(self.face_offsets, self.owner, self.neighbour, where)
        if code != kernels.OK:
            _refuse_face(code, int(where[0]), int(where[1]), self.n_points)
        put(self, "n_cells", int(where[1]) + 1)
        empty = np.flatnonzero(self._faces_of_cells() == 0)
        if empty.size:
            raise InputError(f"cell {empty[0]} has no face (cells counted from 0)")
        put(self, "cell_data", checked_fields(self.cell_data, self.n_cells, "cells"))
        put(self, "point_data", checked_fields(self.point_data, self.n_points, "points"))
        put(self, "coupled", checked_pairs(self.coupled, self.n_cells))

    def __repr__(self) -> str:
        first = plural(self.n_cells, "cell"), plural(self.n_points, "point")
        fields = plural(len(self.cell_data) + len(self.point_data), "field")
        return two_lines("PolyMesh", first, [f"{self.dim}-D", fields])

    @property
    def n_points(self) -> int:
        """Number of points, including those that no face uses."""
        return len(self.points)

    @property
    def n_unused_points(self) -> int:
        """Number of points that no face uses; in the nodal graph they have no neighbour."""
        return self.n_points - int(np.count_nonzero(np.bincount(self.face_corners)))

    def centres(self) -> FloatArray:
        """Return for each cell the mean over its faces of the mean of their corners, (c, 3)."""
        from evener.graphs import mesh_kernels as kernels

        out = np.empty((self.n_cells, 3), np.float64)
        kernels.poly_centres(
            self.points,
            self.face_offsets,
            self.face_corners,
            self.owner,
            self.neighbour,
            self._faces_of_cells(),
            out,
        )
        return out

    def dual_graph(self) -> Graph:
        """Return the graph of the cells; neighbours share a face or are coupled.

        If some cells share several faces, each edge's weight is its number of faces.
        """
        first, second = self.coupled.T
        u = np.concatenate([self.owner[: self.neighbour.size], first])
        v = np.concatenate([self.neighbour, second])
        return graph_by_faces(self.n_cells, u, v, self.centres())

    def nodal_graph(self) -> Graph:
        """Return the graph of the points; the ends of a face's edge are neighbours.

        Couplings are ignored.
        """
        from evener.graphs import mesh_kernels as kernels

        count = self.face_corners.size
        u, v = np.empty(count, np.int32), np.empty(count, np.int32)
        kernels.fill_rings(self.face_offsets, self.face_corners, u, v)
        return Graph.from_edges(self.n_points, u, v, coords=self.points)

    def boundary_faces(self) -> Faces:
        """Return the faces that belong to only one cell."""
        first = self.neighbour.size
        start = self.face_offsets[first]
        offsets = self.face_offsets[first:] - start
        return Faces(offsets, self.face_corners[start:].copy(), self.owner[first:].copy())

    def _faces_of_cells(self) -> IntArray:
        from evener.graphs import mesh_kernels as kernels

        count = np.zeros(self.n_cells, np.int64)
        kernels.count_faces_of_cells(self.owner, self.neighbour, count)
        return count


def _refuse_face(code: int, face: int, number: int, n_points: int) -> NoReturn:
    from evener.graphs import mesh_kernels as kernels

    reasons = {
        kernels.BAD_OFFSETS: "face_offsets must ascend from 0 to the number of corners",
        kernels.BAD_CORNER: f"face {face} has corner {number}, but there are {n_points} points",
        kernels.BAD_FACE: f"face {face} has fewer than 3 corners",
        kernels.BAD_ORDER: f"face {face} must lie between two different cells numbered from 0",
    }
    raise InputError(reasons[code] + " (faces counted from 0)")

"""Mesh: cells over points, validated on construction, and its dual and nodal graphs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray, IntVector, as_integers, as_numbers, refuse_far
from evener.errors import InputError, UsageError
from evener.graphs import cell_kernels
from evener.graphs.cell_kernels import BASE, CORNERS, DIM, MAX_FACE, SIZE
from evener.graphs.foreign import MeshioMesh
from evener.graphs.graph import Graph
from evener.wording import plural, spread, two_lines

Fields = dict[str, npt.NDArray[Any]]


def checked_points(values: npt.ArrayLike, widths: tuple[int, ...]) -> FloatArray:
    """Return finite coordinates (p, d), with d in `widths`."""
    points = as_numbers(values, "points", ndim=2)
    if points.shape[1] not in widths:
        raise InputError(f"points must have 2 or 3 columns, not {points.shape[1]}")
    if len(points) >= 2**31:
        raise InputError(f"there are {len(points):,} points; at most 2^31 - 1 can be handled")
    refuse_far(points, "points")
    return points


def checked_corners(values: npt.ArrayLike, n_points: int) -> IntArray:
    """Return the corners (m,) as int32; raise InputError for numbers outside 0 to n_points - 1."""
    corners = as_integers(values, "corners")
    bad = np.flatnonzero((corners < 0) | (corners >= n_points))
    if bad.size:
        raise InputError(
            f"a cell has corner {corners[bad[0]]}, but there are {n_points} points (counted from 0)"
        )
    return corners.astype(np.int32)


def checked_fields(fields: Fields, n: int, what: str) -> Fields:
    """Return arrays by name, after checking that each has a row for each of the n `what`."""
    checked = {}
    for name, values in fields.items():
        array = np.asarray(values)
        if array.ndim == 0 or len(array) != n:
            size = 1 if array.ndim == 0 else len(array)
            raise InputError(f"the field {name!r} has {size} entries for {n} {what}")
        checked[str(name)] = array
    return checked


def no_pairs() -> IntArray:
    """Return an array (0, 2) int64: no cells are coupled."""
    return np.empty((0, 2), np.int64)


def checked_pairs(values: npt.ArrayLike, n_cells: int) -> IntArray:
    """Return pairs of cells (p, 2); raise InputError for other shapes or nonexistent cells."""
    pairs = np.asarray(values)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise InputError(f"coupled must have two columns, not the shape {pairs.shape}")
    cells = as_integers(pairs.ravel(), "coupled")
    bad = np.flatnonzero((cells < 0) | (cells >= n_cells))
    if bad.size:
        raise InputError(
            f"coupled contains cell {cells[bad[0]]}, but there are {n_cells} cells (counted from 0)"
        )
    return cells.astype(np.int64).reshape(-1, 2)


def graph_by_faces(n: int, u: IntArray, v: IntArray, coords: FloatArray | None) -> Graph:
    """Return the graph of n cells; u[i], v[i]: the cells on both sides of face i.

    If some cells share several faces, each edge's weight is its number of faces.
    """
    graph = Graph.from_edges(n, u, v, coords=coords)
    if graph.m == np.count_nonzero(u != v):
        return graph
    apart = u != v
    low, high = np.minimum(u[apart], v[apart]), np.maximum(u[apart], v[apart])
    pairs, faces = np.unique(low.astype(np.int64) * n + high, return_counts=True)
    return Graph.from_edges(n, pairs // n, pairs % n, weights=faces, coords=coords)


# Names of cells by their linear shape: plural, singular, and accepted short names.
CELL_NAMES: Mapping[int, tuple[str, ...]] = {
    cell_kernels.VERTEX: ("points", "point"),
    cell_kernels.LINE: ("lines", "line"),
    cell_kernels.TRIANGLE: ("triangles", "triangle", "tri"),
    cell_kernels.QUAD: ("quadrilaterals", "quadrilateral", "quad"),
    cell_kernels.PIXEL: ("pixels", "pixel"),
    cell_kernels.POLYGON: ("polygons", "polygon"),
    cell_kernels.TETRA: ("tetrahedra", "tetrahedron", "tetra", "tet"),
    cell_kernels.HEXA: ("hexahedra", "hexahedron", "hexa", "hex"),
    cell_kernels.VOXEL: ("voxels", "voxel"),
    cell_kernels.WEDGE: ("wedges", "wedge", "prism"),
    cell_kernels.PYRAMID: ("pyramids", "pyramid", "pyr"),
    cell_kernels.POINT_SET: ("cells of unknown shape", "cell of unknown shape"),
}


def shape_called(kind: int) -> str:
    """Return the short name of a VTK type's linear shape: "hex", "tet", "polyhedron"."""
    base = int(BASE[kind]) if 0 <= kind < BASE.size else 0
    if base not in CELL_NAMES:
        return "polyhedron" if kind == POLYHEDRON else f"type {kind}"
    return CELL_NAMES[base][-1]


def cells_called(kind: int) -> str:
    """Return the plural name of cells of a VTK type: "6-node triangles", "hexahedra"."""
    if kind == POLYHEDRON:
        return "polyhedra"
    base = int(BASE[kind]) if 0 <= kind < BASE.size else 0
    if base not in CELL_NAMES:
        return f"cells of VTK type {kind}"
    nodes = int(SIZE[kind])
    is_linear = nodes == CORNERS[base] or base in (cell_kernels.POLYGON, cell_kernels.POINT_SET)
    order = "" if is_linear else f"{nodes}-node " if nodes else "Lagrange "
    return order + CELL_NAMES[base][0]


# The usual cell types of VTK; cell_kernels.py has the tables of all.
VERTEX, LINE, TRIANGLE, POLYGON, QUAD = 1, 3, 5, 7, 9
TETRA, HEXAHEDRON, WEDGE, PYRAMID, POINT_SET, POLYHEDRON = 10, 12, 13, 14, 41, 42

# Max. pairs of cells that share a face: _FEW_PAIRS, or a multiple of the corners. A face of
# many cells gives a pair for each two; in a damaged file these might not fit in memory.
_FEW_PAIRS = 2**22
_PAIRS_PER_CORNER = 200


class Faces(NamedTuple):
    """Faces of a mesh; corners[offsets[i]:offsets[i + 1]] of face i turn outward from its owner.

    offsets (f + 1,) int64, corners int32, owner (f,) int32: the cell of each face.
    """

    offsets: IntArray
    corners: IntArray
    owner: IntArray


@dataclass(frozen=True, eq=False)
class Mesh:
    """Cells of one topological dimension, each a list of points.

    points (p, 2) or (p, 3) float64 [as in the file]; (p, 0) if coordinates are not known.
    offsets (c + 1,) int64 and corners int32: cell i has corners[offsets[i]:offsets[i + 1]], in
    VTK's order (wedges in Gmsh's, as in meshio). kinds (c,) uint8, VTK's cell types: lines,
    triangles, quads, polygons, tetrahedra, hexahedra, wedges, pyramids, their higher orders, and
    point sets (41), whose shape is unknown.
    cell_data, point_data: arrays by name, with one row per cell or point.
    coupled (p, 2) int64: the cells at both sides of each periodic face, which share no points.
    exchange: values that the mesh's solvers send, as in Workload.exchange.
    together: whether the mesh's solvers need coupled cells in one block.
    regions: the cells of each named part of the mesh; parts may overlap.
    period: the period of the first coordinate, such as 360 for degrees of longitude; 0: none.

    Raises InputError for corners out of range, a wrong number of corners, unknown types or types of
    several dimensions, coordinates that are not finite, and fields of a wrong length.
    """

    points: FloatArray
    offsets: IntArray
    corners: IntArray
    kinds: IntArray
    cell_data: Fields = field(default_factory=dict)
    point_data: Fields = field(default_factory=dict)
    coupled: IntArray = field(default_factory=no_pairs)
    exchange: str = "vertices"
    together: bool = False
    period: float = 0.0
    regions: Mapping[str, IntArray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        from evener.graphs import mesh_kernels as kernels

        put = object.__setattr__  # the dataclass is frozen for everyone but its constructor
        put(self, "points", checked_points(self.points, widths=(0, 2, 3)))
        put(self, "offsets", as_integers(self.offsets, "offsets"))
        put(self, "corners", checked_corners(self.corners, self.n_points))
        kinds = as_integers(self.kinds, "kinds")
        if kinds.size == 0:
            raise InputError("the mesh has no cells")
        if kinds.min() < 0 or kinds.max() > 255:
            raise InputError(f"kinds must lie in [0, 255]; they reach {kinds.min()}, {kinds.max()}")
        put(self, "kinds", kinds.astype(np.uint8))
        if self.offsets.size != kinds.size + 1:
            raise InputError(f"offsets has {self.offsets.size} entries for {kinds.size} cells")
        where = np.zeros(2, np.int64)
        code = kernels.check_lists(self.offsets, self.corners, self.n_points, where)
        code = code or kernels.check_kinds(self.offsets, self.kinds, where)
        if code != kernels.OK:
            _refuse_cell(code, int(where[0]), int(where[1]), self)
        dims = np.unique(DIM[self.kinds])
        if dims.size > 1 or dims[0] == 0:
            raise InputError(f"all cells must have the same dimension above 0, not {dims.tolist()}")
        put(self, "cell_data", checked_fields(self.cell_data, self.n_cells, "cells"))
        put(self, "point_data", checked_fields(self.point_data, self.n_points, "points"))
        put(self, "coupled", checked_pairs(self.coupled, self.n_cells))

    def __repr__(self) -> str:
        corners = f"{spread(np.diff(self.offsets))} corners each"
        fields = [*self.cell_data, *self.point_data]
        named = f"fields {', '.join(fields[:4])}" if fields else "no fields"
        if len(fields) > 4:
            named += f" and {len(fields) - 4:,} more"
        where = f"points in {self.points.shape[1]}-D" if self.has_coordinates else "no coordinates"
        first = plural(self.n_cells, "cell"), plural(self.n_points, "point"), f"{self.dim}-D"
        return two_lines("Mesh", first, [corners, where, named])

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return int(self.kinds.size)

    @property
    def n_points(self) -> int:
        """Number of points, including those that no cell uses."""
        return len(self.points)

    @property
    def dim(self) -> int:
        """Topological dimension of the cells: 1, 2 or 3."""
        return int(DIM[self.kinds[0]])

    @property
    def has_coordinates(self) -> bool:
        """Whether the points' coordinates are known."""
        return bool(self.points.shape[1])

    @property
    def n_unused_points(self) -> int:
        """Number of points that no cell uses; in the nodal graph they have no neighbour."""
        return self.n_points - int(np.count_nonzero(np.bincount(self.corners)))

    def centres(self) -> FloatArray:
        """Return the mean of each cell's corners (of its linear shape), (c, d)."""
        from evener.graphs import mesh_kernels as kernels

        out = np.empty((self.n_cells, self.points.shape[1]), np.float64)
        kernels.centres(self.points, self.offsets, self.corners, self.kinds, out)
        if self.period:
            self._unwind(out)
        return out

    def cells_across(self, period: float) -> IntVector:
        """Return the cells wider than half the period, which extend across its end."""
        sizes = np.diff(self.offsets)
        x = self.points[self.corners, 0]
        ends = self.offsets[:-1]
        width = np.maximum.reduceat(x, ends) - np.minimum.reduceat(x, ends)
        return np.flatnonzero((width > period / 2) & (sizes > 0))

    def _unwind(self, centres: FloatArray) -> None:
        """Correct the first coordinate of the centres of cells across the period's end."""
        first = float(self.points[:, 0].min())
        for cell in self.cells_across(self.period).tolist():
            x = self.points[self.corners[self.offsets[cell] : self.offsets[cell + 1]], 0]
            x = np.where(x < x.max() - self.period / 2, x + self.period, x)
            corners = int(CORNERS[BASE[self.kinds[cell]]])
            x = x[:corners] if corners > 1 else x
            centres[cell, 0] = first + (x.mean() - first) % self.period

    def dual_graph(self) -> Graph:
        """Return the graph of the cells; cells that share a face (in 2-D an edge) are neighbours.

        If more than two cells share a face, all are neighbours of each other; cells of unknown
        shape are neighbours if they share a point; coupled cells are neighbours. If there are
        coupled cells and some cells share several faces, each edge's weight is its number of faces.
        Coordinates: the cell centres.
        """
        keys, order, cell_of, _ = self._sorted_faces()
        _, u, v = _runs(keys, order, cell_of, self.corners.size)
        coords = self.centres() if self.has_coordinates else None
        if not self.coupled.size:
            return Graph.from_edges(self.n_cells, u, v, coords=coords)
        first, second = self.coupled.T
        u, v = np.concatenate([u, first]), np.concatenate([v, second])
        return graph_by_faces(self.n_cells, u, v, coords)

    def nodal_graph(self) -> Graph:
        """Return the graph of the points; the ends of a cell's edge are neighbours.

        A point in the middle of an edge splits it; other points of higher order are neighbours of
        all corners of their cell. In cells of unknown shape all points are neighbours. Points that
        no cell uses are kept, without neighbours. Couplings are ignored.
        """
        from evener.graphs import mesh_kernels as kernels

        count = int(kernels.count_edges(self.offsets, self.kinds))
        _check_pairs(count, self.corners.size, "points")
        u, v = np.empty(count, np.int32), np.empty(count, np.int32)
        kernels.fill_edges(self.offsets, self.corners, self.kinds, u, v)
        coords = self.points if self.has_coordinates else None
        return Graph.from_edges(self.n_points, u, v, coords=coords)

    def graph(self, by: Literal["cells", "points"] = "cells") -> Graph:
        """Return the graph of the cells, or of the points: dual_graph or nodal_graph."""
        if by not in ("cells", "points"):
            raise UsageError(f"a mesh is divided by cells or by points, not by {by!r}")
        return self.dual_graph() if by == "cells" else self.nodal_graph()

    @classmethod
    def from_meshio(cls, mesh: MeshioMesh) -> Mesh:
        """Return the cells of the highest dimension of a meshio mesh, with their fields.

        Raises InputError for unknown kinds of cells, as for a file.
        """
        from evener.io.meshes.meshio import mesh_of

        return mesh_of(mesh)[0]

    def boundary_faces(self) -> Faces:
        """Return the faces (in 2-D the edges) that belong to only one cell, in order of cells."""
        from evener.graphs import mesh_kernels as kernels

        keys, order, cell_of, face_of = self._sorted_faces()
        single = np.sort(_runs(keys, order, cell_of, self.corners.size)[0])
        owner, faces = cell_of[single], face_of[single]
        offsets = np.zeros(owner.size + 1, np.int64)
        corners = np.empty(owner.size * MAX_FACE, np.int32)
        kernels.gather_faces(self.offsets, self.corners, self.kinds, owner, faces, offsets, corners)
        return Faces(offsets, corners[: offsets[-1]].copy(), owner)

    def _sorted_faces(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Return face keys, an order that groups equal keys, and each face's cell and number."""
        from evener.graphs import mesh_kernels as kernels

        count, width = kernels.count_faces(self.offsets, self.kinds)
        if count >= 2**31:
            raise InputError(f"the cells have {count:,} faces; at most 2^31 - 1 can be handled")
        keys = np.empty((width, count), np.int32)
        cell_of, face_of = np.empty(count, np.int32), np.empty(count, np.int32)
        found = kernels.fill_faces(self.offsets, self.corners, self.kinds, keys, cell_of, face_of)
        order, other = np.arange(found, dtype=np.int32), np.empty(found, np.int32)
        for column in keys[::-1]:
            kernels.sort_by(column, self.n_points, order, other)
            order, other = other, order
        return keys, order, cell_of[:found], face_of[:found]


def _runs(
    keys: IntArray, order: IntArray, cell_of: IntArray, n_corners: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Return the faces with only one cell, and the cells on both sides of every shared face."""
    from evener.graphs import mesh_kernels as kernels

    counts = np.zeros(2, np.int64)
    kernels.count_runs(keys, order, counts)
    singles, pairs = counts.tolist()
    _check_pairs(pairs, n_corners, "cells")
    single = np.empty(singles, np.int32)
    u, v = np.empty(pairs, np.int32), np.empty(pairs, np.int32)
    kernels.fill_runs(keys, order, cell_of, single, u, v)
    return single, u, v


def _check_pairs(count: int, n_corners: int, what: str) -> None:
    if count > max(_FEW_PAIRS, _PAIRS_PER_CORNER * n_corners):
        raise InputError(f"{count:,} pairs of {what} are neighbours, too many for a mesh")


def _refuse_cell(code: int, cell: int, number: int, mesh: Mesh) -> NoReturn:
    from evener.graphs import mesh_kernels as kernels

    kind = int(mesh.kinds[cell])
    reasons = {
        kernels.BAD_OFFSETS: "offsets must ascend from 0 to the number of corners",
        kernels.BAD_CORNER: f"cell {cell} has corner {number}, which does not exist",
        kernels.BAD_KIND: f"cell {cell} has the unknown type {kind}",
        kernels.BAD_SIZE: f"cell {cell} has {number} corners, which {cells_called(kind)} never "
        "have",
    }
    raise InputError(reasons[code] + " (cells counted from 0)")

"""Elements of a Gmsh mesh, of all dimensions, with their tags, entities, groups and partitions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray, IntVector, offsets_of
from evener.errors import InputError
from evener.graphs.cell_kernels import DIM
from evener.graphs.mesh import Mesh, cells_called
from evener.io.meshes.rows import FileRows, renumber
from evener.io.sources import Source
from evener.wording import plural

# Gmsh's cell types: VTK's type and number of points.
KINDS: dict[int, tuple[int, int]] = {
    1: (3, 2),
    2: (5, 3),
    3: (9, 4),
    4: (10, 4),
    5: (12, 8),
    6: (13, 6),
    7: (14, 5),
    8: (21, 3),
    9: (22, 6),
    10: (28, 9),
    11: (24, 10),
    12: (29, 27),
    13: (32, 18),
    15: (1, 1),
    16: (23, 8),
    17: (25, 20),
    18: (26, 15),
    19: (27, 13),
    26: (35, 4),
    21: (69, 10),
    29: (71, 20),
    36: (70, 16),
    14: (74, 14),
    # Higher orders: VTK's Lagrange cells, with any number of points, corners first.
    **dict(zip((27, 28, 62, 63, 64, 65, 66), ((68, n) for n in range(5, 12)), strict=True)),
    23: (69, 15),
    25: (69, 21),
    42: (69, 28),
    43: (69, 36),
    44: (69, 45),
    45: (69, 55),
    46: (69, 66),
    37: (70, 25),
    38: (70, 36),
    47: (70, 49),
    48: (70, 64),
    49: (70, 81),
    50: (70, 100),
    51: (70, 121),
    30: (71, 35),
    31: (71, 56),
    71: (71, 84),
    72: (71, 120),
    73: (71, 165),
    74: (71, 220),
    75: (71, 286),
    90: (73, 40),
    91: (73, 75),
    106: (73, 126),
    107: (73, 196),
    108: (73, 288),
    109: (73, 405),
    110: (73, 550),
    **dict(zip(range(92, 99), ((72, n**3) for n in range(4, 11)), strict=True)),
    118: (74, 30),
    119: (74, 55),
    120: (74, 91),
    121: (74, 140),
    122: (74, 204),
    123: (74, 285),
    124: (74, 385),
}
# VTK's order of the points, where it differs: VTK's point j is Gmsh's point ORDER[type][j].
ORDER = {
    11: [*range(8), 9, 8],
    12: [*range(8), 8, 11, 13, 9, 16, 18, 19, 17, 10, 12, 14, 15, 22, 23, 21, 24, 20, 25, 26],
    13: [*range(6), 6, 9, 7, 12, 14, 13, 8, 10, 11, 15, 17, 16],
    17: [*range(8), 8, 11, 13, 9, 16, 18, 19, 17, 10, 12, 14, 15],
    18: [*range(6), 6, 9, 7, 12, 14, 13, 8, 10, 11],
    19: [*range(5), 5, 8, 10, 6, 7, 9, 11, 12],
}
VTK_KINDS, SIZES, DIMS = (np.zeros(256, np.int64) for _ in range(3))
for _type, (_kind, _size) in KINDS.items():
    VTK_KINDS[_type], SIZES[_type], DIMS[_type] = _kind, _size, DIM[_kind]

Entity = tuple[int, int]  # dimension and tag


@dataclass(frozen=True, eq=False)
class GmshElements:
    """The nodes and elements of a Gmsh mesh, of all dimensions, in file order.

    node_tags (p,), points (p, 3). types (e,): Gmsh's types. corners: the nodes of all elements, as
    indices of points from 0, SIZES[types[i]] of element i, in Gmsh's order. tags (e,). entities
    (e,): tag of each element's geometric entity. groups (e,): its physical group, the first of
    several, 0 for none. partitions (e,): its partition, from 1, 0 for none. physical: all physical
    groups of an entity, with signs. names: the file's section $PhysicalNames.
    """

    node_tags: IntVector
    points: FloatArray
    types: IntVector
    corners: IntVector
    tags: IntVector
    entities: IntVector
    groups: IntVector
    partitions: IntVector
    physical: Mapping[Entity, list[int]] = field(default_factory=dict)
    names: bytes = b""

    @property
    def dims(self) -> IntVector:
        """The dimension of each element, (e,)."""
        return DIMS[self.types]

    @property
    def is_cell(self) -> Any:
        """Whether each element is of the highest dimension, (e,): a cell of the Mesh, in order."""
        return self.dims == self.dims.max()

    @property
    def starts(self) -> IntVector:
        """The offset of each element's corners, (e + 1,)."""
        return offsets_of(SIZES[self.types])


def once(source: Source, elements: GmshElements) -> GmshElements:
    """Return the elements without the cells that version 2 lists again for a second group."""
    keep = np.ones(elements.types.size, np.bool_)
    starts = elements.starts
    for number in np.unique(elements.types[elements.is_cell]):
        some = np.flatnonzero(elements.types == number)
        rows = elements.corners[starts[some][:, None] + np.arange(SIZES[number])]
        keys = rows.astype(np.uint64) @ _mixed(rows.shape[1])  # modulo 2^64: equal for equal rows
        order = np.argsort(keys, kind="stable")
        again = keys[order[1:]] == keys[order[:-1]]
        again &= (rows[order[1:]] == rows[order[:-1]]).all(axis=1)
        keep[some[order[1:][again]]] = False
    if keep.all():
        return elements
    cells = plural(int(keep.size - keep.sum()), "cell is listed", "cells are listed")
    source.notes.append(f"{cells} again for another physical group; each cell counts once.")
    arrays = ("types", "tags", "entities", "groups", "partitions")
    kept = {name: getattr(elements, name)[keep] for name in arrays}
    return replace(
        elements, corners=elements.corners[np.repeat(keep, SIZES[elements.types])], **kept
    )


def _mixed(width: int) -> npt.NDArray[np.uint64]:
    """Return factors for a hash of each row of corners."""
    return np.random.default_rng(1).integers(2**63, size=width, dtype=np.uint64) * 2 + 1


def elements_of(mesh: Mesh) -> GmshElements:
    """Return a mesh's cells as elements of one entity; tags of cells and points count from 1.

    Raises InputError if a cell is of a kind that Gmsh lacks, such as a polygon, or if the points
    have no coordinates.
    """
    if not mesh.has_coordinates:
        raise InputError("the mesh has no coordinates, which Gmsh's files need")
    types = _types_of(mesh)
    points = np.zeros((mesh.n_points, 3))
    points[:, : mesh.points.shape[1]] = mesh.points
    ones, zeros = np.ones(types.size, np.int64), np.zeros(types.size, np.int64)
    return GmshElements(
        node_tags=np.arange(1, mesh.n_points + 1),
        points=points,
        types=types,
        corners=in_gmsh_order(mesh.corners, types),
        tags=np.arange(1, types.size + 1),
        entities=ones,
        groups=zeros,
        partitions=zeros,
    )


def _types_of(mesh: Mesh) -> IntVector:
    """Return Gmsh's types of a mesh's cells."""
    sizes = np.diff(mesh.offsets)
    types = np.zeros(mesh.n_cells, np.int64)
    for number, (kind, size) in KINDS.items():
        types[(mesh.kinds == kind) & (sizes == size)] = number
    if (bad := np.flatnonzero(types == 0)).size:
        raise InputError(
            f"cell {bad[0]:,} has {sizes[bad[0]]} points; Gmsh has no such "
            f"{cells_called(int(mesh.kinds[bad[0]]))}",
            hint="Gmsh has triangles, quads, tetrahedra, hexahedra, wedges and pyramids, and "
            "their second order.",
        )
    return types


def in_vtk_order(corners: IntArray, types: IntVector) -> IntVector:
    """Convert the corners of cells of these types from Gmsh's order to VTK's."""
    return _reordered(corners, types, {number: np.array(order) for number, order in ORDER.items()})


def in_gmsh_order(corners: IntArray, types: IntVector) -> IntVector:
    """Convert the corners of cells of these types from VTK's order to Gmsh's."""
    return _reordered(
        corners, types, {number: np.argsort(order) for number, order in ORDER.items()}
    )


def _reordered(corners: IntArray, types: IntVector, orders: Mapping[int, Any]) -> IntVector:
    out = np.array(corners, np.int64)
    sizes = SIZES[types]
    starts = np.cumsum(sizes) - sizes
    for number in np.intersect1d(types, list(orders)):
        first, order = starts[types == number][:, None], orders[int(number)]
        out[first + np.arange(order.size)] = corners[first + order]
    return out


def known_types(rows: FileRows, types: IntVector) -> None:
    """Raise InputError, with the row's line, if an element is of an unknown type."""
    safe = np.clip(types, 0, 255)
    if (bad := np.flatnonzero((SIZES[safe] == 0) | (types != safe))).size:
        rows.refuse(int(bad[0]), f"cells of Gmsh's type {types[bad[0]]} are unknown")


def places(source: Source, ids: IntVector, numbers: IntVector) -> Any:
    """Return the indices of the points with these numbers, which usually ascend from 1."""
    in_order = (ids == np.arange(1, ids.size + 1)).all()
    if in_order and numbers.size and numbers.min() >= 1 and numbers.max() <= ids.size:
        return numbers - 1
    return renumber(source, ids, numbers)

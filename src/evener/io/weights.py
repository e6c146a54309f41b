"""Reads the work per vertex from a file or a field of the mesh file; also flags and groups."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from evener.arrays import (
    BoolArray,
    IntArray,
    IntVector,
    NumberArray,
    as_flags,
    as_integers,
    as_weights,
)
from evener.errors import InputError, UsageError
from evener.graphs import cell_kernels
from evener.graphs.directed import DirectedGraph
from evener.graphs.mesh import CELL_NAMES, POLYHEDRON, shape_called
from evener.io import text
from evener.io.entries import whole_where_all_are
from evener.io.graphs.pairs import fields_of
from evener.io.sources import Source, find_file, open_source
from evener.wording import shortened

if TYPE_CHECKING:
    from evener.graphs.graph import Graph
    from evener.graphs.mesh import Mesh
    from evener.graphs.polymesh import PolyMesh

ORDER = "order:"  # of polynomials: weights of cells, and of faces if these differ
OF_MESH = ("cell:", "type:", "region:", ORDER)  # weights that come from the mesh itself
# Fields that state a cell's region, as named by the readers.
REGION_FIELDS = (
    "block", "physical", "attribute", "ref", "zone", "medit:ref", "cell_tags", "property",
    "properties", "region",
)  # fmt: skip
MOST_PARTS = 32  # max. weights per vertex with balance_each

COUPLED = "coupled"  # instead of a file of groups: coupled cells share a block
DEGREE = "degree"  # instead of a file: the weight of a vertex is its number of neighbours


def find_weights(
    source: Source, n: int, mesh: Mesh | PolyMesh | None, by: str, spec: str
) -> NumberArray:
    """Return the weights that `spec` names: one of OF_MESH, `FILE` or `FILE:COLUMN`.

    Shape (n,), or (n, c) from a file of several columns. Stores the file's digest in source.beside.
    """
    kind, _, rest = spec.partition(":")
    if f"{kind}:" in OF_MESH:
        cells = _cells_of(mesh, by, kind)
        if kind == "cell":
            return _from_field(source, cells, rest)
        if kind == "order":
            return _by_order(source, cells, rest)
        return _by_parts(source, cells, kind, rest)
    file, column = split_weights(spec)
    given = open_source(file)
    source.beside[given.path.name] = given.sha256
    return read_weights(given, n, column.removeprefix(":"))


def degree_weights(graph: Graph | DirectedGraph) -> IntVector:
    """Return the number of neighbours of each vertex, at least 1, (n,).

    Suits solvers whose work per vertex is proportional to its arcs.
    """
    edges = graph.undirected() if isinstance(graph, DirectedGraph) else graph
    return np.maximum(edges.degrees, 1).astype(np.int64)


def split_weights(spec: str) -> tuple[str, str]:
    """Split `FILE:COLUMN` into the file and ":COLUMN", or "" if there is no column."""
    if find_file(Path(spec)) is None and ":" in spec:
        file, column = spec.rsplit(":", 1)
        return file, f":{column}"
    return spec, ""


def without_folder(spec: str) -> str:
    """Remove the folder from a spec of find_weights, as plans store it."""
    if spec.startswith(OF_MESH) or spec in (DEGREE, COUPLED):
        return spec
    file, rest = split_weights(spec)
    return Path(file).name + rest


def read_weights(source: Source, n: int, column: str = "") -> NumberArray:
    """Return the weights of `n` vertices in `source`: one number per line, a table, or `.npy`.

    column: the heading or number (from 0) of the table's column to use; all if empty.
    """
    table = _numbers(source, n, column, "weights")
    try:
        return as_weights(table, "weights", ndim=table.ndim)
    except InputError as error:
        raise source.error(error.message, hint=error.hint) from error


def find_flags(spec: str, n: int) -> BoolArray:
    """Return the flags (n,), 0 or 1 for each vertex, in the file `spec`: `FILE` or `FILE:COLUMN`.

    The file has any of the formats that read_weights accepts.
    """
    file, column = split_weights(spec)
    source = open_source(file)
    table = _numbers(source, n, column.removeprefix(":"), "flags")
    try:
        return as_flags(table, n, "flags")
    except InputError as error:
        raise source.error(
            error.message, hint="1 means that a vertex is fixed, 0 that it is not."
        ) from error


def find_groups(source: Source, n: int, spec: str) -> IntVector:
    """Return the number of each vertex's group (n,) int64 in the file `spec`; negative: none.

    The file has any of the formats that read_weights accepts. Stores the file's digest in
    source.beside.
    """
    file, column = split_weights(spec)
    given = open_source(file)
    source.beside[given.path.name] = given.sha256
    table = _numbers(given, n, column.removeprefix(":"), "groups")
    try:
        return as_integers(table, "groups")
    except InputError as error:
        raise given.error(
            error.message, hint="Groups are whole numbers; -1 means no group."
        ) from error


def _numbers(source: Source, n: int, column: str, what: str) -> npt.NDArray[np.generic]:
    """Read one row of numbers per vertex from a file: (n,) or (n, c).

    what: name of the numbers in errors.
    """
    if source.data.startswith(b"\x93NUMPY"):
        from evener.io.graphs.npz import array_of

        table, names = array_of(source, source.data, source.name), list[str]()
    else:
        table, names = _table(source, what)
    if table.ndim not in (1, 2) or len(table) != n:
        raise source.error(f"contains {len(table) if table.ndim else 1:,} {what}; {n:,} are needed")
    if column:
        table = _column(source, table, names, column)
    return table[:, 0] if table.ndim == 2 and table.shape[1] == 1 else table


def _table(source: Source, what: str) -> tuple[npt.NDArray[np.generic], list[str]]:
    found = text.lines(source, b"#%")
    offset, line = next(found, (0, b""))
    fields, names = fields_of(line), list[str]()
    if fields and not any(_is_number(field) for field in fields):
        names = [field.decode("utf-8", "replace").strip('"') for field in fields]
        offset, line = next(found, (0, b""))
        fields = fields_of(line)
    if not fields:
        raise source.error(f"contains no {what}")
    if names and len(names) != len(fields):
        raise source.error(
            f"the heading has {len(names)} names, but the line below has {len(fields)} fields",
            offset=offset,
        )
    table = text.read_reals(source, offset, len(fields))
    return whole_where_all_are(table), names


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _column(
    source: Source, table: npt.NDArray[np.generic], names: list[str], column: str
) -> npt.NDArray[np.generic]:
    columns = table.shape[1] if table.ndim == 2 else 1
    if column in names:
        index = names.index(column)
    elif column.isdecimal() and int(column[:9]) < columns:
        index = int(column)
    else:
        known = ", ".join(names) or f"0 to {columns - 1}"
        raise source.error(f"has no column {column!r}; there are {known}")
    return table[:, index] if table.ndim == 2 else table


def _cells_of(mesh: Mesh | PolyMesh | None, by: str, kind: str) -> Mesh | PolyMesh:
    if mesh is None:
        raise UsageError(f"{kind}:NAME needs the cells of a mesh; this file contains a graph")
    if by != "cells":
        raise UsageError(f"{kind}:NAME needs cells, but the mesh is divided by its points")
    return mesh


def _from_field(source: Source, mesh: Mesh | PolyMesh, name: str) -> NumberArray:
    if name not in mesh.cell_data:
        known = ", ".join(mesh.cell_data) or "none"
        raise source.error(f"has no cell field {name!r}; there are: {known}")
    values = np.asarray(mesh.cell_data[name])
    try:
        return as_weights(values, f"the cell field {name}", ndim=values.ndim)
    except InputError as error:
        raise source.error(error.message) from error


def _by_parts(source: Source, mesh: Mesh | PolyMesh, kind: str, spec: str) -> NumberArray:
    """Return weights (n,) from `NAME=WEIGHT,...` for cell types or regions; 1 elsewhere."""
    parts = cell_parts(source, mesh, kind)
    known: dict[str, IntArray] = {}
    for name, cells in parts.items():
        known |= dict.fromkeys(_also_called(name) if kind == "type" else (name,), cells)
    weights = np.ones(mesh.n_cells)
    for one in spec.split(","):
        name, is_there, number = one.strip().rpartition("=")
        try:
            weight = float(number)
        except ValueError:
            weight = -1.0
        if not is_there or not 0 <= weight < np.inf:
            raise UsageError(
                f"--weights {kind}:{shortened(one, 40)} is not NAME=WEIGHT",
                hint=f"For example --weights {kind}:{next(iter(parts))}=3.",
            )
        if name not in known:
            raise source.error(f"has no {kind} {name!r}; there are: {', '.join(parts)}")
        weights[known[name]] = weight
    return whole_where_all_are(weights)


# Solution points of a cell at polynomial order p, by its short name; q = p + 1.
_POINTS = {
    "line": lambda q: q,
    "tri": lambda q: q * (q + 1) // 2,
    "quad": lambda q: q**2,
    "tet": lambda q: q * (q + 1) * (q + 2) // 6,
    "pyr": lambda q: q * (q + 1) * (2 * q + 1) // 6,
    "prism": lambda q: q**2 * (q + 1) // 2,
    "hex": lambda q: q**3,
}
_MOST_ORDER = 100
# Shapes of cells in 3-D meshes whose faces all have the same number of corners.
_EQUAL_FACES = ({cell_kernels.TETRA}, {cell_kernels.HEXA, cell_kernels.VOXEL})
_AT_ONCE = 1 << 16  # adjacency entries whose common corners are counted together


def _order_in(text: str) -> int:
    """Return the order of polynomials that a text states; UsageError if it states none."""
    if not text.isascii() or not text.isdigit() or len(text) > 3 or int(text) > _MOST_ORDER:
        raise UsageError(
            f"--weights order:{shortened(text, 40)} is not a whole number up to {_MOST_ORDER}"
        )
    return int(text)


def flux_points(graph: Graph, mesh: Mesh, spec: str) -> IntVector | None:
    """Return the number of flux points (2m,) on the faces that each adjacency entry represents.

    spec: "order:P", the order of polynomials. Returns None if all faces have the same number: in
    the plane, and in meshes of tetrahedra or of hexahedra alone. A coupled face counts as a
    quadrilateral.
    """
    kinds = set(np.unique(cell_kernels.BASE[mesh.kinds]).tolist())
    if mesh.dim < 3 or any(kinds <= equal for equal in _EQUAL_FACES):
        return None
    q = _order_in(spec.partition(":")[2]) + 1
    sizes = cell_kernels.CORNERS[cell_kernels.BASE[mesh.kinds]]
    corners = np.full((mesh.n_cells, sizes.max()), -1, np.int64)
    columns = np.arange(sizes.max())
    present = columns < sizes[:, None]
    corners[present] = mesh.corners[(mesh.offsets[:-1, None] + columns)[present]]
    rows = np.repeat(np.arange(graph.n), graph.degrees)
    points = np.empty(rows.size, np.int64)
    for first in range(0, rows.size, _AT_ONCE):
        part = slice(first, first + _AT_ONCE)
        one, other = corners[rows[part]], corners[graph.adjncy[part]]
        common = ((one[:, :, None] == other[:, None, :]) & (one >= 0)[:, :, None]).sum((1, 2))
        points[part] = np.where(common == 3, q * (q + 1) // 2, q * q)
    return points if graph.adjwgt is None else points * graph.adjwgt.astype(np.int64)


def _by_order(source: Source, mesh: Mesh | PolyMesh, text: str) -> IntVector:
    """Return the number of solution points (n,) of each cell for polynomials of this order."""
    order = _order_in(text)
    weights = np.zeros(mesh.n_cells, np.int64)
    for name, cells in cell_parts(source, mesh, "type").items():
        if name not in _POINTS:
            raise source.error(f"has {name} cells, whose number of solution points is not known")
        weights[cells] = _POINTS[name](order + 1)
    return weights


def cell_parts(source: Source, mesh: Mesh | PolyMesh, kind: str) -> dict[str, IntArray]:
    """Return the cells of each type, or of each region, by name.

    If regions have no names, they come from the first integer cell field among REGION_FIELDS.
    Raises InputError if there are none.
    """
    if kind == "type":
        kinds = getattr(mesh, "kinds", np.full(mesh.n_cells, POLYHEDRON))
        names: dict[str, list[int]] = {}
        for one in np.unique(kinds).tolist():
            names.setdefault(shape_called(one), []).append(one)
        return {name: np.flatnonzero(np.isin(kinds, own)) for name, own in names.items()}
    if mesh.regions:
        return dict(mesh.regions)
    for name in REGION_FIELDS:
        values = np.asarray(mesh.cell_data.get(name, ()))
        if values.ndim == 1 and values.dtype.kind in "iu" and values.size:
            return {str(one): np.flatnonzero(values == one) for one in np.unique(values).tolist()}
    raise source.error(
        "contains no regions",
        hint="Regions are OpenFOAM's cellZones, Gmsh's physical groups, Exodus blocks, MFEM's "
        "attributes, Medit's references, SU2's zones, properties of Nastran and Kratos, and "
        "TetGen's regions.",
    )


def _also_called(name: str) -> tuple[str, ...]:
    return next((names for names in CELL_NAMES.values() if name in names), (name,))


def balanced_each(
    source: Source, mesh: Mesh | PolyMesh | None, by: str, kind: str, weights: NumberArray | None
) -> NumberArray:
    """Return all weights, then one column per type or region, 0 outside it, (n, 1 + p).

    weights (n,): None if each vertex has weight 1. A note names the columns.
    """
    cells = _cells_of(mesh, by, kind)
    parts = cell_parts(source, cells, kind)
    if len(parts) > MOST_PARTS:
        raise source.error(f"has {len(parts):,} {kind}s; at most {MOST_PARTS} can be balanced")
    own: NumberArray = np.ones(cells.n_cells, np.int64) if weights is None else weights
    if own.ndim != 1:
        raise UsageError("--balance-each needs one weight per vertex", hint="Give --constraint.")
    columns = [own]
    for one in parts.values():
        column = np.zeros_like(own)
        column[one] = own[one]
        columns.append(column)
    source.notes.append(f"Weights: of all cells, then of each {kind}: {', '.join(parts)}.")
    return as_weights(np.column_stack(columns), "weights", ndim=2)

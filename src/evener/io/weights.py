"""Reads the work per vertex from a file, or from a field of the mesh file; flags of vertices."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from evener.arrays import BoolArray, IntVector, NumberArray, as_flags, as_weights
from evener.errors import InputError, UsageError
from evener.graphs.directed import DirectedGraph
from evener.io import text
from evener.io.graphs.pairs import fields_of
from evener.io.sources import Source, find_file, open_source

if TYPE_CHECKING:
    from evener.graphs.graph import Graph
    from evener.graphs.mesh import Mesh

DEGREE = "degree"  # in place of a file: each vertex weighs as many units as it has neighbours


def find_weights(source: Source, n: int, mesh: Mesh | None, by: str, spec: str) -> NumberArray:
    """Return the weights that `spec` means: `cell:NAME`, `FILE` or `FILE:COLUMN`.

    (n,) or, from a file of several columns, (n, c). The file's digest is kept in source.beside.
    """
    if spec.startswith("cell:"):
        return _from_field(source, mesh, by, spec.removeprefix("cell:"))
    file, column = split_weights(spec)
    given = open_source(file)
    source.beside[given.path.name] = given.sha256
    return read_weights(given, n, column.removeprefix(":"))


def degree_weights(graph: Graph | DirectedGraph) -> IntVector:
    """(n,) The number of neighbours of each vertex, at least 1: the work where it follows arcs."""
    edges = graph.undirected() if isinstance(graph, DirectedGraph) else graph
    return np.maximum(edges.degrees, 1).astype(np.int64)


def split_weights(spec: str) -> tuple[str, str]:
    """Split `FILE:COLUMN` into the file and the rest, ":COLUMN" or nothing."""
    if find_file(Path(spec)) is None and ":" in spec:
        file, column = spec.rsplit(":", 1)
        return file, f":{column}"
    return spec, ""


def without_folder(spec: str) -> str:
    """Return what find_weights takes with the file's name alone, as plans keep it."""
    if spec.startswith("cell:") or spec == DEGREE:
        return spec
    file, rest = split_weights(spec)
    return Path(file).name + rest


def read_weights(source: Source, n: int, column: str = "") -> NumberArray:
    """Return the weights of `n` vertices in `source`: one number a line, a table, or `.npy`.

    column: of a table, the heading or the number (from 0) of the column meant; all where empty.
    """
    table = _numbers(source, n, column, "weights")
    try:
        return as_weights(table, "weights", ndim=table.ndim)
    except InputError as error:
        raise source.error(error.message, hint=error.hint) from error


def find_flags(spec: str, n: int) -> BoolArray:
    """Return the flags (n,) that `spec` means, `FILE` or `FILE:COLUMN`: 0 or 1 for each vertex.

    The file is one of those that read_weights takes.
    """
    file, column = split_weights(spec)
    source = open_source(file)
    table = _numbers(source, n, column.removeprefix(":"), "flags")
    try:
        return as_flags(table, n, "flags")
    except InputError as error:
        raise source.error(
            error.message, hint="1 says that a vertex is fixed, 0 that not."
        ) from error


def _numbers(source: Source, n: int, column: str, what: str) -> npt.NDArray[np.generic]:
    """Return the numbers (n,) or (n, c) of the vertices in a file; `what` they are."""
    if source.data.startswith(b"\x93NUMPY"):
        from evener.io.graphs.npz import array_of

        table, names = array_of(source, source.data, source.name), list[str]()
    else:
        table, names = _table(source, what)
    if table.ndim not in (1, 2) or len(table) != n:
        raise source.error(f"holds {len(table) if table.ndim else 1:,} {what}; {n:,} are needed")
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
        raise source.error(f"holds no {what}")
    if names and len(names) != len(fields):
        raise source.error(
            f"the heading has {len(names)} names, the line below it {len(fields)} fields",
            offset=offset,
        )
    table = text.read_reals(source, offset, len(fields))
    whole = bool((table == np.rint(table)).all() and (np.abs(table) < 2.0**53).all())
    return table.astype(np.int64) if whole else table, names


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


def _from_field(source: Source, mesh: Mesh | None, by: str, name: str) -> NumberArray:
    if mesh is None:
        raise UsageError("cell:NAME is a field of a mesh; this file holds a graph")
    if by != "cells":
        raise UsageError("cell:NAME is a field of the cells; the mesh is divided by its points")
    if name not in mesh.cell_data:
        known = ", ".join(mesh.cell_data) or "none"
        raise source.error(f"has no cell field {name!r}; there are: {known}")
    values = np.asarray(mesh.cell_data[name])
    try:
        return as_weights(values, f"the cell field {name}", ndim=values.ndim)
    except InputError as error:
        raise source.error(error.message) from error

"""Dolfin's XML meshes: <vertex index x y z> and <triangle index v0 v1 v2> or similar."""

from __future__ import annotations

from typing import Any
from xml.parsers import expat

import numpy as np

from evener.errors import InputError
from evener.graphs.mesh import HEXAHEDRON, LINE, QUAD, TETRA, TRIANGLE, Mesh
from evener.io.meshes.rows import make_mesh
from evener.io.sources import Source

_KINDS = {
    "interval": (LINE, 2),
    "triangle": (TRIANGLE, 3),
    "tetrahedron": (TETRA, 4),
    "quadrilateral": (QUAD, 4),
    "hexahedron": (HEXAHEDRON, 8),
}
# Dolfin numbers the corners of a quad or hexahedron along its axes, VTK around it.
_ORDER = {QUAD: [0, 1, 3, 2], HEXAHEDRON: [0, 1, 3, 2, 4, 5, 7, 6]}
_AXES = ("x", "y", "z")


def recognises(source: Source) -> bool:
    """Return whether the root element is <dolfin>."""
    return b"<dolfin" in source.head


def read(source: Source) -> Mesh:
    """Return the mesh; fields and boundaries in the same file are ignored."""
    parser = expat.ParserCreate()
    elements = _Elements(source, parser)
    parser.StartElementHandler = elements.start
    try:
        parser.Parse(source.data, True)
    except expat.ExpatError as error:
        reason = expat.errors.messages[error.code]
        raise source.error(f"is not well-formed XML: {reason}", line=error.lineno) from error
    except (LookupError, ValueError) as error:
        raise source.error(
            f"is in an encoding that Evener does not read: {error}", line=1
        ) from error
    if elements.kind == 0:
        raise source.error("has no element <mesh> that states the type of the cells")
    points = _placed(source, elements.points, elements.point_ids, "vertices", np.float64)
    corners = _placed(source, elements.cells, elements.cell_ids, "cells", np.int64)
    corners = corners[:, _ORDER.get(elements.kind, list(range(corners.shape[1])))]
    n, size = corners.shape
    return make_mesh(source, points, np.full(n, size), corners.ravel(), np.full(n, elements.kind))


class _Elements:
    """The vertices and cells of the file, collected element by element."""

    def __init__(self, source: Source, parser: Any) -> None:
        self.source, self.parser = source, parser
        self.kind, self.size, self.name = 0, 0, ""
        self.axes: tuple[str, ...] = _AXES
        self.corners: list[str] = []
        self.points: list[list[float]] = []
        self.cells: list[list[int]] = []
        self.point_ids: list[int] = []
        self.cell_ids: list[int] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Process an opening tag."""
        try:
            if name == "vertex":
                self.points.append([float(attributes[axis]) for axis in self.axes])
                self.point_ids.append(int(attributes["index"]))
            elif name == self.name:
                self.cells.append([int(attributes[corner]) for corner in self.corners])
                self.cell_ids.append(int(attributes["index"]))
            elif name == "mesh":
                self._mesh(attributes)
        except KeyError as error:
            raise self._error(f"<{name}> has no {error.args[0]!r}") from error
        except ValueError as error:
            raise self._error(f"<{name}> has an attribute that is not a number: {error}") from error

    def _mesh(self, attributes: dict[str, str]) -> None:
        if self.name:
            raise self._error("has a second <mesh>")
        self.name, dim = attributes["celltype"], attributes["dim"]
        if self.name not in _KINDS or dim not in ("1", "2", "3"):
            raise self._error(f"has cells of the type {self.name!r} in {dim!r} dimensions")
        self.kind, self.size = _KINDS[self.name]
        self.axes = _AXES[: max(2, int(dim))]
        self.corners = [f"v{i}" for i in range(self.size)]

    def _error(self, message: str) -> InputError:
        return self.source.error(message, line=self.parser.CurrentLineNumber)


def _placed(source: Source, rows: list[Any], ids: list[int], what: str, dtype: Any) -> Any:
    """Return the rows sorted by their indices, which must be 0 to n - 1."""
    if not rows:
        raise source.error(f"has no {what}")
    try:
        numbers, table = np.array(ids, np.int64), np.array(rows, dtype)
    except OverflowError as error:
        raise source.error(f"has {what} with indices of 2^63 or more") from error
    order = np.argsort(numbers, kind="stable")
    if not (numbers[order] == np.arange(numbers.size)).all():
        raise source.error(f"has {what} whose indices are not 0 to {numbers.size - 1}, each once")
    return table[order]

"""Vertex coordinates and weights from separate files, for a file that is being written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from evener.arrays import FloatArray, NumberArray, refuse_far
from evener.errors import InputError, UsageError
from evener.graphs.graph_checks import vertex_weights
from evener.io import text
from evener.io.converting.blocks import TextBlocks, window_of
from evener.io.converting.buckets import Spool
from evener.io.coordinates import plain_width, read_coordinates
from evener.io.csr.csr_writer import PIECE, CsrWriter, type_of
from evener.io.csr.layout import CsrLayout
from evener.io.graphs.streams import Window
from evener.io.read import names_beside
from evener.io.sources import find_file, open_source
from evener.io.weights import find_weights


@dataclass
class VertexFiles:
    """Separate files with vertex data.

    coords: a file, or None to search for one in the input's folder. weights, constraint: as in
    `evener.read`. bytes_per_vertex, bytes_per_edge [B]: as in Graph, or None.
    """

    coords: str | Path | None = None
    weights: str | None = None
    constraint: int | None = None
    bytes_per_vertex: float | None = None
    bytes_per_edge: float | None = None
    notes: list[str] = field(default_factory=list)

    def read(
        self, source: Window, n: int, spool: Spool, columns: int = 0, *, memory: int | None = None
    ) -> VertexData:
        """Read the data of the n vertices of `source`.

        columns: weights per vertex in `source` itself. memory [B]: limit for coordinates in text;
        None: unlimited. Raises InputError for wrong data, UsageError for a constraint that does not
        exist.
        """
        points, weights = None, None
        path = Path(self.coords) if self.coords is not None else self._beside(source)
        if path is not None:
            points = Points.read(path, n, spool, memory)
            if self.coords is None:
                self.notes.append(f"Coordinates are from {path.name}.")
        if self.weights is not None:
            weights = vertex_weights(find_weights(source, n, None, "cells", self.weights), n)
            columns = 1 if weights.ndim == 1 else weights.shape[1]
        if self.constraint is not None and not 0 <= self.constraint < max(columns, 1):
            raise UsageError(
                f"there is no weight {self.constraint}: weights are numbered 0 to "
                f"{max(columns, 1) - 1}"
            )
        column = self.constraint if columns > 1 else None
        if weights is not None and column is not None:
            weights, column = weights[:, column].copy(), None
        sizes = {"bytes_per_vertex": self.bytes_per_vertex, "bytes_per_edge": self.bytes_per_edge}
        return VertexData(
            points,
            weights,
            column,
            {name: size for name, size in sizes.items() if size is not None},
        )

    def _beside(self, source: Window) -> Path | None:
        found = (find_file(source.path.parent / name) for name in names_beside(source.name))
        return next((path for path in found if path is not None), None)


@dataclass
class VertexData:
    """Coordinates, weights (n,) or (n, c), and bytes of memory; each may be missing.

    column: which of several weights in the graph's own file is kept; None keeps all.
    """

    points: Points | None
    weights: NumberArray | None
    column: int | None
    sizes: dict[str, float]

    def added(self, layout: CsrLayout) -> CsrLayout:
        """Return the layout extended by these data."""
        layout = replace(layout, **self.sizes)  # type: ignore[arg-type]
        if self.points is not None:
            layout = replace(layout, dimension=self.points.dimension)
        if self.column is not None:
            layout = replace(layout, constraints=1)
        if self.weights is not None:
            kind = type_of(fractional=self.weights.dtype.kind == "f")
            columns = 1 if self.weights.ndim == 1 else self.weights.shape[1]
            layout = replace(layout, vwgt=kind, constraints=columns)
        return layout

    def chosen(self, weights: NumberArray) -> NumberArray:
        """Return the columns to keep of the graph's own weights (r,) or (r, c)."""
        return weights if self.column is None else weights[:, self.column]

    def write(self, writer: CsrWriter) -> None:
        """Write the data; the number of arcs must be known."""
        if self.weights is not None:
            writer.put("vwgt", 0, self.weights.ravel())
        if self.points is not None:
            start = 0
            for piece in self.points.pieces():
                writer.put("coords", start, piece)
                start += piece.size


class Points:
    """Coordinates of n vertices: (n, 2) or (n, 3), in memory or in a file of the spool."""

    def __init__(self, dimension: int, width: int, held: FloatArray | Path) -> None:
        self.dimension, self._width, self._held = dimension, width, held

    @classmethod
    def read(cls, path: Path, n: int, spool: Spool, memory: int | None = None) -> Points:
        """Read a file of coordinates: plain lines of numbers in pieces, other formats whole."""
        blocks = TextBlocks(path, memory=memory)
        head = blocks.head()
        width = plain_width(head)
        if not width:
            coords = read_coordinates(open_source(path), n)
            refuse_far(coords, "coords")
            return cls(coords.shape[1], coords.shape[1], coords)
        held, rows, flat = spool.new(), 0, True
        first, _ = next(text.lines(head, b"%#"))
        with held.open("wb") as file:
            for block in blocks.blocks(first):
                table = text.read_reals(window_of(head, block), 0, width)
                try:
                    refuse_far(table, "coords")
                except InputError as error:
                    raise InputError(error.message, file=path) from error
                rows += len(table)
                flat = flat and not (width == 3 and table[:, 2].any())
                file.write(np.ascontiguousarray(table).data)
        if rows != n:
            raise InputError(
                f"contains coordinates of {rows:,} vertices, but the graph has {n:,}", file=path
            )
        return cls(2 if flat else 3, width, held)

    def pieces(self) -> Iterator[FloatArray]:
        """Yield the coordinates, row after row, in flat pieces."""
        if isinstance(self._held, Path):
            with self._held.open("rb") as file:
                while (found := np.fromfile(file, np.float64, PIECE * self._width)).size:
                    yield found.reshape(-1, self._width)[:, : self.dimension].ravel()
        else:
            yield self._held.ravel()

"""FileGraph: a binary CSR file in slices; only one slice is in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np

from evener.arrays import FloatArray
from evener.errors import InputError
from evener.io.csr.csr_file import CsrFile
from evener.running.comm import Comm
from evener.sliced.memory import SliceSizes
from evener.sliced.rows import N_SLICES, NO_WEIGHTS, OneProcess, SliceRows, alone

PIECE_ARCS = 1 << 17  # of a piece: half a megabyte stays in a core's cache while it is used
OF_BUFFER = 1.125  # times what is read: how large CsrFile makes its buffers
# Bytes of a row while it is checked and counted, and while kinds of weights are.
ROW_MEANWHILE, WEIGHT_MEANWHILE = 11.0, 80.0


@dataclass(frozen=True, eq=False)
class FileGraph(OneProcess):
    """A SlicedGraph of a binary CSR file: one process reads all slices, and there are no ghosts.

    A context manager. Raises InputError if the file is not an .ecsr file, is damaged, or changes
    while it is read; also if vertices have several weights.
    """

    file: CsrFile
    comm: Comm = field(default_factory=alone)

    @classmethod
    def at(cls, path: str | Path) -> FileGraph:
        """Open the file at `path`; return its graph, which is open until the context ends."""
        file = CsrFile(path)
        if file.layout.constraints > 1:
            file.close()
            raise InputError(
                f"has {file.layout.constraints} weights per vertex, but graphs in slices have one",
                file=file.path,
                hint="--constraint I selects one weight, counted from 0; "
                "`evener convert --constraint I` writes a file of it.",
            )
        return cls(file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    @property
    def n(self) -> int:
        """Number of vertices."""
        return self.file.n

    @property
    def arcs(self) -> int:
        """Number of adjacency entries."""
        return self.file.arcs

    @property
    def dimension(self) -> int:
        """Number of coordinates of a vertex."""
        return self.file.dimension

    @property
    def edges_weigh(self) -> bool:
        """Whether edges have weights."""
        return self.file.edges_weigh

    def sizes(self) -> SliceSizes:
        """Return the memory needed to read the graph, given by its largest slice."""
        layout = self.file.layout
        bounds = np.array([self.file.offset(int(end)) for end in self.ends])
        row_bytes, arc_bytes = 8.0 + 8.0 * self.dimension, 4.0
        if self.file.vertices_weigh:
            row_bytes += 8.0
        if self.edges_weigh:
            arc_bytes += 8.0
        row_bytes, arc_bytes = OF_BUFFER * row_bytes, OF_BUFFER * arc_bytes
        # Weights that are no float64 are copied, and the copy of the slice before is still there.
        row_bytes += ROW_MEANWHILE + (16.0 + WEIGHT_MEANWHILE) * self.file.vertices_weigh
        arc_bytes += 16.0 * (self.edges_weigh and layout.sections["adjwgt"].dtype.kind != "f")
        return SliceSizes(
            self.n, self.arcs, int(np.diff(self.ends).max()), int(np.diff(bounds).max()),
            row_bytes, arc_bytes, self.dimension, self.edges_weigh,
        )  # fmt: skip

    def rows(self, i: int) -> SliceRows:
        """Read the rows of slice i; the next call overwrites them.

        Buffers are freed together with the rows of the last slice.
        """
        first, last = self.ends[i : i + 2].tolist()
        rows = self._rows(first, last)
        if i == N_SLICES - 1:
            self.file.forget()
        return rows

    def pieces(self, i: int) -> Iterator[SliceRows]:
        """Yield the rows of slice i, some at a time; the next piece overwrites them."""
        if i == 0:
            self.file.forget()  # buffers of whole slices
        first, last = self.ends[i : i + 2].tolist()
        for begin, end in self.file.ranges(PIECE_ARCS, first, last):
            yield self._rows(begin, end)

    def _rows(self, first: int, last: int) -> SliceRows:
        rows = self.file.rows(first, last)
        adjwgt, vwgt = (
            NO_WEIGHTS if one is None else one.astype(np.float64, copy=False)
            for one in (rows.adjwgt, rows.vwgt)
        )
        return SliceRows(first, rows.xadj, rows.adjncy, adjwgt, vwgt)

    def weights(self, i: int) -> FloatArray:
        """Read the weights (r,) of the vertices of slice i; (0,) if all are 1."""
        first, last = self.ends[i : i + 2].tolist()
        found = self.file.weights(first, last)
        return NO_WEIGHTS if found is None else found.astype(np.float64, copy=False)

    def points(self, i: int) -> FloatArray:
        """Read the coordinates (r, dimension) of the vertices of slice i."""
        first, last = self.ends[i : i + 2].tolist()
        points = self.file.points(first, last)
        if i == N_SLICES - 1:
            self.file.forget()
        return points

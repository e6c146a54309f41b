"""FileGraph: a binary CSR file in slices, of which one is in memory at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np

from evener.arrays import FloatArray
from evener.errors import InputError
from evener.io.csr.csr_file import CsrFile
from evener.running.comm import Comm
from evener.sliced.rows import OneProcess, SliceRows
from evener.sliced.whole import NO_WEIGHTS, alone


@dataclass(frozen=True, eq=False)
class FileGraph(OneProcess):
    """A SlicedGraph of a binary CSR file: one process reads all slices, and there are no ghosts.

    A context manager. Raises InputError where the file is none, damaged, or changed while it is
    read; and where vertices have several weights.
    """

    file: CsrFile
    comm: Comm = field(default_factory=alone)

    @classmethod
    def at(cls, path: str | Path) -> FileGraph:
        """Return the graph of the file at `path`, open until the context ends."""
        file = CsrFile(path)
        if file.layout.constraints > 1:
            file.close()
            raise InputError(
                f"has {file.layout.constraints} weights a vertex, where one can be divided",
                file=file.path,
                hint="`evener convert --constraint I` keeps one of them.",
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

    def rows(self, i: int) -> SliceRows:
        """Read the rows of slice i; the next call writes over them."""
        first, last = self.ends[i : i + 2].tolist()
        rows = self.file.rows(first, last)
        adjwgt, vwgt = (
            NO_WEIGHTS if one is None else one.astype(np.float64, copy=False)
            for one in (rows.adjwgt, rows.vwgt)
        )
        return SliceRows(first, rows.xadj, rows.adjncy, adjwgt, vwgt)

    def weights(self, i: int) -> FloatArray:
        """Read the weights (r,) of the vertices of slice i; (0,): all weigh 1."""
        first, last = self.ends[i : i + 2].tolist()
        found = self.file.weights(first, last)
        return NO_WEIGHTS if found is None else found.astype(np.float64, copy=False)

    def points(self, i: int) -> FloatArray:
        """Read the coordinates (r, dimension) of the vertices of slice i."""
        first, last = self.ends[i : i + 2].tolist()
        return self.file.points(first, last)

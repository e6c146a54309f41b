"""WatchedGraph: a graph in slices that reports how often, and how much of it, has been read."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from evener.sliced.rows import SameStructure, SlicedGraph, SliceRows
from evener.wording import memory

HALF_DONE = 4  # passes after which progress shows a half


class WatchedGraph(SameStructure):
    """A SlicedGraph with the rows of `graph` that reports passes and bytes read.

    progress: called with (step, fraction done). A pass begins when the process's first slice is
    read.
    """

    def __init__(self, graph: SlicedGraph, progress: Callable[[str, float], None]) -> None:
        super().__init__(graph)
        self._progress = progress
        self._step, self._passes, self._bytes = "", 0, 0

    def step(self, name: str) -> None:
        """Report that another step begins."""
        self._step = name
        self._progress(name, self._done(1.0))

    def tell(self, name: str, fraction: float) -> None:
        """Report a step, and the fraction of the whole work that is done."""
        self._progress(name, fraction)

    def rows(self, i: int) -> SliceRows:
        """Return the rows of slice i."""
        rows = self._graph.rows(i)
        self._bytes += _bytes_of(rows)
        self._tell_read(i)
        return rows

    def pieces(self, i: int) -> Iterator[SliceRows]:
        """Yield the rows of slice i, some at a time."""
        for rows in self._graph.pieces(i):
            self._bytes += _bytes_of(rows)
            yield rows
        self._tell_read(i)

    def _tell_read(self, i: int) -> None:
        """Report that slice i was read."""
        own = self.own_slices
        self._passes += i == own.start
        share = (i - own.start + 1) / len(own)
        read = f"pass {self._passes}, {memory(self._bytes)} read"
        self._progress(f"{self._step}: {read}", self._done(share))

    def _done(self, share: float) -> float:
        """Return the estimated fraction done; the number of passes is not known in advance."""
        passes = max(self._passes - 1 + share, 0)
        return passes / (passes + HALF_DONE)


def _bytes_of(rows: SliceRows) -> int:
    return sum(array.nbytes for array in rows[1:])

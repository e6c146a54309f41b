"""Large texts are cut at line ends, so that several threads parse them at once.

The pieces depend on the text alone and each fills rows of its own: the result does not depend on
the number of threads. What is not one row a line, or wrong, is left to one thread that reads on
from the first line and says what it stumbled over.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from evener.filing import text
from evener.filing.sources import Source

_NEWLINE = ord("\n")
PIECE = 2**22  # bytes: enough that starting a thread's task costs nothing beside parsing them

# parse(first byte, past the last, first row, past the last, place) -> code; see text_kernels.
Parse = Callable[[int, int, int, int, npt.NDArray[np.int64]], int]


class Pieces:
    """The text of `source` from the byte `start` on, in pieces that end with a line.

    bounds (p + 1,): the bytes at which the pieces begin, and the end; rows (p + 1,): how many
    lines stand before each, and how many in all.
    """

    def __init__(self, source: Source, start: int) -> None:
        end = len(source.data)
        bounds = [start]
        while bounds[-1] + PIECE < end:
            bounds.append(text.after_line(source, bounds[-1] + PIECE))
        if bounds[-1] < end or start == end:
            bounds.append(end)
        self._spans = list(pairwise(bounds))
        counts = self._in_threads(lambda i: _count_lines(source.array, *self._spans[i]))
        self.rows = [0, *np.cumsum(counts).tolist()]

    def parse(self, parse: Parse) -> npt.NDArray[np.int64] | None:
        """Parse all pieces; None unless each row of each was a line. Else the places' maximum."""
        from evener.filing.number_kernels import OK

        places = [text.new_place() for _ in self._spans]
        codes = self._in_threads(
            lambda i: parse(*self._spans[i], self.rows[i], self.rows[i + 1], places[i])
        )
        counts = [int(place[1]) for place in places]
        if any(code != OK for code in codes) or counts != np.diff(self.rows).tolist():
            return None
        most: npt.NDArray[np.int64] = np.max(places, axis=0)
        return most

    def _in_threads(self, work: Callable[[int], int]) -> list[int]:
        """Call `work` with the number of each piece."""
        numbers = range(len(self._spans))
        if len(numbers) == 1:
            return [work(0)]
        with ThreadPoolExecutor(_n_threads()) as pool:
            return list(pool.map(work, numbers))


def _count_lines(data: npt.NDArray[np.uint8], start: int, stop: int) -> int:
    """Return the number of lines in data[start:stop], the last of which may lack its end."""
    # NumPy compares and counts many bytes at once; a block of them stays in the cache.
    blocks = range(start, stop, 2**18)
    ends = sum(np.count_nonzero(data[i : min(i + 2**18, stop)] == _NEWLINE) for i in blocks)
    return int(ends) + int(stop > start and data[stop - 1] != _NEWLINE)


def _n_threads() -> int:
    """Return the number of processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

"""UsedNumbers: which whole numbers occur as vertices in a file, and the vertex of each number."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from evener.arrays import IntVector
from evener.io.converting import numbers_kernels as kernels

BYTES_A_NUMBER = 12 / 64  # per number in the range: a bit, and a rank for every 64 of them
WORDS = 2**18  # words of 64 numbers, whose labels are made at a time


class UsedNumbers:
    """A set of numbers from low to high; they become vertices in ascending order."""

    def __init__(self, low: int, high: int) -> None:
        self.low, self.high = low, high
        self._bits = np.zeros((high - low) // 64 + 1, np.uint64)
        self._ranks: npt.NDArray[np.int32] | None = None
        self.n = 0

    @property
    def gaps(self) -> int:
        """How many of the numbers are not marked."""
        return self.high - self.low + 1 - self.n

    def mark(self, ends: IntVector) -> None:
        """Mark these numbers."""
        kernels.mark(ends, self.low, self._bits)

    def count(self) -> None:
        """Count the vertices, after all numbers are marked."""
        ranks = np.empty(self._bits.size, np.int32)
        self.n = int(kernels.rank(self._bits, ranks))
        self._ranks = ranks if self.gaps else None

    def vertices(self, ends: IntVector) -> IntVector:
        """Return the vertices, from 0, for these numbers."""
        if self._ranks is None:
            return ends - self.low
        found = np.empty(ends.size, np.int64)
        kernels.vertices(ends, self.low, self._bits, self._ranks, found)
        return found

    def labels(self) -> Iterator[IntVector]:
        """Yield the numbers of all vertices, in vertex order, in pieces."""
        for first in range(0, self._bits.size, WORDS):
            part = self._bits[first : first + WORDS].astype("<u8").view(np.uint8)
            used = np.flatnonzero(np.unpackbits(part, bitorder="little"))
            yield used + (self.low + 64 * first)

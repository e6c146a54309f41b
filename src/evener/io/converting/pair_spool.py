"""PairSpool: stores pairs of numbers in reading order, in memory while they fit, else on disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntVector
from evener.io.converting.buckets import Spool


class PairPiece(NamedTuple):
    """Pairs (u, v), int32 or int64, and the weights of lines, or None."""

    u: npt.NDArray[Any]
    v: npt.NDArray[Any]
    weights: FloatArray | None


class PairSpool:
    """Pairs in the order in which they were added; memory [B]: limit for those held in memory."""

    def __init__(self, spool: Spool, memory: int) -> None:
        self._spool, self._left = spool, memory
        self._pieces: list[PairPiece | tuple[Path, int, type[np.generic], bool]] = []
        self.count = 0

    def append(self, u: IntVector, v: IntVector, weights: FloatArray | None) -> None:
        """Add pairs; store them as 32-bit numbers if they fit."""
        self.count += u.size
        if not u.size:
            return
        small = min(u.min(), v.min()) >= -(2**31) and max(u.max(), v.max()) < 2**31
        dtype = np.int32 if small else np.int64
        u, v = u.astype(dtype), v.astype(dtype)
        size = u.nbytes + v.nbytes + (0 if weights is None else weights.nbytes)
        if size <= self._left:
            self._left -= size
            self._pieces.append(PairPiece(u, v, None if weights is None else weights.copy()))
            return
        self._left = 0  # later pieces follow on disk, too
        path = self._spool.new()
        with path.open("wb") as file:
            for values in (u, v) if weights is None else (u, v, weights):
                file.write(values.data)
        self._pieces.append((path, u.size, dtype, weights is not None))

    def pieces(self, *, keep: bool) -> Iterator[PairPiece]:
        """Yield all pairs in order. keep: retain them for another pass, else free them."""
        for i, held in enumerate(self._pieces):
            if isinstance(held, PairPiece):
                yield held
            else:
                path, count, dtype, weighted = held
                with path.open("rb") as file:
                    u, v = (np.fromfile(file, dtype, count) for _ in range(2))
                    yield PairPiece(u, v, np.fromfile(file, np.float64) if weighted else None)
                if not keep:
                    path.unlink()
            if not keep:
                self._pieces[i] = PairPiece(np.empty(0, np.int32), np.empty(0, np.int32), None)

"""Rows of arrays divided over ranks in runs, and moved when the sizes of the runs change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import IntArray
from evener.running.comm import Comm

Rows = npt.NDArray[Any]


def starts_of(sizes: IntArray) -> npt.NDArray[np.int64]:
    """(p + 1,) the first row of each rank, and behind them the number of rows."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def moved_rows(old: IntArray, new: IntArray) -> int:
    """How many rows have another rank after sizes changed from old to new, (p,) each."""
    before, after = starts_of(old), starts_of(new)
    stay = np.minimum(before[1:], after[1:]) - np.maximum(before[:-1], after[:-1])
    return int(before[-1] - np.maximum(stay, 0).sum())


def move_rows(comm: Comm, arrays: Sequence[Rows], old: IntArray, new: IntArray) -> tuple[Rows, ...]:
    """Return this rank's rows by the new sizes; each rank passes in its rows by the old ones.

    arrays: of equal length, old[rank]. old, new (p,): whole sizes of equal sum. Every rank calls.
    """
    before, after = starts_of(old), starts_of(new)
    first, end = before[comm.rank], before[comm.rank + 1]

    def piece(rank: int) -> tuple[Rows, ...]:
        a, b = max(first, after[rank]) - first, min(end, after[rank + 1]) - first
        return tuple(array[a : max(a, b)] for array in arrays)

    parts = [piece(rank) for rank in range(comm.size)]
    received = comm.exchange(parts)
    return tuple(np.concatenate([pieces[i] for pieces in received]) for i in range(len(arrays)))

"""C = A B for square matrices: each rank has the same rectangle of all three, by a tiling.

In step k the blocks of A's pivot column k are sent along their rows, those of B's pivot row k along
their columns, and each rank adds their product to its rectangle of C ([BBRR01]_; [Cla14]_, 5.1). So
in each step a rank receives height + width blocks of its rectangle, minus those that it has. Every
rank calls `run`; ranks are threads or MPI processes (see evener.running.comm).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.errors import InputError
from evener.plans.tiling import Tiling
from evener.running.comm import Comm

# Entries first_row:end_row, first_column:end_column of a matrix.
PartOf = Callable[[int, int, int, int], FloatArray]
Span = tuple[int, int, int, int]


@dataclass(frozen=True, eq=False)
class MatmulRun:
    """The product C (n, n), the same on every rank.

    seconds (p,): computing time of each rank [s]. received (p,) int64: entries of A and B that each
    rank received from others, over all steps.
    """

    C: FloatArray
    seconds: FloatArray
    received: npt.NDArray[np.int64]


def run(comm: Comm, A_of: PartOf, B_of: PartOf, n: int, tiling: Tiling) -> MatmulRun:
    """Multiply two matrices of n x n entries on as many ranks as the tiling has rectangles.

    A_of, B_of: functions that make a rank's rectangle of A, of B. Each step multiplies by as many
    columns of A as a block of the tiling is wide. Raises InputError if the tiling is for another
    matrix or does not have comm.size rectangles.
    """
    if tiling.k != comm.size:
        raise InputError(f"the tiling has {tiling.k} rectangles, but there are {comm.size} ranks")
    spans: list[Span] = [tuple(span) for span in tiling.spans((n, n)).tolist()]
    mine = spans[comm.rank]
    A, B = A_of(*mine), B_of(*mine)
    C = np.zeros((mine[1] - mine[0], mine[3] - mine[2]))
    seconds, received = 0.0, 0
    for first in range(0, n, tiling.block):
        pivot = (first, min(first + tiling.block, n))
        parts = [pieces_for(A, B, mine, other, pivot) for other in spans]
        sent = comm.exchange(parts)
        received += sum(a.size + b.size for r, (a, b) in enumerate(sent) if r != comm.rank)
        begin = time.perf_counter()
        column, row = assembled(sent, spans, mine, pivot)
        C += column @ row
        seconds += time.perf_counter() - begin
    gathered = comm.allgather((C, seconds, received))
    whole = np.empty((n, n))
    for (a, b, c, d), (part, _, _) in zip(spans, gathered, strict=True):
        whole[a:b, c:d] = part
    return MatmulRun(
        whole,
        np.array([seconds for _, seconds, _ in gathered]),
        np.array([count for _, _, count in gathered]),
    )


def verify(
    A: FloatArray, B: FloatArray, C: FloatArray, tolerance: float = 1e-12, seed: int = 7
) -> bool:
    """Return whether C is A B, by Freivalds' test [Fre79]_: C v = A (B v) for 3 random vectors v.

    Differences up to tolerance x n^2 x the product of the largest entries are accepted. A larger
    error in C is missed only if v cancels it, which has probability zero for normally distributed
    v.
    """
    v = np.random.default_rng(seed).standard_normal((B.shape[1], 3))
    off = np.abs(C @ v - A @ (B @ v)).max()
    scale = np.abs(A).max() * np.abs(B).max() * np.abs(v).max() * A.shape[1] * v.shape[0]
    return bool(off <= tolerance * scale)


def traffic(tiling: Tiling, n: int) -> npt.NDArray[np.int64]:
    """Return the number (k,) of entries that each rank receives: n (h + w) - 2 h w."""
    spans = tiling.spans((n, n))
    height, width = spans[:, 1] - spans[:, 0], spans[:, 3] - spans[:, 2]
    used = (height > 0) & (width > 0)
    return np.where(used, n * (height + width) - 2 * height * width, 0)


def _overlap(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    first = max(a[0], b[0])
    return first, max(min(a[1], b[1]), first)


def pieces_for(
    A: FloatArray, B: FloatArray, mine: Span, other: Span, pivot: tuple[int, int]
) -> tuple[FloatArray, FloatArray]:
    """Return this rank's parts of A's pivot column and B's pivot row that the other rank needs."""
    if other[0] == other[1] or other[2] == other[3]:
        return A[:0, :0], B[:0, :0]
    top, left = mine[0], mine[2]
    rows, columns = _overlap(mine[:2], other[:2]), _overlap(mine[2:], pivot)
    a = A[rows[0] - top : rows[1] - top, columns[0] - left : columns[1] - left]
    rows, columns = _overlap(mine[:2], pivot), _overlap(mine[2:], other[2:])
    return a, B[rows[0] - top : rows[1] - top, columns[0] - left : columns[1] - left]


def assembled(
    sent: list[tuple[FloatArray, FloatArray]],
    spans: list[Span],
    mine: Span,
    pivot: tuple[int, int],
) -> tuple[FloatArray, FloatArray]:
    """Return the pivot column of A in this rank's rows and the pivot row of B in its columns."""
    wide = pivot[1] - pivot[0]
    column, row = np.empty((mine[1] - mine[0], wide)), np.empty((wide, mine[3] - mine[2]))
    for (a, b), other in zip(sent, spans, strict=True):
        if a.size:
            rows, columns = _overlap(mine[:2], other[:2]), _overlap(other[2:], pivot)
            column[
                rows[0] - mine[0] : rows[1] - mine[0], columns[0] - pivot[0] : columns[1] - pivot[0]
            ] = a
        if b.size:
            rows, columns = _overlap(other[:2], pivot), _overlap(mine[2:], other[2:])
            row[
                rows[0] - pivot[0] : rows[1] - pivot[0], columns[0] - mine[2] : columns[1] - mine[2]
            ] = b
    return column, row

"""Runs slices of a compiled kernel in threads; the slices, not the threads, decide the result."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

SLICE = 1 << 15  # vertices that are worth a slice of their own
MOST_SLICES = 8


def in_slices(work: Callable[[int], object], slices: int, threads: int) -> None:
    """Call work(0), ..., work(slices - 1), in up to `threads` threads; kernels drop the GIL."""
    if threads == 1 or slices == 1:
        for i in range(slices):
            work(i)
        return
    with ThreadPoolExecutor(min(threads, slices)) as pool:
        for _ in pool.map(work, range(slices)):
            pass


def slices_for(n: int) -> int:
    """Into how many slices work over n items is cut, whatever the threads."""
    return min(max(n // SLICE, 1), MOST_SLICES)


def slice_ends(n: int, slices: int) -> list[int]:
    """Return where `slices` equal slices of n items begin, and n."""
    return [n * i // slices for i in range(slices + 1)]

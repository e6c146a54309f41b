"""Runs slices of a compiled kernel in threads; the slices, not the threads, decide the result."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


def in_slices(work: Callable[[int], object], slices: int, threads: int) -> None:
    """Call work(0), ..., work(slices - 1), in up to `threads` threads; kernels drop the GIL."""
    if threads == 1 or slices == 1:
        for i in range(slices):
            work(i)
        return
    with ThreadPoolExecutor(min(threads, slices)) as pool:
        for _ in pool.map(work, range(slices)):
            pass

"""Run slices of a compiled kernel in threads; results depend on the slices, not the threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

SLICE = 1 << 15  # vertices of a slice; for fewer, a task of its own costs more than it saves
MOST_SLICES = 8


def in_slices(work: Callable[[int], object], slices: int, threads: int) -> None:
    """Call work(0), ..., work(slices - 1), in up to `threads` threads; kernels release the GIL."""
    in_rounds(lambda _, i: work(i), 1, slices, threads)


def in_rounds(work: Callable[[int, int], object], rounds: int, slices: int, threads: int) -> None:
    """Call work(0, i) for all slices i, then work(1, i), and so on; see in_slices.

    Every round waits for the previous one; threads are started only once.
    """
    if threads == 1 or slices <= 1:
        for turn in range(rounds):
            for i in range(slices):
                work(turn, i)
        return
    with ThreadPoolExecutor(min(threads, slices)) as pool:
        for turn in range(rounds):
            for _ in pool.map(partial(work, turn), range(slices)):
                pass


def slices_for(n: int) -> int:
    """Return the number of slices for n items; it does not depend on the number of threads."""
    return min(max(n // SLICE, 1), MOST_SLICES)


def slice_ends(n: int, slices: int) -> list[int]:
    """Return the first item of each of `slices` equal slices of n items, then n."""
    return [n * i // slices for i in range(slices + 1)]


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

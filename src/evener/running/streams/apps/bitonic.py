"""Bitonic sort [Batcher68]_: a network of comparisons, with one filter per step."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.errors import InputError
from evener.running.streams.apps.network_kernels import exchange
from evener.running.streams.program import Outputs, StreamChannel, StreamFilter, StreamProgram

SEED = 3
Array = npt.NDArray[Any]


def program(n: int = 256, batch: int = 64) -> StreamProgram:
    """Return the program: `batch` lists of n integers per iteration, n a power of two.

    Its output is the sorted lists (batch, n) int64. Raises InputError for other n, and if batch is
    below 1.
    """
    if n < 2 or n & (n - 1) or batch < 1:
        raise InputError(f"n must be a power of two and batch at least 1, not {n} and {batch}")
    steps = [
        (1 << size, 1 << apart)
        for size in range(1, n.bit_length())
        for apart in reversed(range(size))
    ]
    comparing = {f"{size} by {apart}": partial(_exchange, size, apart) for size, apart in steps}
    filters = (
        StreamFilter("integers", lambda iteration: integers(iteration, n, batch), vector=batch),
        *(StreamFilter(name, work, fills=True, vector=batch) for name, work in comparing.items()),
        StreamFilter("sorted", np.array, vector=batch),
    )
    names = ["integers", *comparing, "sorted"]
    channels = tuple(StreamChannel(*ends, (batch, n), "int64") for ends in pairwise(names))
    return StreamProgram(filters, channels, "bitonic", lambda found: verify(found, n, batch))


def integers(iteration: int, n: int, batch: int) -> Array:
    """Return the random integers of an iteration (batch, n)."""
    rng = np.random.default_rng([SEED, iteration])
    return rng.integers(-n, n, (batch, n))


def _exchange(size: int, apart: int, x: Array, out: Array) -> None:
    exchange(x, size, apart, out)


def verify(outputs: Outputs, n: int, batch: int) -> bool:
    """Return whether NumPy sorts to the same outputs."""
    found = outputs["sorted"]
    return all(
        np.array_equal(own, np.sort(integers(t, n, batch), axis=1)) for t, own in enumerate(found)
    )

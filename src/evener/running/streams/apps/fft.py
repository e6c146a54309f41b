"""FFT of Cooley and Tukey: bit reversal, then one filter for each doubling of the length."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.errors import InputError
from evener.running.streams.apps.network_kernels import butterflies
from evener.running.streams.program import Outputs, StreamChannel, StreamFilter, StreamProgram

SEED = 5
Array = npt.NDArray[Any]


def program(n: int = 1024, batch: int = 16) -> StreamProgram:
    """Return the program: `batch` transforms of n numbers per iteration, n a power of two.

    Its output is the transforms (batch, n), complex128. Raises InputError for other n, and if batch
    is below 1.
    """
    if n < 2 or n & (n - 1) or batch < 1:
        raise InputError(f"n must be a power of two and batch at least 1, not {n} and {batch}")
    halves = [1 << i for i in range(n.bit_length() - 1)]
    names = ["numbers", "reverse", *(f"combine {2 * half}" for half in halves), "spectrum"]
    combining = [
        StreamFilter(
            f"combine {2 * half}", partial(_combine, _twiddles(half)), fills=True, vector=batch
        )
        for half in halves
    ]
    order = _reversed_bits(n)
    filters = (
        StreamFilter("numbers", lambda iteration: numbers(iteration, n, batch), vector=batch),
        StreamFilter("reverse", lambda x: x[:, order], vector=batch),
        *combining,
        StreamFilter("spectrum", np.array, vector=batch),
    )
    channels = tuple(StreamChannel(*pair, (batch, n), "complex128") for pair in pairwise(names))
    return StreamProgram(filters, channels, "fft", lambda outputs: verify(outputs, n, batch))


def numbers(iteration: int, n: int, batch: int) -> Array:
    """Return the random numbers of an iteration (batch, n), complex128."""
    rng = np.random.default_rng([SEED, iteration])
    return np.asarray(rng.standard_normal((batch, n, 2)).view(np.complex128)[:, :, 0])


def _combine(twiddles: Array, x: Array, out: Array) -> None:
    butterflies(x, twiddles, out)


def _twiddles(half: int) -> Array:
    return np.asarray(np.exp(-1j * np.pi * np.arange(half) / half))


def _reversed_bits(n: int) -> Array:
    order = np.zeros(1, np.int64)
    while order.size < n:
        order = np.concatenate([2 * order, 2 * order + 1])
    return order


def verify(outputs: Outputs, n: int, batch: int) -> bool:
    """Return whether NumPy has the same transforms, up to 10^-12 of the largest value of each."""
    expected = np.stack([np.fft.fft(numbers(t, n, batch)) for t in range(len(outputs["spectrum"]))])
    off = np.abs(outputs["spectrum"] - expected).max(axis=2)
    return bool((off <= 1e-12 * np.abs(expected).max(axis=2)).all())

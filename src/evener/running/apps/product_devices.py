"""Devices that add products to a part of C: cores, and devices that are emulated on the wall clock.

A device of a node holds C' (rows x columns) and is asked, step after step, for C' += A_(b) B_(b)j
([Cla14]_, 5.2.3). CUDA devices: evener.measuring.cuda_product.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from evener.arrays import FloatArray

ENTRY = 8  # bytes of a float64


class ProductDevice(Protocol):
    """What multiplies on a device; all its calls are made by one thread, in this order."""

    def take(self, rows: int, columns: int, block: int) -> None:
        """Take memory for C' (rows, columns), which is zero, and for pivots of `block`.

        Raises MemoryError, or the driver's error for lack of memory, if it does not fit.
        """

    def add(self, column: FloatArray, row: FloatArray) -> None:
        """Add column (rows, b) times row (b, columns), b at most `block`; have finished then."""

    def fetch(self) -> FloatArray:
        """Return C' (rows, columns)."""

    def release(self) -> None:
        """Give the memory back."""


class CpuProduct:
    """Cores of this computer, by NumPy's BLAS. cores: those its thread is bound to; empty: any."""

    def __init__(self, cores: Sequence[int] = ()) -> None:
        self._cores = tuple(cores)
        self._c: FloatArray = np.empty((0, 0))
        self._product: FloatArray = self._c

    def take(self, rows: int, columns: int, block: int) -> None:  # noqa: ARG002
        """Take C' and a buffer of its size for products; bind the thread."""
        if self._cores:
            os.sched_setaffinity(0, self._cores)  # on Linux: of the calling thread
        self._c, self._product = np.zeros((rows, columns)), np.empty((rows, columns))

    def add(self, column: FloatArray, row: FloatArray) -> None:
        """Multiply and add."""
        np.matmul(column, row, out=self._product)
        self._c += self._product

    def fetch(self) -> FloatArray:
        """Return C' itself."""
        return self._c

    def release(self) -> None:
        """Forget C'."""
        self._c = self._product = np.empty((0, 0))


class EmulatedProduct(CpuProduct):
    """A device that is not here: products by NumPy, each as long as its model says, by the clock.

    seconds(rows, columns, block): of one product [s], copies included. memory [B]: that C', the
    column and the row may take. late: how many products took longer here than there: their times
    are this computer's and not the device's.
    """

    def __init__(
        self, seconds: Callable[[int, int, int], float], memory: float = float("inf")
    ) -> None:
        super().__init__()
        self._seconds, self._memory = seconds, memory
        self._whole = 0.0
        self.late = 0

    def take(self, rows: int, columns: int, block: int) -> None:
        """Take C' where the emulated device has room for it."""
        need = ENTRY * (rows * columns + block * (rows + columns))
        if need > self._memory:
            raise MemoryError(f"{need:,} bytes in {self._memory:,.0f} of the emulated device")
        super().take(rows, columns, block)
        self._whole = self._seconds(rows, columns, block)

    def add(self, column: FloatArray, row: FloatArray) -> None:
        """Multiply, add, and wait until the time of the device is over."""
        end = time.perf_counter() + self._whole
        super().add(column, row)
        left = end - time.perf_counter()
        if left < 0:
            self.late += 1
        else:
            time.sleep(left)

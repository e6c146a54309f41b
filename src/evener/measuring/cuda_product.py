"""A CUDA device of a node in a nested matrix product (evener.running.apps.matmul_nested).

C', the device's part of C, stays on the device; the pivot column and row are sent in each step. The
time includes copies, as in [Cla14]_, 5.2.3.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evener.arrays import FloatArray
from evener.measuring import cuda_kernels as gpu
from evener.measuring.cuda import OnDevice, product_by


class CudaProduct:
    """A CUDA device by number. blas: "tiles" or "cublas", as in CudaGemm.

    The first thread that calls `take` selects the device, and only this thread may use it
    afterwards.
    """

    def __init__(self, index: int = 0, blas: str = "tiles") -> None:
        self._index, self._add_product = index, product_by(blas)
        self._device: OnDevice | None = None
        self._there: list[Any] = []  # column, row, C'

    def take(self, rows: int, columns: int, block: int) -> None:
        """Allocate C', the pivot column and row on the device."""
        if self._device is None:
            self._device = OnDevice(self._index, transfers=True)
        self._there = []
        shapes = ((rows, block), (block, columns))
        self._there = [gpu.cuda.device_array(shape, np.float64) for shape in shapes]
        self._there.append(self._device.put(np.zeros((rows, columns))))

    def add(self, column: FloatArray, row: FloatArray) -> None:
        """Send the pivots, multiply and add. The last pivot may be narrower than the others."""
        column_there, row_there, c = self._there
        wide = column.shape[1]
        if wide == column_there.shape[1]:
            column_there.copy_to_device(column)
        else:
            column_there = OnDevice.put(column)
        row_there[:wide].copy_to_device(row)
        self._add_product(column_there, row_there[:wide], c)
        OnDevice.wait()

    def fetch(self) -> FloatArray:
        """Return C', copied to the host."""
        fetched: FloatArray = self._there[2].copy_to_host()
        return fetched

    def release(self) -> None:
        """Release the memory."""
        self._there = []

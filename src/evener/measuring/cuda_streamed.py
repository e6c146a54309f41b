"""The product of blocks on a CUDA device whose memory is too small for C (out of core).

C is in pinned host memory, from which the driver may copy at any time. Strips of C pass through two
buffers of the device, each with its own stream. Operations within a stream are ordered, those of
two streams may overlap, so that a strip is multiplied while the next one is sent and the previous
one is received. If C fits in the device's memory, it stays there (see streamed.py).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from evener.arrays import FloatArray
from evener.errors import UsageError
from evener.measuring import cpu
from evener.measuring import cuda_kernels as gpu
from evener.measuring.cpu import FACTOR
from evener.measuring.cuda import OnDevice, product_by
from evener.measuring.streamed import SLOTS, Strips, strips_of

FREE = 0.9  # share of the device's free memory that is used if `room` is None


class CudaGemmStreamed(cpu.Gemm):
    """C = C + A B with C larger than the device's memory; A, B and C are on the host.

    room [B]: memory of the device that may be used; by default the share FREE of its free memory.
    blas: as in
    CudaGemm. transfers: must be True, because streaming consists of transfers.
    """

    def __init__(
        self,
        block: int = 64,
        width: int | None = None,
        index: int = 0,
        transfers: bool = True,
        blas: str = "tiles",
        room: float | None = None,
    ) -> None:
        super().__init__(block, width)
        self._device = OnDevice(index, transfers)
        if not transfers:
            raise UsageError(
                "--no-transfers does not work with gemm-streamed, "
                "whose transfers are part of its time"
            )
        self._add_product = product_by(blas)
        self._room = room
        self._slots: list[tuple[Any, Any, Any]] = []  # stream, column and C of a strip
        self.strips = Strips([0, 0], True)

    def initialize(self, d: int) -> None:
        """Allocate A, B and C on the host; the row, and two strips or all of C on the device."""
        rows, columns = shape = self._shape(d)
        self._a, self._b = np.full(shape, FACTOR), np.full(shape, FACTOR)
        self._c, self._column, self._row = (
            gpu.cuda.pinned_array(own, dtype=np.float64)
            for own in (shape, (rows, self._block), (self._block, columns))
        )
        self._c[:] = 0.0
        room = FREE * self._device.free_memory() if self._room is None else self._room
        self.strips = strips_of(rows, columns, self._block, room)
        height = self.strips.height
        self._row_there = gpu.cuda.device_array(self._row.shape)
        self._slots = [
            (gpu.cuda.stream(), gpu.cuda.device_array((height, self._block)),
             gpu.cuda.device_array((height, columns)))
            for _ in range(1 if self.strips.in_core else SLOTS)
        ]  # fmt: skip
        if self.strips.in_core:
            self._slots[0][2].copy_to_device(self._c)

    def execute(self) -> None:
        """Copy the pivots; send, multiply and receive strips, alternating between two streams."""
        self._copy_pivots()
        self._row_there.copy_to_device(self._row)
        for i, (first, end) in enumerate(pairwise(self.strips.edges)):
            self._strip(first, end, *self._slots[i % len(self._slots)])
        self._device.wait()

    def _strip(self, first: int, end: int, stream: Any, column: Any, c: Any) -> None:
        column, c = column[: end - first], c[: end - first]
        column.copy_to_device(self._column[first:end], stream=stream)
        if not self.strips.in_core:
            c.copy_to_device(self._c[first:end], stream=stream)
        self._add_product(column, self._row_there, c, stream)
        if not self.strips.in_core:
            c.copy_to_host(self._c[first:end], stream=stream)

    def finalize(self) -> None:
        """Release all arrays."""
        self._slots, self._row_there = [], None
        super().finalize()

    @property
    def bytes_there(self) -> int:
        """Memory allocated on the device [B]."""
        arrays = [self._row_there, *(array for _, *own in self._slots for array in own)]
        return sum(int(np.prod(array.shape)) * 8 for array in arrays)

    @property
    def result(self) -> FloatArray:
        """The current C, copied to the host."""
        if self.strips.in_core:
            self._slots[0][2].copy_to_host(self._c)
        return self._c

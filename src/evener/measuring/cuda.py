"""The kernels on a CUDA device, measured with the core that drives it; copies over its link.

The time includes the exchange of an iteration: the operand is sent to the device and the
result is received each time, unless transfers=False. If memory runs out, the driver raises an
error, which is recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from evener.arrays import FloatArray
from evener.errors import ToolError, UsageError
from evener.measuring import cpu
from evener.measuring import cuda_kernels as gpu
from evener.measuring.cpu import DAMPING, FACTOR


class OnDevice:
    """A CUDA device: copies arrays to it, and returns grids that cover arrays.

    index: number among the devices that CUDA lists. Raises ToolError if it does not exist.
    """

    def __init__(self, index: int, transfers: bool) -> None:
        self.transfers = transfers
        try:
            available = gpu.cuda.is_available()
            count = len(gpu.cuda.gpus) if available else 0
        except Exception as error:  # any exception of the driver
            raise ToolError(f"CUDA does not work here: {error}") from error
        if index >= count:
            raise ToolError(
                f"CUDA device {index} does not exist: {count} found",
                hint="nvidia-smi lists devices; CUDA_VISIBLE_DEVICES may hide some.",
            )
        gpu.cuda.select_device(index)

    @staticmethod
    def put(array: Any) -> Any:
        """Copy an array to the device."""
        return gpu.cuda.to_device(np.ascontiguousarray(array))

    @staticmethod
    def grid(n: int) -> tuple[int, int]:
        """Return the numbers of blocks and threads for n entries."""
        return max(-(-n // gpu.THREADS), 1), gpu.THREADS

    @staticmethod
    def free_memory() -> int:
        """Return the free memory of the device [B]."""
        return int(gpu.cuda.current_context().get_memory_info().free)

    @staticmethod
    def wait() -> None:
        """Wait until the device has finished."""
        gpu.cuda.synchronize()


class CudaAxpy(cpu.Axpy):
    """y = y + a x; x is sent to the device, y is received."""

    def __init__(self, index: int = 0, transfers: bool = True) -> None:
        super().__init__()
        self._device = OnDevice(index, transfers)

    def initialize(self, d: int) -> None:
        """Allocate x and y on host and device."""
        super().initialize(d)
        self._x_there, self._y_there = self._device.put(self._x), self._device.put(self._y)

    def execute(self) -> None:
        """Send, compute, receive."""
        if self._device.transfers:
            self._x_there.copy_to_device(self._x)
        gpu.axpy[self._device.grid(self._y.size)](FACTOR, self._x_there, self._y_there)
        if self._device.transfers:
            self._y_there.copy_to_host(self._y)
        self._device.wait()

    def finalize(self) -> None:
        """Release all arrays."""
        self._x_there = self._y_there = None
        super().finalize()


class CudaTriad(cpu.Triad):
    """z = x + a y; x and y are sent to the device, z is received."""

    def __init__(self, index: int = 0, transfers: bool = True) -> None:
        super().__init__()
        self._device = OnDevice(index, transfers)

    def initialize(self, d: int) -> None:
        """Allocate x, y and z on host and device."""
        super().initialize(d)
        self._there = [self._device.put(array) for array in (self._x, self._y, self._z)]

    def execute(self) -> None:
        """Send, compute, receive."""
        x, y, z = self._there
        if self._device.transfers:
            x.copy_to_device(self._x)
            y.copy_to_device(self._y)
        gpu.triad[self._device.grid(self._z.size)](FACTOR, x, y, z)
        if self._device.transfers:
            z.copy_to_host(self._z)
        self._device.wait()

    def finalize(self) -> None:
        """Release all arrays."""
        self._there = []
        super().finalize()


class CudaGemm(cpu.Gemm):
    """C = C + A B; A, B and C are on the device, the pivot column and row are sent each time.

    blas: "tiles", Evener's kernel with tiles in shared memory; or "cublas", the vendor's library,
    through CuPy.
    """

    def __init__(
        self,
        block: int = 64,
        width: int | None = None,
        index: int = 0,
        transfers: bool = True,
        blas: str = "tiles",
    ) -> None:
        super().__init__(block, width)
        self._device = OnDevice(index, transfers)
        self._add_product = product_by(blas)
        self._there: list[Any] = []

    def initialize(self, d: int) -> None:
        """Allocate the matrices: A and B on host and device, C only on the device."""
        super().initialize(d)
        put = self._device.put
        self._there = [put(one) for one in (self._column, self._row, self._c, self._a, self._b)]
        self._c = np.empty((0, 0))

    def execute(self) -> None:
        """Copy the pivots, send them, compute."""
        column, row, c, *_ = self._there
        self._copy_pivots()
        if self._device.transfers:
            column.copy_to_device(self._column)
            row.copy_to_device(self._row)
        self._add_product(column, row, c)
        self._device.wait()

    def finalize(self) -> None:
        """Release all arrays."""
        self._there = []
        super().finalize()

    @property
    def result(self) -> FloatArray:
        """The current C, copied to the host."""
        fetched: FloatArray = self._there[2].copy_to_host()
        return fetched


# Adds column (m, b) times row (b, n) to c (m, n), all on the device, in a stream (0: the default).
Product = Callable[..., None]


def product_by(blas: str) -> Product:
    """Return the function that adds a product on the device.

    Raises UsageError for other words, ToolError if CuPy is needed but cannot be imported.
    """
    if blas == "tiles":
        return add_by_tiles
    if blas != "cublas":
        raise UsageError(f"blas must be tiles or cublas, not {blas!r}")
    try:
        cupy, cublas = import_module("cupy"), import_module("cupy.cublas")
    except Exception as error:  # it may be installed, but not its libraries
        raise ToolError(
            f"cuBLAS is reached through CuPy, which cannot be imported: {error}",
            hint="Install cupy-cuda12x or cupy-cuda13x, or use blas=tiles.",
        ) from error

    def add(column: Any, row: Any, c: Any, stream: Any = 0) -> None:
        with cupy.cuda.ExternalStream(int(stream)):
            # BLAS stores columns: C^T += B^T A^T, where the transposes are views.
            own = [cupy.asarray(array).T for array in (row, column, c)]
            cublas.gemm("N", "N", own[0], own[1], out=own[2], alpha=1.0, beta=1.0)

    return add


def add_by_tiles(column: Any, row: Any, c: Any, stream: Any = 0) -> None:
    """Add column times row to c, with Evener's kernel of tiles."""
    rows, columns = c.shape
    grid = -(-columns // gpu.TILE), -(-rows // gpu.TILE)
    gpu.gemm[grid, (gpu.TILE, gpu.TILE), stream](column, row, c)


class Ping:
    """Copy d bytes to the device's memory and back."""

    def __init__(self, index: int = 0) -> None:
        self._device = OnDevice(index, transfers=True)
        self._there: Any = None

    def complexity(self, d: int) -> float:  # noqa: ARG002
        """Return 0, as there is no arithmetic."""
        return 0.0

    def initialize(self, d: int) -> None:
        """Allocate buffers of d bytes on host and device."""
        self._here = np.zeros(d, np.uint8)
        self._there = self._device.put(self._here)

    def execute(self) -> None:
        """Copy to the device and back."""
        self._there.copy_to_device(self._here)
        self._there.copy_to_host(self._here)
        self._device.wait()

    def finalize(self) -> None:
        """Release both buffers."""
        self._there = None


class _Sparse:
    """Base of the sparse kernels on a CUDA device, with a thread for each row.

    A is copied to the device once. index: number of the device. transfers: whether each execution
    copies x to the device and y back.
    """

    _matrix: list[Any]
    _x_there: Any
    _y_there: Any
    _more: list[Any]

    def __init__(
        self,
        matrix: str | None = None,
        degree: int = 7,
        index: int = 0,
        transfers: bool = True,
    ) -> None:
        super().__init__(matrix, degree)  # type: ignore[call-arg]
        self._device = OnDevice(index, transfers)

    def finalize(self) -> None:
        """Release all arrays."""
        self._matrix, self._more = [], []
        self._x_there = self._y_there = None
        super().finalize()  # type: ignore[misc]

    def _send_matrix(self, a: Any, x: FloatArray, *more: FloatArray) -> None:
        self._matrix = [self._device.put(part) for part in (a.indptr, a.indices, a.data)]
        self._x_there = self._device.put(x)
        self._y_there = self._device.put(np.zeros(a.shape[0]))
        self._more = [self._device.put(array) for array in more]

    def _send(self, x: FloatArray) -> None:
        if self._device.transfers:
            self._x_there.copy_to_device(x)

    def _receive(self, y: FloatArray) -> None:
        if self._device.transfers:
            self._y_there.copy_to_host(y)
        self._device.wait()


class CudaSpmv(_Sparse, cpu.Spmv):
    """y = A x; x is sent to the device, y is received."""

    def initialize(self, d: int) -> None:
        """Create A and x, and send A."""
        super().initialize(d)
        self._y = np.zeros(d)
        self._send_matrix(self._a, self._x)

    def execute(self) -> None:
        """Send, compute, receive."""
        self._send(self._x)
        gpu.spmv[self._device.grid(self._y.size)](*self._matrix, self._x_there, self._y_there)
        self._receive(self._y)


class CudaJacobi(_Sparse, cpu.Jacobi):
    """x = (b - R x) / D; x is sent to the device and received."""

    def initialize(self, d: int) -> None:
        """Create R, b, 1/D and x, and send all."""
        super().initialize(d)
        self._send_matrix(self._a, self._x, self._inverse, self._b)

    def execute(self) -> None:
        """Send, sweep, receive."""
        self._send(self._x)
        gpu.jacobi[self._device.grid(self._y.size)](
            *self._matrix, *self._more, self._x_there, self._y_there
        )
        self._receive(self._y)
        self._x[: self._y.size] = self._y[: self._x.size]


class CudaPagerank(_Sparse, cpu.Pagerank):
    """x = (1 - c) / n + c A x; x is sent to the device and received, with the sum of changes."""

    def initialize(self, d: int) -> None:
        """Create A and x, and send both."""
        super().initialize(d)
        self._y = np.zeros(d)
        self._send_matrix(self._a, self._x, np.zeros(1))

    def execute(self) -> None:
        """Send, step, receive."""
        self._send(self._x)
        (change,) = self._more
        change.copy_to_device(np.zeros(1))
        gpu.pagerank[self._device.grid(self._y.size)](
            *self._matrix, DAMPING, self._x_there, self._y_there, change
        )
        self._change = float(change.copy_to_host()[0])
        self._receive(self._y)
        self._x[: self._y.size] = self._y[: self._x.size]

"""The sparse kernels on a CUDA device, a thread a row; x goes there and y comes back each time."""

from __future__ import annotations

from typing import Any

import numpy as np

from evener.arrays import FloatArray
from evener.measuring import cuda_kernels as gpu
from evener.measuring import sparse
from evener.measuring.cuda import OnDevice
from evener.measuring.sparse import DAMPING


class _Sparse:
    """What the sparse kernels share with those for a core: A there, x sent, y brought back.

    index: of the device. transfers: whether x and y go and come each time.
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
        """Give all back."""
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


class Spmv(_Sparse, sparse.Spmv):
    """y = A x; x goes there, y comes back."""

    def initialize(self, d: int) -> None:
        """Make A and x, send A."""
        super().initialize(d)
        self._y = np.zeros(d)
        self._send_matrix(self._a, self._x)

    def execute(self) -> None:
        """Send, compute, receive."""
        self._send(self._x)
        gpu.spmv[self._device.grid(self._y.size)](*self._matrix, self._x_there, self._y_there)
        self._receive(self._y)


class Jacobi(_Sparse, sparse.Jacobi):
    """x = (b - R x) / D; x goes there and comes back."""

    def initialize(self, d: int) -> None:
        """Make R, b, 1/D and x, send all."""
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


class Pagerank(_Sparse, sparse.Pagerank):
    """x = (1 - c) / n + c A x; x goes there and comes back, with the sum of changes."""

    def initialize(self, d: int) -> None:
        """Make A and x, send both."""
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

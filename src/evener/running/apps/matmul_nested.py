"""C = A B over nodes of unequal devices, nested as the machine is (mxm_hybrid, [Cla14]_, 5.2.3).

Between nodes: each rank is a node with one rectangle of A, B and C, and in each step gets its part
of the pivot column of A and of the pivot row of B, as in matmul.py. Within a node: each device has
a slice of C over the rectangle's full height, and adds the pivot column times its part of the pivot
row; all devices work at the same time, with one thread each. Sizes come from
measuring.dynamic_sizes, or from any tiling of the nodes with widths of slices.

In each step, a device adds the pivot column times its part of the pivot row to its slice C' (rows x
columns) of C. Emulated devices use the wall clock; CUDA devices are in
evener.measuring.cuda_product.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray, as_integers
from evener.errors import InputError
from evener.plans.tiling import Tiling
from evener.running.apps.matmul import PartOf, assembled, pieces_for
from evener.running.comm import Comm


class NodeDevices:
    """The devices of one node; each is used by its own thread, as GPU drivers require."""

    def __init__(self, devices: Sequence[ProductDevice]) -> None:
        if not devices:
            raise InputError("a node needs at least one device")
        if len({id(device) for device in devices}) < len(devices):
            raise InputError("a device of the node occurs twice: each device needs its own C")
        self.devices = tuple(devices)
        self._threads = [ThreadPoolExecutor(1) for _ in devices]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.release()
        for thread in self._threads:
            thread.shutdown()

    def take(self, rows: int, columns: IntArray, block: int) -> list[Exception | None]:
        """Let each device j allocate its slice of rows x columns[j] entries.

        Returns the error of each device that could not.
        """
        jobs = [
            thread.submit(device.take, rows, own, block) if own else None
            for thread, device, own in zip(
                self._threads, self.devices, columns.tolist(), strict=True
            )
        ]
        return [_error_of(job) for job in jobs]

    def add(self, column: FloatArray, rows: Sequence[FloatArray]) -> FloatArray:
        """Add column x rows[j] on each device j concurrently; return their seconds (p,) [s].

        A device without columns computes nothing, and its time is 0.
        """
        jobs = [
            thread.submit(_timed, device, column, row) if row.shape[1] else None
            for thread, device, row in zip(self._threads, self.devices, rows, strict=True)
        ]
        return np.array([0.0 if job is None else job.result() for job in jobs])

    def fetch(self, columns: IntArray) -> list[FloatArray]:
        """Return C' of each device that has columns."""
        jobs = [
            thread.submit(device.fetch)
            for thread, device, own in zip(
                self._threads, self.devices, columns.tolist(), strict=True
            )
            if own
        ]
        return [job.result() for job in jobs]

    def release(self) -> None:
        """Let all devices free their memory."""
        for thread, device in zip(self._threads, self.devices, strict=True):
            thread.submit(device.release).result()


def _timed(device: ProductDevice, column: FloatArray, row: FloatArray) -> float:
    begin = time.perf_counter()
    device.add(column, row)
    return time.perf_counter() - begin


def _error_of(job: Future[None] | None) -> Exception | None:
    error = None if job is None else job.exception()
    if error is not None and not isinstance(error, Exception):
        raise error  # KeyboardInterrupt and the like
    return error


@dataclass(frozen=True, eq=False)
class NestedRun:
    """The product C (n, n), the same on every rank.

    seconds: for each node, the computing times (p,) of its devices over all steps [s]. received
    (q,) int64: entries of A and B that each node received from others.
    """

    C: FloatArray
    seconds: tuple[FloatArray, ...]
    received: npt.NDArray[np.int64]


def run_nested(
    comm: Comm,
    node: NodeDevices,
    parts: tuple[PartOf, PartOf],
    n: int,
    nodes: Tiling,
    columns: npt.ArrayLike,
) -> NestedRun:
    """Multiply two matrices of n x n entries on as many ranks as `nodes` has rectangles.

    node: this rank's devices. parts: functions that make this rank's rectangle of A, and of B.
    columns (p,): number of columns of this rank's rectangle of C for each of its devices, from left
    to right. Raises InputError if these numbers do not match, and the error of a device that lacks
    memory.
    """
    spans = nodes.spans((n, n)).tolist()
    if len(spans) != comm.size:
        raise InputError(f"the tiling has {len(spans)} rectangles, but there are {comm.size} ranks")
    mine = spans[comm.rank]
    height, width = mine[1] - mine[0], mine[3] - mine[2]
    own = _checked(columns, len(node.devices), width)
    edges = np.cumsum(own)[:-1]
    A, B = (part(*mine) for part in parts)
    for error in node.take(height, own if height else own * 0, nodes.block):
        if error is not None:
            raise error
    seconds, received = np.zeros(own.size), 0
    for first in range(0, n, nodes.block):
        pivot = (first, min(first + nodes.block, n))
        sent = comm.exchange([pieces_for(A, B, mine, other, pivot) for other in spans])
        received += sum(a.size + b.size for r, (a, b) in enumerate(sent) if r != comm.rank)
        if height * width:
            column, row = assembled(sent, spans, mine, pivot)
            strips = [np.ascontiguousarray(part) for part in np.split(row, edges, axis=1)]
            seconds += node.add(column, strips)
    C = np.concatenate(node.fetch(own), axis=1) if height * width else np.zeros((height, width))
    return _whole(comm.allgather((C, seconds, received)), spans, n)


def _checked(columns: npt.ArrayLike, p: int, width: int) -> IntArray:
    own = as_integers(columns, "columns")
    if own.shape != (p,) or own.min() < 0 or int(own.sum()) != width:
        raise InputError(
            f"columns must be {p} whole numbers, one for each device, whose sum is "
            f"{width:,}, the width of the node's rectangle"
        )
    return own


def _whole(
    gathered: Sequence[tuple[FloatArray, FloatArray, int]], spans: Sequence[Sequence[int]], n: int
) -> NestedRun:
    C = np.empty((n, n))
    for (a, b, c, d), (part, _, _) in zip(spans, gathered, strict=True):
        C[a:b, c:d] = part
    return NestedRun(
        C,
        tuple(seconds for _, seconds, _ in gathered),
        np.array([count for _, _, count in gathered]),
    )


ENTRY = 8  # bytes of a float64


class ProductDevice(Protocol):
    """Protocol of a device that multiplies; one thread makes all calls, in this order."""

    def take(self, rows: int, columns: int, block: int) -> None:
        """Allocate memory for C' (rows, columns), set to zero, and for pivots of width `block`.

        Raises MemoryError, or the driver's error for lack of memory, if it does not fit.
        """

    def add(self, column: FloatArray, row: FloatArray) -> None:
        """Add column (rows, b) x row (b, columns), b at most `block`; return when this is done."""

    def fetch(self) -> FloatArray:
        """Return C' (rows, columns)."""

    def release(self) -> None:
        """Free the memory."""


class CpuProduct:
    """A device of this computer's cores, with NumPy's BLAS.

    cores: cores to which its thread is bound; empty: unbound.
    """

    def __init__(self, cores: Sequence[int] = ()) -> None:
        self._cores = tuple(cores)
        self._c: FloatArray = np.empty((0, 0))
        self._product: FloatArray = self._c

    def take(self, rows: int, columns: int, block: int) -> None:  # noqa: ARG002
        """Allocate C' and a buffer of the same size for products; bind the thread."""
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
        """Free C'."""
        self._c = self._product = np.empty((0, 0))


class EmulatedProduct(CpuProduct):
    """An emulated device: NumPy computes the products, and each call lasts as its model says.

    seconds(rows, columns, block): time of one product [s], copies included. memory [B]: limit for
    C', the column and the row. late: number of products that took longer on this computer than on
    the emulated device; their times are this computer's.
    """

    def __init__(
        self, seconds: Callable[[int, int, int], float], memory: float = float("inf")
    ) -> None:
        super().__init__()
        self._seconds, self._memory = seconds, memory
        self._whole = 0.0
        self.late = 0

    def take(self, rows: int, columns: int, block: int) -> None:
        """Allocate C' if the emulated device has enough memory."""
        need = ENTRY * (rows * columns + block * (rows + columns))
        if need > self._memory:
            raise MemoryError(
                f"{need:,} bytes are needed, but the emulated device has {self._memory:,.0f}"
            )
        super().take(rows, columns, block)
        self._whole = self._seconds(rows, columns, block)

    def add(self, column: FloatArray, row: FloatArray) -> None:
        """Multiply, add, and wait until the device's time has passed."""
        end = time.perf_counter() + self._whole
        super().add(column, row)
        left = end - time.perf_counter()
        if left < 0:
            self.late += 1
        else:
            time.sleep(left)

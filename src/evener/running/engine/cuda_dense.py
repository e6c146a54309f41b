"""CudaDense: the dense schedule on a CUDA device, and how its payloads pass between devices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from evener.running.comm import Comm
from evener.running.engine import dense_cuda_kernels as dense
from evener.running.engine.atomics_kernels import EDGES, ENDED, STEP
from evener.running.engine.cuda_base import CudaEngine, Numbers
from evener.running.engine.device_cuda_kernels import THREADS, CudaDevice, gather
from evener.running.engine.work import ArcsOf
from evener.running.local_graphs import LocalGraph


class DirectExchange:
    """Payloads from a CUDA device to others by an MPI that reads its memory: once made, call it.

    Values of boundary vertices are gathered on the device, and ghosts are received in place:
    nothing passes through this computer's memory. Other ranks may be of any kind.

    comm: one whose `swap` takes arrays on devices. payloads (n_local,): on the device.
    """

    def __init__(self, comm: Comm, local: LocalGraph, device: CudaDevice, payloads: Any) -> None:
        self._device, self._payloads = device, payloads
        self._given = [
            (device.put(numbers), device.empty(numbers.size, payloads.dtype))
            for numbers in local.sends.values()
        ]
        buffers = (buffer.view(np.uint8) for _, buffer in self._given)
        outgoing = dict(zip(local.sends, buffers, strict=True))
        ghosts = local.receives.items()
        incoming = {q: payloads[first:end].view(np.uint8) for q, (first, end) in ghosts}
        self._swap = comm.swap(outgoing, incoming)

    def __call__(self) -> None:
        """Set the payloads of the ghosts to those of their owners."""
        self._swap.settle()
        for numbers, buffer in self._given:
            self._device.launch(gather, buffer.size, numbers, self._payloads, buffer)
        self._device.wait()  # MPI knows nothing of the stream
        self._swap.start()
        self._swap.finish()


class DenseOnDevice(NamedTuple):
    """Messages combined and carried, along arcs in and out; changes of the blocks of `finish`."""

    combined: Any
    carries: Any
    other_combined: Any
    other_carries: Any
    changes: Any


class CudaDense(CudaEngine):
    """The dense schedule."""

    def _make_work(self, out: ArcsOf, into: ArcsOf) -> None:
        device, sizes, dtype = self.device, self.sizes, self.program.dtype
        self._goes_both = self.program.direction == "both" and sizes.is_directed
        ways = (into, out) if self._goes_both else (into,)
        self._items = [sizes.n_owned + int(arcs.offsets[sizes.n_owned]) for arcs in ways]
        made = [
            (device.empty(sizes.n_owned, dtype), device.empty(-(-items // dense.TILE), dtype))
            for items in self._items
        ]
        blocks = min(-(-sizes.n_owned // THREADS), dense.MOST_BLOCKS)
        self._changes = device.pinned(max(blocks, 1), np.float64)
        (one, its), (other, others) = made[0], made[-1]
        self.work = DenseOnDevice(one, its, other, others, device.empty(blocks, np.float64))
        self._payloads = device.empty(sizes.n_local, dtype)
        self._payloads_here = device.pinned(sizes.n_local, dtype)
        self._are_lent = False  # whether ghosts' payloads may have been filled in here

    @property
    def payloads(self) -> Numbers:
        """(n_local,) Payloads here: of the boundary, and ghosts' to be filled in."""
        self._are_lent = True
        return self._boundary_here(self._payloads, self._payloads_here)

    @property
    def change(self) -> float:
        """Sum of the absolute changes of owned vertices in the last superstep."""
        self.device.fetch(self.work.changes, self._changes)
        self.device.wait()
        return float(self._changes.sum())

    def direct(self, comm: Comm, local: LocalGraph) -> Callable[[], None] | None:
        """Return what exchanges payloads on the device, if MPI takes its memory; else None."""
        if not getattr(comm, "takes_device_memory", False):
            return None
        return DirectExchange(comm, local, self.device, self._payloads)

    def _begin(self) -> None:
        given = self.sizes, self.vertices, self._values, self._payloads, self.parameters
        self._launch("begin", self.sizes.n_owned, *given)

    def _superstep(self) -> None:
        if self._are_lent:
            self._ghosts_there(self._payloads_here, self._payloads)
            self._are_lent = False
        self._play(self._items)
        self.control[EDGES] += sum(self._items) - len(self._items) * self.sizes.n_owned
        if self.program.halt is not None:
            steps = int(self.control[STEP]) + 1
            n = self.sizes.n_global
            self.control[ENDED] = self.program.halts(self.change, steps, n, self.parameters)

    def _play(self, items: list[int]) -> None:
        work, sizes, parameters = self.work, self.sizes, self.parameters
        sums = (work.combined, work.carries), (work.other_combined, work.other_carries)
        for count, arcs, made in zip(items, (self.into, self.out), sums, strict=False):
            threads = -(-count // dense.TILE) * THREADS
            self._launch("pull", threads, sizes, arcs, self._payloads, *made, parameters)
        step = int(self.control[STEP])
        self._launch(
            "finish", self._changes.size * THREADS, sizes, self.vertices, self.into, self.out,
            self._values, self._payloads, work, step, parameters,
        )  # fmt: skip

    def _play_all(self) -> None:
        self._begin()
        self._play([0] * len(self._items))

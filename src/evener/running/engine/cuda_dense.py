"""CudaDense: the dense schedule on a CUDA device, and the exchange of its payloads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from evener.running.comm import Comm
from evener.running.engine import dense_cuda_kernels as dense
from evener.running.engine.atomics_kernels import EDGES, ENDED, STEP
from evener.running.engine.cuda_base import CudaEngine, Numbers
from evener.running.engine.device_cuda_kernels import THREADS, CudaDevice, count_up, gather
from evener.running.engine.row_blocks_kernels import row_parts
from evener.running.engine.work import ArcsOf
from evener.running.local_graphs import LocalGraph


class DirectExchange:
    """Exchanges payloads of a CUDA device by an MPI library that accesses device memory.

    Values of boundary vertices are gathered on the device, and ghosts are received in place:
    nothing is copied through this computer's memory. Other ranks may be of any kind. The object is
    created once and called for each exchange. comm: its `swap` must accept device arrays. payloads
    (n_local,): on the device.
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


class PartsOnDevice(NamedTuple):
    """Arcs in parts, see row_blocks_kernels; carries (parts,): combined messages of pieces."""

    rows: Any
    places: Any
    long: Any
    carries: Any


class DenseOnDevice(NamedTuple):
    """Messages combined along arcs in and out; changes, summed by each block of `finish`.

    steps (1,): number of supersteps.
    """

    combined: Any
    other_combined: Any
    changes: Any
    steps: Any


class CudaDense(CudaEngine):
    """The dense schedule."""

    def _make_work(self, out: ArcsOf, into: ArcsOf) -> None:
        device, sizes, dtype = self.device, self.sizes, self.program.dtype
        self._goes_both = self.program.direction == "both" and sizes.is_directed
        ways = ((into, self.into), (out, self.out)) if self._goes_both else ((into, self.into),)
        self._parts = [(arcs, *self._in_parts(here.offsets)) for here, arcs in ways]
        self._arcs = sum(int(here.offsets[sizes.n_owned]) for here, _ in ways)
        combined = [device.empty(sizes.n_owned, dtype) for _ in ways]
        blocks = max(min(-(-sizes.n_owned // THREADS), dense.MOST_BLOCKS), 1)
        self._changes = device.pinned(blocks, np.float64)
        changes, steps = device.empty(blocks, np.float64), device.empty(1, np.int64)
        self.work = DenseOnDevice(combined[0], combined[-1], changes, steps)
        self._payloads = device.empty(sizes.n_local, dtype)
        self._payloads_here = device.pinned(sizes.n_local, dtype)
        self._are_lent = False  # whether ghosts' payloads may have been filled in here

    def _in_parts(self, offsets: Numbers) -> tuple[int, int, PartsOnDevice]:
        """Return the number of parts, of vertices in several parts, and the parts on the device."""
        parts = row_parts(offsets, self.sizes.n_owned, dense.ROOM, THREADS)
        count, n_long = parts.rows.size - 1, len(parts.long)
        long = parts.long if n_long else np.zeros((1, 2), offsets.dtype)
        rows, places, long = map(self.device.put, (parts.rows, parts.places, long))
        carries = self.device.empty(count, self.program.dtype)
        return count, n_long, PartsOnDevice(rows, places, long, carries)

    @property
    def payloads(self) -> Numbers:
        """Payloads (n_local,) on this computer: of boundary vertices; the caller sets ghosts'."""
        self._are_lent = True
        return self._boundary_here(self._payloads, self._payloads_here)

    @property
    def change(self) -> float:
        """Sum of the absolute changes of owned vertices in the last superstep."""
        return float(self._changes.sum())

    def direct(self, comm: Comm, local: LocalGraph) -> Callable[[], None] | None:
        """Return the object that exchanges payloads on the device, or None if MPI cannot."""
        if not getattr(comm, "takes_device_memory", False):
            return None
        return DirectExchange(comm, local, self.device, self._payloads)

    def _begin(self) -> None:
        self._repeats["begin"]()

    def _play_begin(self) -> None:
        given = self.sizes, self.vertices, self._values, self._payloads, self.work.steps
        self._launch("begin", self.sizes.n_owned, *given, self.parameters)

    def _superstep(self) -> None:
        if self._are_lent:
            self._ghosts_there(self._payloads_here, self._payloads)
            self._are_lent = False
        self._repeats["superstep"]()
        self.control[EDGES] += self._arcs
        if self.program.halt is not None:
            self.device.wait()
            steps = int(self.control[STEP]) + 1
            n = self.sizes.n_global
            self.control[ENDED] = self.program.halts(self.change, steps, n, self.parameters)

    def _play(self) -> None:
        work, sizes, parameters = self.work, self.sizes, self.parameters
        sums = work.combined, work.other_combined
        for (arcs, count, n_long, parts), combined in zip(self._parts, sums, strict=False):
            given = arcs, parts, self._payloads, combined, parameters
            self._launch("pull", count * THREADS, count, *given)
            if n_long:
                self._launch("join_pieces", n_long * THREADS, n_long, arcs, parts, combined)
        self._launch(
            "finish", self._changes.size * THREADS, sizes, self.vertices, self._values,
            self._payloads, work, parameters,
        )  # fmt: skip
        self.device.launch(count_up, 1, work.steps)
        if self.program.halt is not None:
            self.device.fetch(work.changes, self._changes)

    def _repeated(self) -> Mapping[str, Callable[[], None]]:
        return {"begin": self._play_begin, "superstep": self._play}

    def _play_all(self) -> None:
        self._play_begin()
        for arcs, _, _, parts in self._parts:
            self._launch("pull", 1, 0, arcs, parts, self._payloads, self.work.combined,
                         self.parameters)  # fmt: skip
            self._launch("join_pieces", 1, 0, arcs, parts, self.work.combined)
        self._launch(
            "finish", 1, self.sizes, self.vertices, self._values, self._payloads, self.work,
            self.parameters,
        )  # fmt: skip
        self.device.launch(count_up, 1, self.work.steps)

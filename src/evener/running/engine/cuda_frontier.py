"""CudaFrontier: the frontier schedule on a CUDA device, and the bucket schedule."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from evener.running.engine import frontier_cuda_kernels as frontier
from evener.running.engine.atomics_kernels import (
    DIRECTION,
    EDGES,
    ENDED,
    LEFT,
    LENGTH,
    SCOUTED,
    STEP,
)
from evener.running.engine.cuda_base import CudaEngine, Numbers
from evener.running.engine.device_cuda_kernels import THREADS, WARP
from evener.running.engine.fronts_kernels import PULL
from evener.running.engine.work import ArcsOf

GROUPS = (1, WARP, THREADS)  # threads that take a vertex of each class


class FrontierOnDevice(NamedTuple):
    """Messages of vertices; bitmaps of who got any, and of the frontier, which is queued as well.

    order: owned vertices by class; starts: where each class begins there and in the queue. marks:
    ghosts that changed. counts: see the template.
    """

    inbox: Any
    touched: Any
    bits: Any
    queue: Any
    order: Any
    starts: Any
    marks: Any
    counts: Any


class CudaFrontier(CudaEngine):
    """The frontier schedule, and the bucket schedule as rounds of it until no vertex changes.

    Only where `control` asks for it does a superstep of the former pull.
    """

    _ends_empty = True

    def _make_work(self, out: ArcsOf, into: ArcsOf) -> None:
        device, sizes = self.device, self.sizes
        arcs = np.diff(out.offsets[: sizes.n_owned + 1].astype(np.int64))
        if self.program.direction == "both" and sizes.is_directed:
            arcs += np.diff(into.offsets[: sizes.n_owned + 1].astype(np.int64))
        classes = np.searchsorted([WARP, THREADS], arcs, side="right")
        order = np.argsort(classes, kind="stable").astype(np.uint32)
        counts = np.bincount(classes, minlength=frontier.CLASSES)
        self._starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self._words = -(-sizes.n_local // frontier.BITS)
        self._flags = device.empty(sizes.n_local, np.uint8)
        self._flags_here = device.pinned(sizes.n_local, np.uint8)
        self._counts = device.pinned(frontier.COUNTS, np.int64)
        self._counts[:] = 0
        self._counts[frontier.NOW :] = -frontier.NONE, frontier.NONE
        self.work = FrontierOnDevice(
            device.empty(sizes.n_local, self.program.dtype),
            device.empty(self._words, np.uint32),
            device.empty(self._words, np.uint32),
            device.empty(sizes.n_owned, np.uint32),
            device.put(order),
            device.put(self._starts),
            device.empty(sizes.n_local - sizes.n_owned, np.uint8),
            device.put(self._counts),
        )
        self.control[LEFT] = int(arcs.sum())

    @property
    def shared_values(self) -> Numbers:
        """(n_local,) Values here: of the boundary, and ghosts' to be filled in before `see`."""
        return self._boundary_here(self._values, self._values_here)

    def show(self, flags: Numbers) -> None:
        """Set flags (n_local,) uint8 of boundary vertices: 1 for those in the frontier."""
        self._launch("show", self.sizes.n_owned, self.sizes, self.work, self._flags)
        flags[:] = self._boundary_here(self._flags, self._flags_here)

    def see(self, flags: Numbers) -> None:
        """Take from flags (n_local,) uint8 which ghosts are in it, and the ghosts' values."""
        self._ghosts_there(self._values_here, self._values)
        self._flags_here[:] = flags
        self._ghosts_there(self._flags_here, self._flags)
        ghosts = self.sizes.n_local - self.sizes.n_owned
        self._launch("see", ghosts, self.sizes, self.work, self._flags)

    def _begin(self) -> None:
        self._launch(
            "begin", self._words, self.sizes, self.vertices, self.out, self.into, self._values,
            self.work, self.parameters,
        )  # fmt: skip
        self._take_counts()

    def _superstep(self) -> None:
        if self.program.schedule == "bucket":
            while not self.has_ended:
                if self.control[LENGTH] == 0:
                    self._counts[frontier.NOW] = self._counts[frontier.NEXT]
                self._round("push")
            return
        pulls = self.control[DIRECTION] == PULL
        self._round("pull" if pulls else "push")
        if pulls:
            self.control[SCOUTED] = 1  # as Engine: what a pull finds is not counted

    def _round(self, name: str) -> None:
        """Push or pull, and settle."""
        before = self._counts.copy()
        self._counts[: frontier.EDGES] = 0  # EDGES itself is the sum of all pulls
        self._counts[frontier.NEXT] = frontier.NONE
        self.device.send(self._counts, self.work.counts)
        if name == "push":
            self.control[EDGES] += before[frontier.ARCS]
            self.control[LEFT] -= self.control[SCOUTED]
            lengths = before[: frontier.CLASSES]
        else:
            lengths = np.diff(self._starts)
        self._play(name, lengths)
        self._take_counts()
        self.control[EDGES] += self._counts[frontier.EDGES] - before[frontier.EDGES]

    def _play(self, name: str, lengths: Numbers) -> None:
        """Launch a push or pull for each class, and settle."""
        given = (self.sizes, self.vertices, self.out, self.into, self._values, self.work)
        step = (int(self.control[STEP]),)
        more = step if name == "push" else ()
        for group, first, length in zip(GROUPS, self._starts, lengths, strict=False):
            if length or not self.sizes.n_local:
                sent = group, int(first), int(length)
                self._launch(name, group * int(length), *sent, *given, *more, self.parameters)
        self._launch("settle", self._words, *given, *step, self.parameters)

    def _take_counts(self) -> None:
        """Bring the counts here and into `control`. Raises InputError for a wrong priority."""
        self.device.fetch(self.work.counts, self._counts)
        self.device.wait()
        self.control[LENGTH] = self._counts[: frontier.CLASSES].sum()
        self.control[SCOUTED] = self._counts[frontier.DEGREES]
        waits = self._counts[frontier.NEXT] < frontier.NONE
        self.control[ENDED] = self.control[LENGTH] == 0 and not waits
        if self._counts[frontier.FAILED]:
            raise self.program.wrong_priority(int(self._counts[frontier.FAILED]))

    def _collect(self, n_ghosts: int, places: Any, sent: Any) -> int:
        self._counts[frontier.MARKED] = 0
        self.device.send(self._counts, self.work.counts)
        self._launch("collect", n_ghosts, self.sizes, self._values, self.work, places, sent)
        self._take_counts()
        return int(self._counts[frontier.MARKED])

    def _receive(self, count: int, targets: Any, received: Any) -> None:
        step = int(self.control[STEP])
        self._launch(
            "receive", count, count, self.sizes, self.vertices, self.out, self.into, self._values,
            self.work, targets, received, step, self.parameters,
        )  # fmt: skip
        self._take_counts()

    def _play_all(self) -> None:
        self._launch(
            "begin", 0, self.sizes, self.vertices, self.out, self.into, self._values, self.work,
            self.parameters,
        )  # fmt: skip
        for name in ("push", "pull"):
            self._play(name, np.zeros(frontier.CLASSES, np.int64))
        for name in ("show", "see"):
            self._launch(name, 0, self.sizes, self.work, self._flags)
        (places, _), (sent, _) = self._places, self._sent
        self._launch("collect", 0, self.sizes, self._values, self.work, places, sent)
        self._receive(0, places, sent)
        self.control[ENDED] = 0

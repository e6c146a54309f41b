"""CudaFrontier: the frontier schedule on a CUDA device, and the bucket schedule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
)
from evener.running.engine.cuda_base import CudaEngine, Numbers
from evener.running.engine.device_cuda_kernels import THREADS, WARP, count_up
from evener.running.engine.fronts_kernels import PULL
from evener.running.engine.work import ArcsOf

GROUPS = (1, WARP, THREADS)  # threads that take a vertex of each class
MOST_THREADS = 1 << 18  # of a push: as many as a large device runs at once
ROUNDS = 8  # of a bucket between questions whether any vertex is left: a round takes some 20 us


class FrontierOnDevice(NamedTuple):
    """Messages of vertices; bitmaps of vertices with messages, and of the frontier; its queue.

    order: own vertices by class; starts: where each class begins there and in the queue; lengths:
    number of vertices of each class from which a push sends. marks: ghosts that changed. counts:
    see the template. steps (1,): number of supersteps so far.
    """

    inbox: Any
    touched: Any
    bits: Any
    queue: Any
    order: Any
    starts: Any
    lengths: Any
    marks: Any
    counts: Any
    steps: Any


class CudaFrontier(CudaEngine):
    """The frontier schedule, and the bucket schedule as rounds of it until no vertex changes.

    Supersteps of the frontier schedule pull only if `control` requests it.
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
        self.work = FrontierOnDevice(
            device.empty(sizes.n_local, self.program.dtype),
            device.empty(self._words, np.uint32),
            device.empty(self._words, np.uint32),
            device.empty(sizes.n_owned, np.uint32),
            device.put(order),
            device.put(self._starts),
            device.empty(frontier.CLASSES, np.int64),
            device.empty(sizes.n_ghosts, np.uint8),
            device.empty(frontier.COUNTS, np.int64),
            device.empty(1, np.int64),
        )
        self.control[LEFT] = int(arcs.sum())

    @property
    def shared_values(self) -> Numbers:
        """Values (n_local,) on this computer; those of ghosts must be filled in before `see`."""
        return self._boundary_here(self._values, self._values_here)

    def show(self, flags: Numbers) -> None:
        """Set flags (n_local,) uint8 of boundary vertices: 1 for those in the frontier."""
        self._launch("show", self.sizes.n_owned, self.sizes, self.work, self._flags)
        flags[:] = self._boundary_here(self._flags, self._flags_here)

    def see(self, flags: Numbers) -> None:
        """Read the frontier's ghosts from flags (n_local,) uint8, and read the ghosts' values."""
        self._ghosts_there(self._values_here, self._values)
        self._flags_here[:] = flags
        self._ghosts_there(self._flags_here, self._flags)
        self._launch("see", self.sizes.n_ghosts, self.sizes, self.work, self._flags)

    def _begin(self) -> None:
        self._counts[:] = 0
        self._counts[frontier.NOW :] = -frontier.NONE, frontier.NONE, 1, 0
        self.device.send(self._counts, self.work.counts)
        self._launch(
            "begin", self._words, self.sizes, self.vertices, self.out, self.into, self._values,
            self.work, self.parameters,
        )  # fmt: skip
        self._take_counts()

    def _superstep(self) -> None:
        if self.program.schedule == "bucket":
            while not self.has_ended:
                self._repeats["rounds"]()
                self._read_counts()
            self.device.launch(count_up, 1, self.work.steps)
            return
        pulls = self.control[DIRECTION] == PULL
        if not pulls:
            self.control[LEFT] -= self.control[SCOUTED]
        self._repeats["pull" if pulls else "push"]()
        self._read_counts()
        if pulls:
            self.control[SCOUTED] = 1  # as Engine: what a pull finds is not counted

    def _push(self) -> None:
        """Launch a push for each class that has vertices, and then `settle`."""
        given = (self.sizes, self.vertices, self.out, self.into, self._values, self.work)
        self._launch("turn", 1, True, self.work)
        for kind, group in enumerate(GROUPS):
            length = int(self._starts[kind + 1] - self._starts[kind])
            if length or not self.sizes.n_local:
                threads = min(group * length, MOST_THREADS)
                self._launch("push", threads, group, kind, *given, self.parameters)
        self._launch("settle", self._words, *given, self.parameters)

    def _pull(self) -> None:
        """Launch a pull for each class that has vertices, and then `settle`."""
        given = (self.sizes, self.vertices, self.out, self.into, self._values, self.work)
        self._launch("turn", 1, False, self.work)
        for kind, group in enumerate(GROUPS):
            first, length = (
                int(self._starts[kind]),
                int(self._starts[kind + 1] - self._starts[kind]),
            )
            if length or not self.sizes.n_local:
                length = length if self.sizes.n_local else 0
                sent = group, first, length
                self._launch("pull", group * length, *sent, *given, self.parameters)
        self._launch("settle", self._words, *given, self.parameters)

    def _repeated(self) -> Mapping[str, Callable[[], None]]:
        def superstep(play: Callable[[], None]) -> Callable[[], None]:
            def work() -> None:
                play()
                self.device.launch(count_up, 1, self.work.steps)
                self._fetch_counts()

            return work

        def rounds() -> None:
            for _ in range(ROUNDS):
                self._push()
            self._fetch_counts()

        if self.program.schedule == "bucket":
            return {"rounds": rounds}
        return {"push": superstep(self._push), "pull": superstep(self._pull)}

    def _fetch_counts(self) -> None:
        self.device.fetch(self.work.counts, self._counts)

    def _take_counts(self) -> None:
        """Copy the counts here and into `control`. Raises InputError for an invalid priority."""
        self._fetch_counts()
        self._read_counts()

    def _read_counts(self) -> None:
        """Set `control` from the counts that have been copied here."""
        self.device.wait()
        self.control[LENGTH] = self._counts[: frontier.CLASSES].sum()
        self.control[SCOUTED] = self._counts[frontier.DEGREES]
        self.control[EDGES] = self._counts[frontier.EDGES]
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
        self._launch(
            "receive", count, count, self.sizes, self.vertices, self.out, self.into, self._values,
            self.work, targets, received, self.parameters,
        )  # fmt: skip
        self._take_counts()

    def _play_all(self) -> None:
        self._begin()
        self._push()
        self._pull()
        self.device.launch(count_up, 1, self.work.steps)
        for name in ("show", "see"):
            self._launch(name, 0, self.sizes, self.work, self._flags)
        (places, _), (sent, _) = self._places, self._sent
        self._launch("collect", 0, self.sizes, self._values, self.work, places, sent)
        self._receive(0, places, sent)
        self.control[ENDED] = 0

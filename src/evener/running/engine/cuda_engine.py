"""CudaEngine: a vertex program on a CUDA device, driven as Engine is.

The part of the graph, values and work stay in the device's memory. What passes to other devices,
values of boundary vertices and of ghosts, is copied to pinned memory of this computer; both are
runs of local numbers, so that each is one copy.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from evener.running.engine import dense_cuda_kernels as dense
from evener.running.engine import frontier_cuda_kernels as frontier
from evener.running.engine import generating
from evener.running.engine import union_cuda_kernels as union
from evener.running.engine.atomics_kernels import (
    CONTROL_SIZE,
    DIRECTION,
    EDGES,
    ENDED,
    LEFT,
    LENGTH,
    SCOUTED,
    SHARED,
    STEP,
)
from evener.running.engine.device_cuda_kernels import TARGET, THREADS, WARP, CudaDevice
from evener.running.engine.engine import arcs_for
from evener.running.engine.frontier_kernels import PULL
from evener.running.engine.program import VertexProgram
from evener.running.engine.work import ArcsOf, LocalSizes, Vertices
from evener.running.local_graphs import LocalGraph

Numbers = npt.NDArray[Any]
Marked = tuple[Numbers, Numbers]
GROUPS = (1, WARP, THREADS)  # threads that take a vertex of each class


class DenseOnDevice(NamedTuple):
    """Messages combined and carried, along arcs in and out; changes of the blocks of `finish`."""

    combined: Any
    carries: Any
    other_combined: Any
    other_carries: Any
    changes: Any


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


class UnionOnDevice(NamedTuple):
    """Parents in the trees; values of ghosts that were sent; see the template for counts."""

    parents: Any
    sent: Any
    counts: Any


class CudaEngine:
    """A program on one device's part of a graph: base of the schedules.

    It has the attributes and methods of Engine, with the same meaning, by which SuperstepLoop runs
    devices of both kinds together. `control` is kept here, in the computer's memory. Made and used
    by one thread, as CudaDevice. Raises InputError as Engine does.
    """

    def __init__(
        self,
        program: VertexProgram,
        local: LocalGraph,
        device: CudaDevice,
        parameters: Mapping[str, float] | None = None,
    ) -> None:
        self.program, self.device = program, device
        self.parameters = program.given(parameters or {}) or (0,)
        out, into = arcs_for(program, local)
        is_directed = out is not into
        self.sizes = LocalSizes(
            local.n_global, local.n_owned, local.n_local, local.n_interior, is_directed
        )
        self.out = ArcsOf(*map(device.put, out))
        self.into = ArcsOf(*map(device.put, into)) if is_directed else self.out
        self.vertices = Vertices(device.put(local.numbers), device.put(local.degrees))
        self.control = np.zeros(CONTROL_SIZE, np.int64)
        self.control[[STEP, DIRECTION]] = -1
        self.control[SHARED] = int(local.k > 1)
        self.kernels = generating.module_of(program, TARGET)
        self._values = device.empty(local.n_local, program.dtype)
        self._values_here = device.pinned(local.n_local, program.dtype)
        n_ghosts = local.n_local - local.n_owned
        most = max((numbers.size for numbers in local.sends.values()), default=0)
        self._places, self._targets = (device.pair(n, np.uint32) for n in (n_ghosts, most))
        self._sent, self._received = (device.pair(n, program.dtype) for n in (n_ghosts, most))
        self._make_work(out, into)

    def compile(self) -> None:
        """Compile the kernels, by playing them for no vertex."""
        sizes, self.sizes = self.sizes, LocalSizes(0, 0, 0, 0, self.sizes.is_directed)
        try:
            self._play_all()
            self.device.wait()
        except Exception as error:
            if not generating.is_compile_error(error):
                raise
            raise generating.compile_error(self.program, error, 1) from error
        finally:
            self.sizes = sizes

    def advance(self, most: int) -> None:
        """Compute up to `most` further supersteps, after the first values if there are none yet."""
        control = self.control
        if control[STEP] < 0:
            self._begin()
            control[STEP] = 0
        for _ in range(most):
            if control[ENDED] and self._ends_empty and not control[SHARED]:
                break
            self._superstep()
            control[STEP] += 1
            if control[ENDED] and not control[SHARED]:
                break
        self.device.wait()

    def take_marked(self) -> Marked:
        """Return local numbers and values of the ghosts that changed since the last call."""
        (places, places_here), (sent, sent_here) = self._places, self._sent
        n_ghosts = self.sizes.n_local - self.sizes.n_owned
        count = self._collect(n_ghosts, places, sent) if n_ghosts else 0
        self.device.fetch(places, places_here, 0, count)
        self.device.fetch(sent, sent_here, 0, count)
        self.device.wait()
        return places_here[:count], sent_here[:count]

    def deliver(self, targets: Numbers, received: Numbers) -> None:
        """Apply what take_marked returned on other devices for owned vertices."""
        count = targets.size
        (there, here), (values_there, values_here) = self._targets, self._received
        here[:count], values_here[:count] = targets, received
        self.device.send(here, there, 0, count)
        self.device.send(values_here, values_there, 0, count)
        if count:
            self._receive(count, there, values_there)

    @property
    def values(self) -> Numbers:
        """(n_local,) Values of owned vertices and ghosts, all brought here."""
        values: Numbers = self._values_here
        self.device.fetch(self._values, values)
        self.device.wait()
        return values

    @property
    def supersteps(self) -> int:
        """Supersteps until now."""
        return int(self.control[STEP])

    @property
    def edges(self) -> int:
        """Arcs looked at until now."""
        return int(self.control[EDGES])

    @property
    def has_ended(self) -> bool:
        """Whether no superstep is left to do."""
        return bool(self.control[ENDED])

    _ends_empty: ClassVar[bool] = False  # whether no superstep follows where none is needed

    @abstractmethod
    def _make_work(self, out: ArcsOf, into: ArcsOf) -> None:
        """Make the schedule's arrays."""

    @abstractmethod
    def _begin(self) -> None:
        """Make the first values."""

    @abstractmethod
    def _superstep(self) -> None:
        """Compute one superstep."""

    @abstractmethod
    def _play_all(self) -> None:
        """Launch each kernel, which does nothing for sizes of 0."""

    def _collect(self, n_ghosts: int, places: Any, sent: Any) -> int:
        """Fill in local numbers and values of the ghosts that changed; return how many."""
        raise NotImplementedError

    def _receive(self, count: int, targets: Any, received: Any) -> None:
        """Apply values of owned vertices."""
        raise NotImplementedError

    def _boundary_here(self, there: Any, here: Numbers) -> Numbers:
        """Bring the entries of boundary vertices of an array here."""
        self.device.fetch(there, here, self.sizes.n_interior, self.sizes.n_owned)
        self.device.wait()
        return here

    def _ghosts_there(self, here: Numbers, there: Any) -> None:
        """Bring the entries of ghosts of an array to the device."""
        self.device.send(here, there, self.sizes.n_owned, self.sizes.n_local)

    def _launch(self, name: str, threads: int, *arguments: Any) -> None:
        self.device.launch(getattr(self.kernels, name), threads, *arguments)


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
            raise self.program.wrong_priority()

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


class CudaUnion(CudaEngine):
    """The union schedule."""

    def _make_work(self, out: ArcsOf, into: ArcsOf) -> None:
        device, sizes = self.device, self.sizes
        self._arcs = int(out.offsets[sizes.n_owned]), int(into.offsets[sizes.n_owned])
        self.work = UnionOnDevice(
            device.empty(sizes.n_local, np.uint32),
            device.empty(sizes.n_local - sizes.n_owned, self.program.dtype),
            device.put(np.zeros(union.COUNTS, np.int64)),
        )
        self._counts = device.pinned(union.COUNTS, np.int64)

    def _begin(self) -> None:
        sizes, n_local = self.sizes, self.sizes.n_local
        self._launch("begin", n_local, sizes, self.vertices, self._values, self.work)
        ways = (self.out, self.into) if sizes.is_directed else (self.out,)
        for arcs, count in zip(ways, self._arcs, strict=False):
            if count or not n_local:
                self._launch("hook", -(-count // union.ARCS), sizes, arcs, self.work)
                self.control[EDGES] += count if n_local else 0
        self._launch("compress", n_local, sizes, self.work)

    def _superstep(self) -> None:
        for name in ("lower", "spread"):
            self._launch(name, self.sizes.n_local, self.sizes, self._values, self.work)
        self.control[ENDED] = 1

    def _count(self) -> int:
        self.device.fetch(self.work.counts, self._counts)
        self.device.wait()
        found = int(self._counts[union.MARKED])
        self._counts[:] = 0
        self.device.send(self._counts, self.work.counts)
        return found

    def _collect(self, n_ghosts: int, places: Any, sent: Any) -> int:
        self._launch("collect", n_ghosts, self.sizes, self._values, self.work, places, sent)
        return self._count()

    def _receive(self, count: int, targets: Any, received: Any) -> None:
        self._launch("receive", count, count, self._values, self.work, targets, received)
        if self._count():
            self.control[ENDED] = 0

    def _play_all(self) -> None:
        self._begin()
        for name in ("lower", "spread"):
            self._launch(name, 0, self.sizes, self._values, self.work)
        (places, _), (sent, _) = self._places, self._sent
        self._launch("collect", 0, self.sizes, self._values, self.work, places, sent)
        self._launch("receive", 0, 0, self._values, self.work, places, sent)


SCHEDULES: dict[str, type[CudaEngine]] = {
    "dense": CudaDense,
    "frontier": CudaFrontier,
    "bucket": CudaFrontier,
    "union": CudaUnion,
}


def cuda_engine(
    program: VertexProgram,
    local: LocalGraph,
    device: CudaDevice,
    parameters: Mapping[str, float] | None = None,
) -> CudaEngine:
    """Return the engine of a program on a device. Raises InputError as Engine does."""
    return SCHEDULES[program.schedule](program, local, device, parameters)


def device_bytes(program: VertexProgram, size: LocalSizes, arcs: Sequence[int], most: int) -> int:
    """Return the bytes of values and work that a CudaEngine allocates on its device.

    arcs: of each list that it has; most: the most vertices that are sent to one other device.
    """
    item, n, m = np.dtype(program.dtype).itemsize, max(size.n_local, 1), max(size.n_owned, 1)
    ghosts = max(size.n_local - size.n_owned, 1)
    common = n * item + (ghosts + max(most, 1)) * (4 + item)
    if program.schedule == "dense":
        ways = arcs if program.direction == "both" and size.is_directed else arcs[-1:]
        tiles = sum(max(-(-(size.n_owned + count) // dense.TILE), 1) for count in ways)
        blocks = max(min(-(-size.n_owned // THREADS), dense.MOST_BLOCKS), 1)
        return common + (len(ways) * m + tiles + n) * item + 8 * blocks
    if program.schedule == "union":
        return common + 4 * n + ghosts * item + 8 * union.COUNTS
    words = max(-(-size.n_local // frontier.BITS), 1)
    lists = 4 * (m + size.n_owned) + 8 * (frontier.CLASSES + 1 + frontier.COUNTS)
    return common + n * (item + 1) + 8 * words + lists + ghosts

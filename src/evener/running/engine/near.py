"""NearLinks: shared memory by which the ranks of one computer exchange from inside kernels.

See near_kernels. Ranks are threads of one process, or processes with one device each, all on one
computer. While a kernel waits long for another rank, a second thread of its rank also waits, with
the timeout and the errors of other waits; between processes it also replies to ranks that ask who
is waiting.
"""

from __future__ import annotations

import threading
from functools import partial
from typing import Any, Self, cast

import numpy as np
import numpy.typing as npt

from evener.running.comm import Comm, ThreadComm
from evener.running.distributing import INDEX
from evener.running.engine import near_kernels as kernels
from evener.running.engine.atomics_kernels import (
    ABORTED,
    ASLEEP,
    EDGES,
    ENDED,
    LOGGED,
    TOTALS,
)
from evener.running.engine.engine import MOST, Engine
from evener.running.engine.recording import StepRecorder
from evener.running.local_graphs import LocalGraph
from evener.running.mpi_comm import MpiComm
from evener.running.sharing import Memory

WORD, LINE = 8, 8  # bytes of a word; words of a cache line
LOG = 1 << 14  # bytes of the log; a kernel returns when it is full
PAGE = 4096  # bytes
WATCHED = 0.02  # seconds between two looks at whether the kernel waits
NANO = 1e-9
Nearby = MpiComm | ThreadComm  # groups whose ranks may share memory
# Parts of a superstep that pushes or pulls, in order, and their places in a row of the log.
PUSHED = (
    ("computing", kernels.COMPUTED),
    ("packing", kernels.PACKED),
    ("waiting", kernels.MET),
    ("unpacking", kernels.UNPACKED),
    ("waiting", kernels.AGREED),
)
PULLED = (*PUSHED[1:4], PUSHED[0], PUSHED[4])


class NearLinks:
    """The links of one rank, and its waits with a timeout; all ranks create one together.

    links: passed to kernels. Kernels run inside a `with` block of this object.
    """

    def __init__(self, comm: Nearby, local: LocalGraph, engine: Engine) -> None:
        self._comm, self._engine, kind = comm, engine, np.dtype(engine.program.dtype)
        self._item, self._alone, self._sends = kind.itemsize, engine.work, local.sends
        words = LINE * (kernels.FIRST_LINE + comm.size) + comm.size**2
        make = {"union": _shared_trees, "dense": _payload_places}.get(
            engine.program.schedule, _message_places
        )
        self._memory, links = make(comm, local, kind, WORD * words)
        if self._memory is None:
            return
        sync = self._memory.data[: WORD * words].view(np.int64)
        if comm.rank == 0:
            sync[:] = 0
        columns = kernels.FIRST_SENT + comm.size
        self._log = np.zeros((max(LOG // (WORD * columns), 3), columns), np.int64)
        links = links._replace(rank=comm.rank, ranks=comm.size, sync=sync, log=self._log)
        engine.work = engine.work._replace(links=links)
        if engine.program.schedule == "union":
            engine.work = engine.work._replace(parents=links.places)
        self._waits = comm.waits
        self._error: BaseException | None = None
        self._ended = threading.Event()
        self._watch = threading.Thread(target=self._watched, daemon=True)
        comm.barrier()  # nothing is counted before zeros are there
        self._memory.data[::PAGE].max(initial=0)  # pages are mapped before the clock starts

    @classmethod
    def of(cls, comm: Comm, local: LocalGraph, engine: object) -> NearLinks | None:
        """Return the links of a rank's engine, or None if some rank cannot have any. Collective."""
        if not isinstance(comm, Nearby) or comm.size == 1:
            return None
        if not all(comm.allgather(isinstance(engine, Engine))) or not comm.shares_memory:
            return None
        made = cls(comm, local, cast(Engine, engine))
        return None if made._memory is None else made

    def __enter__(self) -> Self:
        self._watch.start()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._ended.set()
        self._watch.join()
        self._engine.work = self._alone
        if error is None and self._memory is not None:
            self._comm.barrier()
            self._memory.free()  # by all; after an error the others are ended

    def advance(self, left: int, steps: StepRecorder, pause: int = MOST) -> bool:
        """Compute and record up to `pause` of the `left` supersteps, fewer if LONG passes.

        Returns whether the program has not ended.
        """
        control, before = self._engine.control, self._engine.edges
        control[LOGGED] = 0
        self._engine.advance(min(left, pause))
        if self._error is not None:
            raise self._error
        count, schedule = int(control[LOGGED]), self._engine.program.schedule
        ended = {"dense": control[ENDED] != 0, "frontier": control[TOTALS] == 0}.get(schedule, True)
        if ended or count == left:
            steps.stop()
        self._log[count, kernels.LOOKED] = control[EDGES]
        self._record(count, before, steps)
        self._log[: count + 1] = 0
        return not ended

    def _record(self, count: int, edges: int, steps: StepRecorder) -> None:
        """Record supersteps from rows 1 to `count` of the log.

        edges: number of arcs read before.
        """
        began = NANO * float(self._log[0, kernels.ENTERED]) - steps.began
        for row in self._log[1 : count + 1].tolist():
            has_pulled = row[kernels.PULLED]
            for name, place in PULLED if has_pulled else PUSHED:
                steps.now.add(name, began, NANO * row[place])
                began += NANO * row[place]
            steps.now.edges, edges = row[kernels.LOOKED] - edges, row[kernels.LOOKED]
            if has_pulled:  # a value for each ghost, and in a search a flag
                size = self._item + (self._engine.program.schedule == "frontier")
                sent = [(q, own.size) for q, own in self._sends.items()]
            else:
                size, sent = INDEX + self._item, list(enumerate(row[kernels.FIRST_SENT :]))
            for to, messages in sent:
                if messages:
                    steps.now.count_sent(to, messages * size)
            steps.end(row[kernels.RECEIVED])

    def _has_woken(self, asleep: int) -> bool:
        return self._ended.is_set() or int(self._engine.control[ASLEEP]) != asleep

    def _watched(self) -> None:
        """Wait while the kernel waits; if that raises an error, end the kernel's wait."""
        control = self._engine.control
        while not self._ended.wait(WATCHED):
            if asleep := int(control[ASLEEP]):
                has_woken = partial(self._has_woken, asleep)
                try:
                    self._waits.until(has_woken, WATCHED)
                except BaseException as error:  # raised again by `advance`
                    self._error = error
                    control[ABORTED] = 1
                    return


def _no_links(kind: np.dtype[Any]) -> kernels.Links:
    """Return links between no ranks."""
    words, numbers = np.empty(0, np.int64), np.empty(0, np.uint32)
    pairs, values = words.reshape(0, 0), np.empty(0, kind)
    return kernels.Links(0, 0, words, words, pairs, numbers, numbers, values, numbers, words, pairs)


def _lists_of(
    comm: Nearby, local: LocalGraph, kind: np.dtype[Any]
) -> tuple[kernels.Links, int, list[npt.NDArray[np.uint32]]]:
    """Return links with the lists of messages, the number of all ghosts, and `sends` by rank."""
    links, counts = _no_links(kind), comm.allgather(np.diff(local.ghost_starts).tolist())
    sends = [local.sends.get(q, links.homes) for q in range(comm.size)]
    links = links._replace(
        begins=local.n_owned + np.asarray(local.ghost_starts, np.int64),
        starts=np.cumsum(counts).reshape(comm.size, comm.size) - np.array(counts, np.int64),
        sends=np.concatenate(sends),
        sent_begins=np.cumsum([0, *(own.size for own in sends)]),
    )
    return links, int(np.sum(counts)), sends


def _own_messages(links: kernels.Links, rank: int) -> slice:
    """Return where the messages of a rank's ghosts are."""
    begin = int(links.starts[rank, 0])
    return slice(begin, begin + int(links.begins[-1] - links.begins[0]))


def _payload_places(
    comm: Nearby, local: LocalGraph, kind: np.dtype[Any], first: int
) -> tuple[Memory | None, kernels.Links]:
    """Allocate memory for two payloads of each ghost, after `first` bytes; return links with it."""
    links, total, _ = _lists_of(comm, local, kind)
    end = first + 2 * total * kind.itemsize
    memory = comm.memory(end)
    if memory is None:
        return None, links
    values = memory.data[first:end].view(kind)
    values.reshape(2, total)[:, _own_messages(links, comm.rank)] = 0  # allocates the pages
    return memory, links._replace(values=values)


def _message_places(
    comm: Nearby, local: LocalGraph, kind: np.dtype[Any], first: int
) -> tuple[Memory | None, kernels.Links]:
    """Allocate memory for a message of each ghost, after `first` bytes; return links with it."""
    links, total, sends = _lists_of(comm, local, kind)
    second = first + WORD * -(-total * INDEX // WORD)
    memory = comm.memory(second + total * kind.itemsize)
    if memory is None:
        return None, links
    places = memory.data[first : first + total * INDEX].view(np.uint32)
    values = memory.data[second : second + total * kind.itemsize].view(kind)
    own = _own_messages(links, comm.rank)
    places[own] = values[own] = 0  # allocates the pages
    homes = np.concatenate(comm.exchange(sends))
    return memory, links._replace(homes=homes, places=places, values=values)


def _shared_trees(
    comm: Nearby, local: LocalGraph, kind: np.dtype[Any], first: int
) -> tuple[Memory | None, kernels.Links]:
    """Allocate memory for the parents of all vertices, after `first` bytes; return links with it.

    They replace the engine's own parents, which are never written: so the system allocates no
    memory for those.
    """
    links, memory = _no_links(kind), comm.memory(first + local.n_global * INDEX)
    if memory is None:
        return None, links
    begins = np.cumsum([0, *comm.allgather(local.n_owned)])
    trees = memory.data[first : first + local.n_global * INDEX].view(np.uint32)
    trees[begins[comm.rank] : begins[comm.rank + 1]] = 0  # allocates the pages
    return memory, links._replace(begins=begins, places=trees)

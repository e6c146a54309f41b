"""Halo: which rows a rank owns, which ghosts it needs beside them, and what it sends to whom.

A ghost is a copy of a vertex that another rank owns. Local numbers: the owned ones from 0 on by
rising global number, behind them the ghosts, those of one owner together.
"""

from __future__ import annotations

import queue
import time
import weakref
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from evener.arrays import IntArray, IntVector
from evener.errors import InputError, ToolError
from evener.plans.partition import Partition


@dataclass(frozen=True, eq=False)
class Halo:
    """What one rank has of a matrix whose rows and columns are the vertices.

    owned (m,), ghosts (h,): global numbers. sends: rank -> local numbers of what it is sent, in
    the order in which it keeps them; receives: rank -> range of the ghosts that it sends.
    """

    owned: IntVector
    ghosts: IntVector
    sends: Mapping[int, IntVector]
    receives: Mapping[int, tuple[int, int]]

    @property
    def size(self) -> int:
        """How many values a rank keeps of a vector: of owned vertices and of ghosts."""
        return int(self.owned.size + self.ghosts.size)


def halo_of(indptr: IntArray, indices: IntArray, partition: Partition, rank: int) -> Halo:
    """Return the halo of block `rank` of a matrix in CSR, whose pattern need not be symmetric.

    A rank needs the columns in which its rows have entries. Raises InputError for a partition of
    another number of vertices, and for a rank beyond its blocks.
    """
    part = partition.checked_for(len(indptr) - 1).part
    if not 0 <= rank < partition.k:
        raise InputError(f"rank {rank} has no block: there are {partition.k}")
    rows = np.repeat(part, np.diff(indptr))  # the block of each entry's row
    columns = part[indices]
    crossing = rows != columns
    needed = np.unique(indices[crossing & (rows == rank)]).astype(np.int64)
    ghosts = needed[np.argsort(part[needed], kind="stable")]
    owners, starts, counts = np.unique(part[ghosts], return_index=True, return_counts=True)
    owned = np.flatnonzero(part == rank)
    return Halo(
        owned,
        ghosts,
        _sends(indices, rows, crossing & (columns == rank), owned),
        {int(q): (int(a), int(a + c)) for q, a, c in zip(owners, starts, counts, strict=True)},
    )


def local_rows(A: Any, halo: Halo) -> Any:  # noqa: N803 - matrices have capital letters
    """Return a rank's rows (m, m + h) of a SciPy matrix (n, n) in CSR, columns by local numbers."""
    from scipy.sparse import csr_array

    rows = A[halo.owned]
    place = np.zeros(A.shape[1], np.int32)
    place[halo.owned] = np.arange(halo.owned.size)
    place[halo.ghosts] = halo.owned.size + np.arange(halo.ghosts.size)
    shape = halo.owned.size, halo.size
    indices, indptr = place[rows.indices], rows.indptr.astype(np.int32)
    return csr_array((rows.data, indices, indptr), shape=shape)


def _sends(
    indices: IntArray, rows: IntArray, mine: npt.NDArray[np.bool_], owned: IntVector
) -> dict[int, IntVector]:
    """For each rank that needs some of `owned`: which, by rising number."""
    to, which = rows[mine], np.searchsorted(owned, indices[mine])
    return {int(q): np.unique(which[to == q]).astype(np.int64) for q in np.unique(to)}


# The same buffers exchanged again and again between the same ranks, as the halo of a block is.
#
# Made once by `Comm.swap`, then started and finished in every iteration: nothing is allocated.

Buffer = npt.NDArray[Any]
Buffers = Mapping[int, Buffer]


class Swap(Protocol):
    """An exchange that may begin anew as soon as it is finished."""

    def start(self) -> None:
        """Send what the outgoing buffers hold; they may be written to after `finish`."""

    def finish(self, rest: float = 0.0) -> None:
        """Return when the incoming buffers are filled.

        rest [s]: sleep so long between two looks, where several ranks share a core; 0: wait awake.
        """


class Mail:
    """What threads hand to each other: a queue for each pair, so that who sends waits for none."""

    def __init__(self, patience: float) -> None:
        self._patience = patience  # [s]
        self._queues: defaultdict[tuple[int, int], queue.SimpleQueue[Any]] = defaultdict(
            queue.SimpleQueue
        )

    def put(self, source: int, to: int, value: Any) -> None:
        """Hand over."""
        self._queues[source, to].put(value)

    def take(self, source: int, to: int) -> Any:
        """Return what was handed over, in that order. Raises ToolError where nothing comes."""
        try:
            return self._queues[source, to].get(timeout=self._patience)
        except queue.Empty as error:
            raise ToolError(f"rank {source} has not sent for {self._patience:.0f} s") from error


class ThreadSwap:
    """Between threads: a copy of each buffer is handed over."""

    def __init__(self, rank: int, mail: Mail, outgoing: Buffers, incoming: Buffers) -> None:
        self._rank, self._mail = rank, mail
        self._outgoing, self._incoming = outgoing, incoming

    def start(self) -> None:
        """Hand over."""
        for to, buffer in self._outgoing.items():
            self._mail.put(self._rank, to, buffer.copy())

    def finish(self, rest: float = 0.0) -> None:  # noqa: ARG002 - threads wait asleep
        """Take what the others have handed over. Raises ToolError where nothing comes."""
        for source, buffer in self._incoming.items():
            buffer[:] = self._mail.take(source, self._rank)


class MpiSwap:
    """Between processes of MPI: persistent requests over the buffers themselves."""

    def __init__(self, comm: Any, outgoing: Buffers, incoming: Buffers) -> None:
        requests = [comm.Recv_init(buffer, source=rank) for rank, buffer in incoming.items()]
        requests += [comm.Send_init(buffer, dest=rank) for rank, buffer in outgoing.items()]
        self._requests = requests
        weakref.finalize(self, _free, requests)

    def start(self) -> None:
        """Start all."""
        if self._requests:
            type(self._requests[0]).Startall(self._requests)

    def finish(self, rest: float = 0.0) -> None:
        """Wait for all."""
        if not self._requests:
            return
        kind = type(self._requests[0])
        if rest <= 0:
            kind.Waitall(self._requests)
            return
        while not kind.Testall(self._requests):
            time.sleep(rest)


def _free(requests: list[Any]) -> None:
    """Give inactive requests back to MPI."""
    for request in requests:
        request.Free()

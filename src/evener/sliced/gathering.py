"""Arrays that go between ranks, of any lengths and types: not pickled, in messages of bounded size.

Every call is made by all ranks, in the same order. Waits do not keep a core busy (MpiWaits).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from evener.arrays import IntVector
from evener.errors import EvenerError
from evener.running.comm import Comm
from evener.running.failures import Names

T = TypeVar("T")
Scalar = TypeVar("Scalar", bound=np.generic)
Values = npt.NDArray[Scalar]
Bytes = npt.NDArray[np.uint8]
MESSAGE_BYTES = 1 << 30  # of a message at most: many MPIs count in 32 bits


def exchanged(
    comm: Comm, values: Values[Scalar], counts: Sequence[int] | IntVector
) -> tuple[Values[Scalar], IntVector]:
    """Return what all ranks have sent here, by rank, and how much each, as (ranks,) counts.

    values: entries along the first axis, the first counts[0] of them for rank 0, and so on. Type
    and further axes are the same on all ranks.
    """
    sent = [int(count) for count in counts]
    came = np.array(comm.exchange(sent), np.int64)
    return sent_to(comm, values, sent, came), came


def sent_to(
    comm: Comm,
    values: Values[Scalar],
    counts: Sequence[int] | IntVector,
    came: Sequence[int] | IntVector,
) -> Values[Scalar]:
    """Return what all ranks have sent here, as `exchanged` does, where all know how much that is.

    came (ranks,): how many entries come from each rank.
    """
    values = np.ascontiguousarray(values)
    into = np.empty((int(sum(came)), *values.shape[1:]), values.dtype)
    out, free = _ends(counts), _ends(came)
    own = comm.rank
    into[free[own] : free[own + 1]] = values[out[own] : out[own + 1]]
    others = [rank for rank in range(comm.size) if rank != own]
    pass_on(
        comm,
        {rank: values[out[rank] : out[rank + 1]] for rank in others},
        {rank: into[free[rank] : free[rank + 1]] for rank in others},
    )
    return into


def gathered(comm: Comm, values: Values[Scalar], root: int = 0) -> Values[Scalar]:
    """Return at rank `root` the values of all ranks one after the other; elsewhere none.

    values: entries along the first axis, of the same type and further axes on all ranks.
    """
    counts = np.zeros(comm.size, np.int64)
    counts[root] = len(values)
    lengths = np.array(comm.allgather(len(values)), np.int64)
    came = lengths if comm.rank == root else np.zeros(comm.size, np.int64)
    return sent_to(comm, values, counts, came)


def scattered(
    comm: Comm, values: Values[Scalar], counts: Sequence[int] | IntVector, root: int = 0
) -> Values[Scalar]:
    """Return this rank's entries of those that rank `root` has, counts[r] (ranks,) for rank r.

    values, counts: at the other ranks without entries, of the type and further axes of the root's.
    """
    sent = [int(count) for count in counts] if comm.rank == root else [0] * comm.size
    return exchanged(comm, values, sent)[0]


def in_turn(
    comm: Comm, arrays: Sequence[npt.NDArray[Any]], root: int = 0
) -> Iterator[list[npt.NDArray[Any]]]:
    """Yield at rank `root` the arrays (one axis) of each rank, by rank; at the others nothing.

    So the root has those of one other rank at a time. All ranks take the iterator to its end.
    """
    lengths = comm.allgather([len(array) for array in arrays])
    if comm.rank != root:
        pass_on(comm, {root: _joined(arrays)}, {})
        return
    for rank, sizes in enumerate(lengths):
        if rank == root:
            yield list(arrays)
            continue
        buffers = [np.empty(n, one.dtype) for n, one in zip(sizes, arrays, strict=True)]
        whole = np.empty(sum(one.nbytes for one in buffers), np.uint8)
        pass_on(comm, {}, {rank: whole})
        at = 0
        for one in buffers:
            bytes_of(one)[:] = whole[at : at + one.nbytes]
            at += one.nbytes
        del whole
        yield buffers


def pass_on(
    comm: Comm,
    outgoing: dict[int, npt.NDArray[Any]],
    incoming: dict[int, npt.NDArray[Any]],
) -> None:
    """Send C-contiguous arrays by rank, and receive others of lengths that both sides know.

    A call of the ranks concerned: those that have nothing for each other need not make it.
    """
    gone = {rank: bytes_of(array) for rank, array in outgoing.items() if array.size}
    came = {rank: bytes_of(array) for rank, array in incoming.items() if array.size}
    first = 0
    while gone or came:
        end = first + MESSAGE_BYTES
        swap = comm.swap(
            {rank: data[first:end] for rank, data in gone.items()},
            {rank: data[first:end] for rank, data in came.items()},
        )
        swap.start()
        swap.finish()
        swap.settle()
        gone = {rank: data for rank, data in gone.items() if data.size > end}
        came = {rank: data for rank, data in came.items() if data.size > end}
        first = end


def bytes_of(array: npt.NDArray[Any]) -> Bytes:
    """Return the bytes of a C-contiguous array, not copied."""
    return array.reshape(-1).view(np.uint8)


def agreed(comm: Comm, work: Callable[[], T], *, named: bool = True) -> T:
    """Return work() of this rank, which does not communicate, or raise on all ranks.

    Where work() raises on some ranks, the first one's error is raised on all. The message names the
    rank, unless all say the same of a file, or it is not to be named.
    """
    error: Exception | None = None
    try:
        result = work()
    except Exception as one:
        error = one
    known = None if error is None else Names().failed(comm.rank, error)
    report = None if known is None else (
        type(known), known.message, known.hint, known.file, known.line
    )  # fmt: skip
    everyone = comm.allgather(report)
    found = [(rank, *one) for rank, one in enumerate(everyone) if one is not None]
    if not found:
        return result
    rank, kind, said, hint, file, line = found[0]
    of_file = file is not None and all(one is not None and one[1] == said for one in everyone)
    if named and not (of_file or said.startswith("rank ")):
        said = f"rank {rank}: {said}"
    known = kind(said, hint=hint, file=file, line=line)
    known.is_everywhere = True
    raise known from error


@contextmanager
def raised_everywhere() -> Iterator[None]:
    """Mark errors within as raised on all ranks: all do the same there, with the same numbers."""
    try:
        yield
    except EvenerError as error:
        error.is_everywhere = True
        raise


def of_root(comm: Comm, work: Callable[[], T]) -> T:
    """Return on all ranks work() of rank 0, which does not communicate; so what it raises."""
    found = agreed(comm, lambda: work() if comm.rank == 0 else None, named=False)
    result: Any = comm.bcast(found)
    known: T = result
    return known


def _ends(counts: Sequence[int] | IntVector) -> IntVector:
    return np.concatenate([[0], np.cumsum(np.asarray(counts, np.int64))])


def _joined(arrays: Sequence[npt.NDArray[Any]]) -> Bytes:
    return np.concatenate([bytes_of(np.ascontiguousarray(array)) for array in arrays])

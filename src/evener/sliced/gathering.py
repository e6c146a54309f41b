"""Exchanges arrays of any length and type between ranks, not pickled, in messages of bounded size.

Every function is collective. Waiting ranks do not keep a core busy (MpiWaits).
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
    """Return the values that all ranks sent to this one, in rank order, and their counts (ranks,).

    values: entries along the first axis, the first counts[0] of them for rank 0, and so on. Type
    and further axes must be the same on all ranks.
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
    """Like `exchanged`, if all ranks already know how many entries they receive.

    came (ranks,): number of entries that come from each rank.
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
    """Return the concatenated values of all ranks at rank `root`; an empty result elsewhere.

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
    """Return this rank's part of rank `root`'s values; counts[r] (ranks,) entries are rank r's.

    values, counts: empty on other ranks, with the type and further axes of the root's values.
    """
    sent = [int(count) for count in counts] if comm.rank == root else [0] * comm.size
    return exchanged(comm, values, sent)[0]


def pass_on(
    comm: Comm,
    outgoing: dict[int, npt.NDArray[Any]],
    incoming: dict[int, npt.NDArray[Any]],
) -> None:
    """Send C-contiguous arrays to ranks, and receive arrays whose lengths both sides know.

    Only ranks that exchange something must call this function.
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
    """Return a view of the bytes of a C-contiguous array."""
    return array.reshape(-1).view(np.uint8)


def agreed(comm: Comm, work: Callable[[], T], *, named: bool = True) -> T:
    """Return work() of this rank, which must not communicate, or raise on all ranks.

    If work() raises on some ranks, the error of the first of them is raised on all. The message
    names the rank, unless all ranks raise the same error about a file, or `named` is false.
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
    """Context manager: mark errors as raised on all ranks, because all ranks compute the same."""
    try:
        yield
    except EvenerError as error:
        error.is_everywhere = True
        raise


def of_root(comm: Comm, work: Callable[[], T]) -> T:
    """Return, on all ranks, work() of rank 0, or raise its error; it must not communicate."""
    found = agreed(comm, lambda: work() if comm.rank == 0 else None, named=False)
    result: Any = comm.bcast(found)
    known: T = result
    return known


def _ends(counts: Sequence[int] | IntVector) -> IntVector:
    return np.concatenate([[0], np.cumsum(np.asarray(counts, np.int64))])


MOST = 2**31  # what is as large, or larger, stays as it is


def narrow(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the same numbers in the smallest unsigned integer type that holds all of them.

    Returns the array itself if some numbers are negative, not integers, or at least MOST.
    """
    if values.size == 0 or not (values.min() >= 0 and values.max() < MOST):
        return values
    kind = np.min_scalar_type(int(values.max()))
    if kind.itemsize >= values.itemsize:
        return values
    narrowed = values.astype(kind)
    return narrowed if bool((narrowed == values).all()) else values

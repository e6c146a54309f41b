"""Halo: exchanges values of vertices between the ranks that own them and those that need them.

A rank has local numbers: first its own vertices, then its ghosts, which are copies of vertices of
other ranks. `exchange` copies the owners' values to the ghosts; `reduce` combines the ghosts'
values at their owners. Each neighbour gets one message with all its values. Ranks are threads or
MPI processes.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from evener.arrays import IntArray
from evener.errors import InputError, UsageError, one_of
from evener.running.comm import Comm
from evener.running.local_graphs import LocalGraph
from evener.running.local_numbers import Numbers, are_within, count_of, numbers_of
from evener.running.mpi_comm import comm_of
from evener.running.sparse import SparseReduce

Values: TypeAlias = npt.NDArray[Any]
Op: TypeAlias = Literal["sum", "min", "max", "or"]
MOST_BOUND = 4  # arrays that a halo references to receive their ghosts in place
_UFUNCS = {"sum": np.add, "min": np.minimum, "max": np.maximum, "or": np.bitwise_or}


class Halo:
    """The exchanges of one rank; all ranks of a communicator create it together, and reuse it.

    comm: a Comm, or a communicator of mpi4py, which is duplicated. n_owned: number of own vertices,
    with local numbers 0 to n_owned - 1. sends: other rank -> local numbers of the own vertices
    whose values it gets. receives: other rank -> where its values are stored: first and end of a
    range of local numbers, or an array of them; together these are the ghosts n_owned to n_local -
    1. Each rank must send as many values to another rank as that rank expects. times: a HaloTimes,
    which may be replaced.

    Arrays have shape (n_local,) or (n_local, c); they are writable, C-contiguous, and of any dtype
    except object. Buffers are allocated at the first exchange of a dtype and number of columns, and
    reused. From its second exchange on, an array receives its ghosts in place; up to MOST_BOUND
    such arrays are referenced. All ranks make the same calls in the same order. Raises InputError,
    on all ranks, if the lists do not match.
    """

    def __init__(
        self,
        comm: Any,
        n_owned: int,
        sends: Mapping[int, IntArray],
        receives: Mapping[int, tuple[int, int] | IntArray],
    ) -> None:
        self.comm: Comm = comm_of(comm)
        self.n_owned = n_owned
        self.times = HaloTimes()
        fault = ""
        try:
            self._sends = {q: numbers_of(sends[q]) for q in sorted(sends)}
            self._receives = {q: numbers_of(receives[q]) for q in sorted(receives)}
            self._check_numbers()
        except InputError as error:
            fault = error.message
        self._agree(fault)
        self._check_counts()
        self._made: dict[tuple[Any, ...], HaloBuffers] = {}
        self._sparse: dict[np.dtype[Any], SparseReduce] = {}
        self._bound: dict[int, HaloBuffers] = {}  # by id of the array, which HaloBuffers references
        self._seen: deque[weakref.ref[Values]] = deque(maxlen=MOST_BOUND)
        self._pending: tuple[HaloBuffers, Values, np.ufunc | None] | None = None
        self._last: HaloBuffers | None = None  # others may still copy from its outgoing buffers

    @classmethod
    def of(cls, comm: Any, local: LocalGraph) -> Halo:
        """Return the halo of a device's part of a graph; the rank must be the device's number."""
        known = comm_of(comm)
        if (known.rank, known.size) != (local.rank, local.k):
            raise InputError(
                f"the part of device {local.rank} of {local.k} does not belong to rank "
                f"{known.rank} of {known.size}"
            )
        return cls(known, local.n_owned, local.sends, local.receives)

    @property
    def n_local(self) -> int:
        """Number of own vertices and ghosts."""
        return self.n_owned + sum(count_of(numbers) for numbers in self._receives.values())

    @property
    def neighbours(self) -> list[int]:
        """The ranks to which values are sent or from which values come, in rising order."""
        return sorted(self._sends.keys() | self._receives.keys())

    @property
    def nbytes(self) -> int:
        """Bytes of the lists of numbers and of all buffers allocated so far."""
        lists = [*self._sends.values(), *self._receives.values()]
        own = sum(numbers.nbytes for numbers in lists if not isinstance(numbers, slice))
        made = sum(one.nbytes for one in self._made.values())
        return own + made + sum(one.nbytes for one in self._sparse.values())

    def prepare(self, x: Values) -> None:
        """Allocate the buffers for exchanges of arrays like x, if needed. All ranks call this."""
        self._buffers_of(x, "exchange")

    def exchange(self, x: Values, rest: float = 0.0) -> None:
        """Set the values of the ghosts in x to those of their owners.

        rest [s]: time to sleep between two checks for messages, for ranks that share a core.
        """
        self.start_exchange(x)
        self.finish(rest)

    def start_exchange(self, x: Values) -> None:
        """Begin an exchange; until `finish`, x may be read, and own values may be changed.

        Raises UsageError if another exchange or reduction has not been finished.
        """
        self._check_idle()
        made = self._bound.get(id(x))
        if made is None or made.shape != x.shape:
            made = self._exchange_of(x)
        self._start(made, x)
        self._pending = made, x, None

    def finish(self, rest: float = 0.0) -> None:
        """Finish the exchange or reduction: set the ghosts' values, or combine the own values."""
        if self._pending is None:
            raise UsageError("no exchange has been started")
        (made, x, ufunc), self._pending = self._pending, None
        made.finish(rest, self.times)
        if ufunc is not None:
            made.combine(x, ufunc, self.times)
        elif made.unpacked:
            made.unpack(x, self.times)

    def reduce(self, x: Values, op: Op = "sum", rest: float = 0.0) -> None:
        """Combine the own values in x with the values of their ghosts on other ranks.

        op: "sum", "min", "max" or "or" (bitwise). The own value is combined first with that of the
        lowest rank, then with those of higher ranks, so that results are reproducible. The ghosts'
        values in x do not change. rest: as for `exchange`. Raises InputError if the dtype of x does
        not have the operation.
        """
        self.start_reduce(x, op)
        self.finish(rest)

    def start_reduce(self, x: Values, op: Op = "sum") -> None:
        """Begin a reduction as in `reduce`; until `finish`, x may be read and changed.

        The ghosts' values are sent as they are at this call. They are combined with the own values
        as these are at `finish`, so own values may be computed meanwhile. Raises UsageError if
        another exchange or reduction has not been finished.
        """
        self._check_idle()
        ufunc = _UFUNCS[one_of("operation", op, get_args(Op))]
        made = self._buffers_of(x, "reduce")
        check_operation(ufunc, x)
        self._start(made, x)
        self._pending = made, x, ufunc

    def _check_idle(self) -> None:
        if self._pending is not None:
            raise UsageError("an exchange or reduction has been started but not finished")

    def _start(self, made: HaloBuffers, x: Values) -> None:
        """Send values of x once the last exchange, which may use the same buffers, is settled."""
        if self._last is not None:
            self._last.settle(self.times)
        self._last = made
        made.start(x, self.times)

    def to_owners(
        self, ghosts: npt.NDArray[np.uint32], values: Values, rest: float = 0.0
    ) -> Iterator[tuple[npt.NDArray[np.uint32], Values]]:
        """Send values of some ghosts to their owners; yield local numbers and values received.

        ghosts (s,): local numbers of the ghosts whose values (s,), of a number dtype, are sent,
        each at most once. rest: as for `exchange`. Yields one pair of arrays per neighbour, by
        rising rank; the next pair overwrites them. Messages are only as long as their content;
        their buffers are allocated at the first call for a dtype. Raises InputError if the ghosts
        of an owner are not a range of local numbers, or if the dtype's size is not 1, 2, 4 or 8
        bytes.
        """
        made = self.sparse_of(values.dtype)
        times, began = self.times, perf_counter()
        made.settle()
        times.waiting += (settled := perf_counter()) - began
        made.pack(ghosts, values)
        packed = perf_counter()
        made.start()
        made.finish(rest)
        times.packing += packed - settled
        times.waiting += perf_counter() - packed
        times.sent += made.sent_bytes
        return made.taken()

    def sparse_of(self, dtype: npt.DTypeLike) -> SparseReduce:
        """Return the buffers of `to_owners` for a dtype, allocating them if needed."""
        self._check_idle()
        kind = np.dtype(dtype)
        if kind not in self._sparse:
            sends, receives = (
                {q: numbers for q, numbers in lists.items() if count_of(numbers)}
                for lists in (self._sends, self._receives)
            )
            self._sparse[kind] = SparseReduce(self.comm, sends, receives, kind)
        return self._sparse[kind]

    def _exchange_of(self, x: Values) -> HaloBuffers:
        """Return the buffers for exchanging x; from its second exchange on, x is one of them."""
        if not any(seen() is x for seen in self._seen):
            made = self._buffers_of(x, "exchange")
            self._seen.append(weakref.ref(x))
            return made
        like = self._buffers_of(x, "exchange")
        if len(self._bound) == MOST_BOUND:
            del self._bound[next(iter(self._bound))]
        made = HaloBuffers(self.comm, self._sends, self._receives, x, "bound", like)
        self._bound[id(x)] = made
        return made

    def _buffers_of(self, x: Values, kind: str) -> HaloBuffers:
        """Return the buffers for arrays like x, allocating them if needed."""
        self._check_array(x)
        key = kind, x.dtype, x.shape[1:]
        if key not in self._made:
            both = self._sends, self._receives
            gives, takes = both if kind == "exchange" else both[::-1]
            self._made[key] = HaloBuffers(self.comm, gives, takes, x, kind)
        return self._made[key]

    def _check_array(self, x: Values) -> None:
        if x.ndim not in (1, 2) or x.shape[0] != self.n_local:
            raise InputError(
                f"an array of shape {x.shape} does not fit own vertices and ghosts, which "
                f"need ({self.n_local:,},) or ({self.n_local:,}, c)"
            )
        if x.dtype.hasobject or not x.flags.carray:
            raise InputError(
                "an array to exchange must be writable and C-contiguous, and contain no objects"
            )

    def _check_numbers(self) -> None:
        """Raise InputError unless only own vertices are sent and each ghost is received."""
        for q in self._sends.keys() | self._receives.keys():
            if not 0 <= q < self.comm.size or q == self.comm.rank:
                raise InputError(
                    f"rank {self.comm.rank} of {self.comm.size} cannot exchange with rank {q}"
                )
        for q, numbers in self._sends.items():
            if not are_within(numbers, 0, self.n_owned):
                raise InputError(
                    f"the vertices sent to rank {q} are not all among the {self.n_owned:,} own "
                    "vertices"
                )
            goes = np.zeros(self.n_owned, np.bool_)
            goes[numbers] = True
            if np.count_nonzero(goes) < count_of(numbers):
                raise InputError(f"the value of a vertex is sent to rank {q} twice")
        comes, known = np.zeros(self.n_local, np.bool_), self._receives.values()
        for numbers in known:
            if are_within(numbers, self.n_owned, self.n_local):
                comes[numbers] = True
        if np.count_nonzero(comes) < self.n_local - self.n_owned:
            raise InputError(
                "ghosts must be numbered from n_owned on, and each must be received once"
            )

    def _check_counts(self) -> None:
        """Raise InputError on all ranks if ranks send other numbers of values than expected."""
        ranks = range(self.comm.size)
        sent = [count_of(self._sends.get(q)) for q in ranks]
        wanted = [count_of(self._receives.get(q)) for q in ranks]
        found = self.comm.exchange(list(zip(sent, wanted, strict=True)))
        wrong = next((q for q in ranks if found[q] != (wanted[q], sent[q])), None)
        fault = ""
        if wrong is not None:
            theirs = found[wrong]
            fault = (
                f"rank {self.comm.rank} sends {sent[wrong]:,} values to rank {wrong}, which "
                f"expects {theirs[1]:,}; it expects {wanted[wrong]:,} values from that rank, which "
                f"sends {theirs[0]:,}"
            )
        self._agree(fault)

    def _agree(self, fault: str) -> None:
        """Raise InputError on all ranks if one of them has found a fault."""
        faults = [one for one in self.comm.allgather(fault) if one]
        if faults:
            raise InputError(faults[0])


@dataclass
class HaloTimes:
    """Time that the exchanges of a halo have taken so far [s], and bytes sent.

    packing: filling send buffers. waiting: from then until all messages have arrived, without the
    time of work done meanwhile. unpacking: copying into the array. sent [B].
    """

    packing: float = 0.0
    waiting: float = 0.0
    unpacking: float = 0.0
    sent: int = 0


class HaloBuffers:
    """Buffers for arrays like x: the outgoing and the incoming values of each neighbour.

    kind: "exchange", "reduce", or "bound" for an exchange of x only: x is referenced, and values
    whose numbers are a range are received in place. like: HaloBuffers whose outgoing buffers are
    shared.
    """

    def __init__(
        self,
        comm: Comm,
        gives: Mapping[int, Numbers],
        takes: Mapping[int, Numbers],
        x: Values,
        kind: str,
        like: HaloBuffers | None = None,
    ) -> None:
        tail, bound = x.shape[1:], kind == "bound"
        self.shape, self._x = x.shape, x if bound else None
        self.outgoing: dict[int, Values] = {
            q: np.empty((count_of(n), *tail), x.dtype) if like is None else like.outgoing[q]
            for q, n in gives.items()
            if count_of(n)
        }
        incoming = {}
        self.unpacked: list[tuple[Numbers, Values]] = []
        for q, numbers in takes.items():
            if not count_of(numbers):
                continue
            if bound and isinstance(numbers, slice):
                incoming[q] = x[numbers]
            else:
                incoming[q] = np.empty((count_of(numbers), *tail), x.dtype)
                self.unpacked.append((numbers, incoming[q]))
        self._packed = [(gives[q], buffer) for q, buffer in self.outgoing.items()]
        most = max((count_of(numbers) for numbers, _ in self.unpacked), default=0)
        self._scratch = np.empty((most if kind == "reduce" else 0, *tail), x.dtype)
        self._sent = sum(buffer.nbytes for buffer in self.outgoing.values())
        self._swap = comm.swap(
            {q: _bytes(b) for q, b in self.outgoing.items()},
            {q: _bytes(b) for q, b in incoming.items()},
        )

    @property
    def nbytes(self) -> int:
        """Bytes of the buffers."""
        made = *self.outgoing.values(), *(buffer for _, buffer in self.unpacked)
        return sum(buffer.nbytes for buffer in made) + self._scratch.nbytes

    def start(self, x: Values, times: HaloTimes) -> None:
        """Fill the outgoing buffers from x and send them."""
        begin = perf_counter()
        for numbers, buffer in self._packed:
            _copy(x, numbers, buffer)
        middle = perf_counter()
        self._swap.start()
        times.packing += middle - begin
        times.waiting += perf_counter() - middle
        times.sent += self._sent

    def finish(self, rest: float, times: HaloTimes) -> None:
        """Wait until the incoming buffers are filled."""
        begin = perf_counter()
        self._swap.finish(rest)
        times.waiting += perf_counter() - begin

    def settle(self, times: HaloTimes) -> None:
        """Wait until the outgoing buffers may be reused."""
        begin = perf_counter()
        self._swap.settle()
        times.waiting += perf_counter() - begin

    def unpack(self, x: Values, times: HaloTimes) -> None:
        """Copy the incoming buffers to x."""
        begin = perf_counter()
        for numbers, buffer in self.unpacked:
            x[numbers] = buffer
        times.unpacking += perf_counter() - begin

    def combine(self, x: Values, ufunc: np.ufunc, times: HaloTimes) -> None:
        """Combine the values in x with the incoming buffers, in order of rising rank."""
        begin = perf_counter()
        for numbers, buffer in self.unpacked:
            own = self._scratch[: len(buffer)]
            _copy(x, numbers, own)
            ufunc(own, buffer, out=own)
            x[numbers] = own
        times.unpacking += perf_counter() - begin


def _copy(x: Values, numbers: Numbers, buffer: Values) -> None:
    """Fill the buffer with the values of x at these numbers, without allocations."""
    if isinstance(numbers, slice):
        np.copyto(buffer, x[numbers])
    else:  # without a check of the numbers, which are valid, NumPy makes no copy of `out`
        x.take(numbers, 0, buffer, "clip")


def _bytes(buffer: Values) -> npt.NDArray[np.uint8]:
    """Return a C-contiguous array as bytes, so that MPI can send any dtype."""
    return buffer.reshape(-1).view(np.uint8)


def check_operation(ufunc: np.ufunc, x: Values) -> None:
    """Raise InputError if the ufunc is not defined for the dtype of x."""
    try:
        ufunc(x[:0], x[:0])
    except TypeError as error:
        raise InputError(f"{ufunc.__name__} is not defined for {x.dtype}") from error

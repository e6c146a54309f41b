"""HaloBuffers: what an exchange of a Halo sends and receives, and the swap between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from evener.errors import InputError
from evener.running.comm import Comm
from evener.running.local_numbers import Numbers, count_of

Values: TypeAlias = npt.NDArray[Any]


@dataclass
class HaloTimes:
    """What the exchanges of a halo have taken so far.

    packing: filling send buffers; waiting: from then on until all has arrived, or for the rest of
    that time where work was done meanwhile; unpacking: into the array [s]; sent [B].
    """

    packing: float = 0.0
    waiting: float = 0.0
    unpacking: float = 0.0
    sent: int = 0


class HaloBuffers:
    """Buffers for arrays like x: what is given to each neighbour, and what is taken from it.

    kind: "exchange", "reduce", or "bound": an exchange of x alone, which is held, and in which
    values are received where they make up a range. like: whose buffers it sends from.
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
        """Return when the incoming buffers are filled."""
        begin = perf_counter()
        self._swap.finish(rest)
        times.waiting += perf_counter() - begin

    def settle(self, times: HaloTimes) -> None:
        """Return when the outgoing buffers may be filled again."""
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
        """Combine the values in x with the incoming buffers, by rising rank."""
        begin = perf_counter()
        for numbers, buffer in self.unpacked:
            own = self._scratch[: len(buffer)]
            _copy(x, numbers, own)
            ufunc(own, buffer, out=own)
            x[numbers] = own
        times.unpacking += perf_counter() - begin


def _copy(x: Values, numbers: Numbers, buffer: Values) -> None:
    """Fill the buffer with the values of these numbers; nothing is allocated."""
    if isinstance(numbers, slice):
        np.copyto(buffer, x[numbers])
    else:  # NumPy makes no copy of `out` unless it checks the numbers, which are known to be good
        x.take(numbers, 0, buffer, "clip")


def _bytes(buffer: Values) -> npt.NDArray[np.uint8]:
    """Return a C-contiguous array as bytes, which MPI sends whatever the type is."""
    return buffer.reshape(-1).view(np.uint8)


def check_operation(ufunc: np.ufunc, x: Values) -> None:
    """Raise InputError where values of x cannot be combined so."""
    try:
        ufunc(x[:0], x[:0])
    except TypeError as error:
        raise InputError(f"{ufunc.__name__} is not defined for {x.dtype}") from error

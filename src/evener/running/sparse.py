"""SparseReduce: sends values of some ghosts to their owners, one message to each neighbour.

A message contains the numbers of these ghosts and their values. Its length is only what these need,
but its buffer has space for all ghosts, so that nothing is pickled and buffers are allocated once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.errors import InputError
from evener.running import halos_kernels as kernels
from evener.running.comm import Comm
from evener.running.local_numbers import Numbers, count_of

Values = npt.NDArray[Any]
LocalNumbers = npt.NDArray[np.uint32]
UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


class SparseReduce:
    """Buffers for values of one dtype from ghosts to their owners; see Halo.to_owners.

    sends, receives: as Halo stores them, without empty entries. Raises InputError if the dtype's
    size is not 1, 2, 4 or 8 bytes, or if the ghosts of an owner are not a range.
    """

    def __init__(
        self,
        comm: Comm,
        sends: Mapping[int, Numbers],
        receives: Mapping[int, Numbers],
        dtype: np.dtype[Any],
    ) -> None:
        if dtype.hasobject or dtype.itemsize not in UNSIGNED:
            raise InputError(f"values of {dtype} cannot be sent: they must have 1, 2, 4 or 8 bytes")
        ranges = {q: own for q, own in receives.items() if isinstance(own, slice)}
        if len(ranges) < len(receives):
            raise InputError("the ghosts of each owner must be a range of local numbers")
        self.dtype, item = dtype, dtype.itemsize
        self._owners = sorted(ranges, key=lambda q: int(ranges[q].start))
        self._starts = np.array([ranges[q].start for q in self._owners], np.int64)
        rooms = [room(count_of(ranges[q]), item) for q in self._owners]
        self._begins = np.cumsum([0, *rooms], dtype=np.int64)
        self._counts = np.zeros(len(rooms), np.int64)
        self._messages = np.zeros(int(self._begins[-1]) // 8, np.uint64)
        whole = self._messages.view(np.uint8)
        bounds = zip(self._owners, self._begins[:-1], self._begins[1:], strict=True)
        self._lists = dict(sends)
        self._incoming = {q: np.empty(room(count_of(n), item), np.uint8) for q, n in sends.items()}
        most = max((count_of(numbers) for numbers in sends.values()), default=0)
        self._targets = np.empty(most, np.uint32)
        outgoing = {q: whole[a:b] for q, a, b in bounds}
        self.pack(np.empty(0, np.uint32), np.empty(0, dtype))  # compiles it, as the next line does
        kernels.chosen(np.empty(0, np.intp), self._targets[:0], self._targets[:0])
        self._swap = comm.swap(outgoing, self._incoming, sized=True)

    @property
    def nbytes(self) -> int:
        """Bytes of the buffers."""
        incoming = sum(buffer.nbytes for buffer in self._incoming.values())
        return self._messages.nbytes + self._targets.nbytes + incoming

    @property
    def sent(self) -> dict[int, int]:
        """Owner -> number of values last sent to it."""
        return dict(zip(self._owners, self._counts.tolist(), strict=True))

    @property
    def sent_bytes(self) -> int:
        """Bytes of the values last sent, and of their numbers."""
        return int(self._counts.sum()) * (kernels.INDEX + self.dtype.itemsize)

    def pack(self, ghosts: LocalNumbers, values: Values) -> None:
        """Write the messages: values (s,) of ghosts (s,) by local number."""
        kind = UNSIGNED[self.dtype.itemsize]
        kernels.pack(
            ghosts, values.view(kind), self._starts, self._begins, self._counts,
            self._messages, self._messages.view(np.uint32), self._messages.view(kind),
        )  # fmt: skip

    def start(self) -> None:
        """Send the messages."""
        self._swap.start()

    def finish(self, rest: float = 0.0) -> None:
        """Wait until all messages to this rank have arrived."""
        self._swap.finish(rest)

    def settle(self) -> None:
        """Wait until messages may be packed again."""
        self._swap.settle()

    def taken(self) -> Iterator[tuple[LocalNumbers, Values]]:
        """Yield local numbers of own vertices and their values, by neighbour that sent any."""
        for q, numbers in self._lists.items():
            message, item = self._incoming[q], self.dtype.itemsize
            length = int(message[: kernels.HEAD].view(np.int64)[0])
            count = (length - kernels.HEAD) // (kernels.INDEX + item)
            if not count:
                continue
            end = kernels.HEAD + kernels.INDEX * count
            which = message[kernels.HEAD : end].view(np.uint32)
            targets = self._targets[:count]
            if isinstance(numbers, slice):
                np.add(which, np.uint32(numbers.start), out=targets)
            else:
                kernels.chosen(numbers, which, targets)
            yield targets, message[length - item * count : length].view(self.dtype)


def room(count: int, item: int) -> int:
    """Return the bytes of a message with `count` values of `item` bytes, a multiple of 8."""
    return kernels.HEAD + -(-count * kernels.INDEX // 8) * 8 + -(-count * item // 8) * 8

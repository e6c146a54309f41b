"""Several devices per MPI process: each is a thread whose rank is the device's number.

Process p of P has the consecutive devices d with d P // k = p. Collective calls are made by the
first thread of each process, because MPI allows one such call at a time per process. For a Swap,
each thread starts and finishes its own messages, so that no message is copied to a common buffer or
waits for another device; MPI must support this (MPI_THREAD_MULTIPLE).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

from evener.errors import UsageError
from evener.running.comm import Comm, Shared, ThreadComm, play_ranks
from evener.running.failures import Names
from evener.running.mpi_comm import MpiComm
from evener.running.sharing import Memory, alone
from evener.running.swaps import Buffers, Swap, Tagged

T = TypeVar("T")
MOST_DEVICES = 128  # per process: an MPI tag contains two device numbers and is below 2^15
LONGER = 5.0  # extra seconds for waits between threads: the thread that waits for MPI fails first


def devices_of_process(mpi: MpiComm, k: int, process: int | None = None) -> range:
    """Return the devices of an MPI process, by default of this one.

    Raises UsageError if there are more processes than devices, ToolError if MPI does not support
    threads.
    """
    if mpi.size > k:
        raise UsageError(
            f"{mpi.size} ranks cannot run {k} blocks: each rank needs at least one",
            hint=f"Use mpiexec -n {k} or fewer, or a plan for {mpi.size} devices.",
        )
    first = mpi.rank if process is None else process
    found = range(*(-(-p * k // mpi.size) for p in (first, first + 1)))
    mpi.check_threads(len(found), MOST_DEVICES)
    return found


def names_of_processes(mpi: MpiComm, names: Sequence[str]) -> Names:
    """Return the names of MPI processes: each consists of the names of all its devices."""
    own = [devices_of_process(mpi, len(names), process) for process in range(mpi.size)]
    return Names(tuple(", ".join(names[device] for device in devices) for devices in own))


class SwapOfBoth:
    """A Swap that combines a swap with threads of this process and one with other processes."""

    def __init__(self, near: Swap, far: Swap) -> None:
        self._near, self._far = near, far

    def start(self) -> None:
        """Send all outgoing buffers."""
        self._far.start()
        self._near.start()

    def finish(self, rest: float = 0.0) -> None:
        """Fill all incoming buffers."""
        self._far.finish(rest)  # first: who waits for MPI also advances others' messages
        self._near.finish(rest)

    def settle(self) -> None:
        """Wait until all outgoing buffers may be reused."""
        self._far.settle()
        self._near.settle()


class HybridComm:
    """The Comm of one device among the k devices of all processes.

    near: the thread's ThreadComm in its process. mpi: the processes.
    """

    def __init__(self, near: ThreadComm, mpi: MpiComm, k: int) -> None:
        self.near, self.mpi, self.size = near, mpi, k
        self._starts = [devices_of_process(mpi, k, p).start for p in range(mpi.size)] + [k]
        self.rank = self._starts[mpi.rank] + near.rank

    def barrier(self) -> None:
        """Wait until all devices have called this."""
        self.near.barrier()
        self._led(self.mpi.barrier)

    def allgather(self, value: T) -> list[T]:
        """Return the values of all devices, by device number."""
        own = self.near.allgather(value)
        return self._led(lambda: [one for of in self.mpi.allgather(own) for one in of])

    def bcast(self, value: T, root: int = 0) -> T:
        """Return the value of device `root`."""
        return self.allgather(value if self.rank == root else None)[root]  # type: ignore[return-value]

    def exchange(self, parts: Sequence[T]) -> list[T]:
        """Send parts[d] to each device d; return what each device sent to this one."""
        own = self.near.allgather(parts)
        return self._led(lambda: self._exchanged(own))[self.near.rank]

    def rest(self) -> None:
        """Wait until all devices have called this, and sleep meanwhile instead of polling."""
        self.near.barrier()
        self._led(self.mpi.rest)

    def send(self, data: bytearray | memoryview, to: int) -> None:
        """Send bytes to one device."""
        process, place = self._home(to)
        if process == self.mpi.rank:
            self.near.send(data, place)
        else:
            self.mpi.send(data, process, _tag(self.near.rank, place))

    def receive(self, buffer: bytearray | memoryview, source: int) -> int:
        """Receive bytes; return the number of bytes."""
        process, place = self._home(source)
        if process == self.mpi.rank:
            return self.near.receive(buffer, place)
        return self.mpi.receive(buffer, process, _tag(place, self.near.rank))

    def swap(self, outgoing: Buffers, incoming: Buffers, *, sized: bool = False) -> Swap:
        """Return an exchange with threads and processes."""
        near_out, far_out = self._divided(outgoing, lambda place: _tag(self.near.rank, place))
        near_in, far_in = self._divided(incoming, lambda place: _tag(place, self.near.rank))
        near = self.near.swap(near_out, near_in, sized=sized)
        return SwapOfBoth(near, self.mpi.tagged(far_out, far_in, sized=sized))

    def beside(self) -> tuple[int, int]:
        """Return the range of this device alone: no memory is shared, so moved rows are copied."""
        return self.rank, self.rank + 1

    def memory(self, n_bytes: int) -> Memory:
        """Return memory of only this device."""
        return alone(n_bytes)

    def _led(self, work: Callable[[], T]) -> T:
        """Call work() on the first thread, and return its result on all threads."""
        found = work() if self.near.rank == 0 else None
        return self.near.bcast(found)  # type: ignore[return-value]

    def _exchanged(self, own: list[Sequence[T]]) -> list[list[T]]:
        """Return, for each thread of this process, what all devices have sent to it."""
        starts, me = self._starts, self.mpi.rank
        sent = [
            [list(parts[a:b]) for parts in own] if process != me else []
            for process, (a, b) in enumerate(pairwise(starts))
        ]
        found = self.mpi.exchange(sent)
        found[me] = [list(parts[starts[me] : starts[me + 1]]) for parts in own]
        return [[parts[place] for of in found for parts in of] for place in range(self.near.size)]

    def _home(self, device: int) -> tuple[int, int]:
        """Return a device's process, and its place in that process."""
        process = device * self.mpi.size // self.size
        return process, device - self._starts[process]

    def _divided(self, buffers: Buffers, tag: Callable[[int], int]) -> tuple[Buffers, Tagged]:
        """Split buffers: those for this process by place, the others by process and tag."""
        near, far = {}, {}
        for device, buffer in buffers.items():
            process, place = self._home(device)
            if process == self.mpi.rank:
                near[place] = buffer
            else:
                far[process, tag(place)] = buffer
        return near, far


def run_hybrid(mpi: MpiComm, k: int, work: Callable[[Comm], T]) -> list[T]:
    """Run work(comm) for each of this process's devices; return the results in order.

    k: number of devices of all processes. Raises the error of the first device that failed, and the
    errors of `devices_of_process`.
    """
    devices = devices_of_process(mpi, k)
    shared = Shared(len(devices), [0] * len(devices), mpi.waits.timeout + LONGER, mpi.waits.names)
    nears = [ThreadComm(place, len(devices), shared) for place in range(len(devices))]
    return play_ranks([HybridComm(near, mpi, k) for near in nears], work, shared.stop)


def _tag(source: int, to: int) -> int:
    """Return the tag of messages between two devices, by their places in their processes."""
    return 1 + source * MOST_DEVICES + to

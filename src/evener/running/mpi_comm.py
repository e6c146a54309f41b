"""MpiComm: communication between MPI processes. The only file that imports mpi4py."""

from __future__ import annotations

import io
import os
import pickle
import stat
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn, Self, TypeVar

import numpy as np
import numpy.typing as npt

from evener.errors import ToolError, UsageError
from evener.running.comm import Comm
from evener.running.failures import MESSAGE, MpiWaits, Names
from evener.running.guarding import Guard, enter_mpi
from evener.running.sharing import Memory, computer, in_common, run_around
from evener.running.swaps import Buffer, Buffers, MpiSwap, Swap, Tagged

T = TypeVar("T")
SLOT = 256  # bytes that a rank sends in the first message of allgather, its length included
LENGTH = 8  # bytes of that length
STDERR = 2  # its file descriptor
LONGEST = 2.0  # [s] for the reader of stderr to read it, before a rank ends all others
REST = 2e-3  # [s] between two checks of whether all was read
END_REST = 5e-3  # [s] between two checks of whether all have ended; each rank waits once


class MpiComm:
    """Ranks of an mpi4py communicator, by default MPI.COMM_WORLD.

    Raises ToolError if mpi4py is missing, or uses MPICH although Open MPI started the ranks.
    """

    def __init__(self, comm: Any = None) -> None:
        enter_mpi()
        self._mpi: Any = _started_mpi()
        self._comm = self._mpi.COMM_WORLD if comm is None else comm
        self.rank, self.size = int(self._comm.Get_rank()), int(self._comm.Get_size())
        self._beside: tuple[int, int] | None = None
        self._guard: Guard | None = None
        self._whose: Any = None  # the communicator of which `_comm` is the duplicate
        self.waits = MpiWaits(self._mpi, self._comm)

    def barrier(self) -> None:
        """Wait until all ranks have called this."""
        self.waits.until(self._comm.Ibarrier().Test)

    def allgather(self, value: T) -> list[T]:
        """Return the values of all ranks, by rank; small values need only one message."""
        content = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
        own, slots = np.zeros(SLOT, np.uint8), np.empty((self.size, SLOT), np.uint8)
        own[:LENGTH].view(np.int64)[0] = len(content)
        if len(content) <= SLOT - LENGTH:
            own[LENGTH : LENGTH + len(content)] = np.frombuffer(content, np.uint8)
        self.waits.until(self._comm.Iallgather(own, slots).Test)
        lengths = slots[:, :LENGTH].copy().view(np.int64)[:, 0]
        if lengths.max() <= SLOT - LENGTH:
            return [
                pickle.loads(slot[LENGTH : LENGTH + n].data)
                for slot, n in zip(slots, lengths, strict=True)
            ]
        whole = np.empty(int(lengths.sum()), np.uint8)
        request = self._comm.Iallgatherv(content, [whole, lengths, None, self._mpi.BYTE])
        self.waits.until(request.Test)
        return _unpickled(whole, lengths)

    def bcast(self, value: T, root: int = 0) -> T:
        """Return the value of rank `root`."""
        content, length = b"", np.zeros(1, np.int64)
        if self.rank == root:
            content = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
            length[0] = len(content)
        self.waits.until(self._comm.Ibcast(length, root=root).Test)
        buffer = np.empty(int(length[0]), np.uint8)
        if self.rank == root:
            buffer[:] = np.frombuffer(content, np.uint8)
        self.waits.until(self._comm.Ibcast(buffer, root=root).Test)
        result: T = pickle.loads(buffer.data)
        return result

    def exchange(self, parts: Sequence[T]) -> list[T]:
        """Send parts[r] to each rank r; return what each rank sent to this one."""
        content, sent = io.BytesIO(), np.zeros(self.size, np.int64)  # one copy of what is sent
        for rank, part in enumerate(parts):
            pickle.dump(part, content, pickle.HIGHEST_PROTOCOL)
            sent[rank] = content.tell() - sent.sum()
        lengths = np.empty_like(sent)
        self.waits.until(self._comm.Ialltoall(sent, lengths).Test)
        whole, byte = np.empty(int(lengths.sum()), np.uint8), self._mpi.BYTE
        request = self._comm.Ialltoallv(
            [content.getbuffer(), sent, None, byte], [whole, lengths, None, byte]
        )
        self.waits.until(request.Test)
        del content, request
        return _unpickled(whole, lengths)

    def rest(self) -> None:
        """Wait until all ranks have called this, and sleep to leave cores to the others."""
        self.waits.until(self._comm.Ibarrier().Test, 1e-3)

    def send(self, data: bytearray | memoryview, to: int, tag: int = MESSAGE) -> None:
        """Send bytes to a rank that calls `receive`."""
        self._comm.Send(data, dest=to, tag=tag)

    def receive(self, buffer: bytearray | memoryview, source: int, tag: int = MESSAGE) -> int:
        """Receive bytes, at most as many as the buffer holds; return the number of bytes."""
        status = self._mpi.Status()
        self._comm.Recv(buffer, source=source, tag=tag, status=status)
        return int(status.Get_count())

    def swap(self, outgoing: Buffers, incoming: Buffers, *, sized: bool = False) -> Swap:
        """Return an exchange of persistent requests."""
        return self.tagged(
            {(rank, MESSAGE): buffer for rank, buffer in outgoing.items()},
            {(rank, MESSAGE): buffer for rank, buffer in incoming.items()},
            sized=sized,
        )

    def tagged(self, outgoing: Tagged, incoming: Tagged, *, sized: bool = False) -> MpiSwap:
        """Return an exchange of buffers by rank and tag; two ranks may exchange several buffers."""
        return MpiSwap(self._comm, self.waits, outgoing, incoming, sized=sized)

    @property
    def takes_device_memory(self) -> bool:
        """Whether MPI states that buffers of a swap may be arrays on CUDA devices.

        Read from the kinds of memory that MPI 4.1 lists for a communicator (its section 12.4.3).
        """
        info = self._comm.Get_info()
        kinds = (info.Get("mpi_memory_alloc_kinds") or "").split(",")
        info.Free()
        return any(kind.split(":")[0] == "cuda" for kind in kinds)

    def check_threads(self, devices: int, most: int) -> None:
        """Check that a process can have this number of devices, each with a thread.

        Raises UsageError for more than `most` devices, ToolError if only one thread may call MPI.
        """
        if devices > most:
            raise UsageError(f"a process can have at most {most} devices, not {devices}")
        if devices > 1 and self._mpi.Query_thread() < self._mpi.THREAD_MULTIPLE:
            raise ToolError(
                "only one thread of a process can send with this MPI (it lacks "
                "MPI_THREAD_MULTIPLE)",
                hint="Start one rank for each device.",
            )

    def beside(self) -> tuple[int, int]:
        """Return the range (first, end) of consecutive ranks around this one on this computer.

        All ranks must make the first call.
        """
        if self._beside is None:
            self._beside = run_around(self.rank, self.allgather(computer()))
        return self._beside

    @property
    def shares_memory(self) -> bool:
        """Whether all ranks share a computer and their threads may call MPI; all ranks call."""
        is_free = bool(self._mpi.Query_thread() == self._mpi.THREAD_MULTIPLE)
        return self.beside() == (0, self.size) and is_free

    def memory(self, n_bytes: int) -> Memory | None:
        """Return shared memory, or None; all ranks in the range of `beside` call this."""
        return in_common(n_bytes, self.rank, range(*self.beside()), self._tell)

    def _tell(self, outgoing: Buffers, incoming: Buffers) -> None:
        swap = self.swap(outgoing, incoming)
        swap.start()
        swap.finish()

    def watch(self) -> None:
        """Start a guard that reports which rank is killed; all ranks call this."""
        near = self._comm.Split_type(self._mpi.COMM_TYPE_SHARED, self.rank)
        self._guard = Guard(near, self.rank)
        near.Free()

    def describe(self, names: Names, timeout: float, hint: str = "") -> None:
        """Set the names of ranks for messages, the timeout, and the hint for a killed rank."""
        self.waits.names, self.waits.timeout = names, timeout
        if self._guard is not None:
            self._guard.describe(names, hint)

    def fail(self, error: BaseException) -> None:
        """Stop all other ranks that wait, with an error that names this one.

        Works only on a duplicate made by `comm_of`, which is then discarded, because unfinished
        calls on it never end; the next `comm_of` makes a new one. Does nothing if all ranks are
        known to have the error.
        """
        if self._whose is None or getattr(error, "is_everywhere", False):
            return
        if not self.waits.has_failed:
            self.waits.fail(error)
        self._whose.Delete_attr(_duplicates[0])
        self._whose = None

    def abort(self, code: int = 1) -> NoReturn:
        """End all ranks, after this rank has printed the reason."""
        sys.stderr.flush()
        wait_until_read(STDERR)
        if self._guard is not None:
            self._guard.ended(in_order=False)
        self._comm.Abort(code)
        os._exit(code)  # MPICH's Abort returns before the launcher has ended all ranks

    def end(self) -> None:
        """Finalize MPI once all ranks have finished, for example writing results; sleep meanwhile.

        Until MPI is finalized, the death of a rank would end the others, too; the guard names the
        killed rank.
        """
        request = self._comm.Ibarrier()
        while not request.Test():
            time.sleep(END_REST)
        self._mpi.Finalize()
        if self._guard is not None:
            self._guard.ends_in_order()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """If this rank fails, abort all ranks, because the others would wait for it forever."""
        if error is not None and self.size > 1:
            traceback.print_exception(error, file=sys.stderr)
            self.abort()
        if self._guard is not None:
            self._guard.ended()


def _unpickled(whole: Buffer, lengths: npt.NDArray[np.int64]) -> list[Any]:
    """Unpickle values from consecutive byte strings of these lengths."""
    ends = np.cumsum(lengths)
    return [pickle.loads(whole[end - n : end].data) for end, n in zip(ends, lengths, strict=True)]


def _started_mpi() -> Any:
    """Return mpi4py's MPI, started. Raises ToolError as MpiComm does."""
    try:
        from mpi4py import rc

        by_openmpi = rc.initialize and "OMPI_COMM_WORLD_SIZE" in os.environ
        if by_openmpi:  # MPICH would end the process: compare before it starts
            rc.initialize, rc.finalize = False, rc.finalize is not False
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise ToolError(
            "mpi4py is not installed, or finds no MPI",
            hint="python -m pip install 'evener[mpi]'",
        ) from error
    if by_openmpi and not MPI.Is_initialized():
        library = " ".join(MPI.Get_library_version().partition("\n")[0].split())
        if "MPICH" in library:
            own = Path(sys.executable).with_name("mpiexec")
            raise ToolError(
                f"Open MPI's mpiexec started the ranks, but mpi4py uses {library}",
                hint="mpiexec and mpi4py must belong to the same MPI."
                + (f" Try {own}." if own.exists() else ""),
            )
        level = rc.thread_level if rc.threads else "single"
        MPI.Init_thread(getattr(MPI, f"THREAD_{level.upper()}"))
    return MPI


_duplicates: list[int] = []  # key under which a communicator of mpi4py stores its duplicate


def comm_of(given: Any) -> Comm:
    """Return a Comm unchanged; for an mpi4py communicator, return its duplicate as an MpiComm.

    All ranks create the duplicate together, at the first call, so that messages are never mixed
    with those of other libraries.
    """
    if not hasattr(given, "Get_rank"):
        known: Comm = given
        return known
    from mpi4py import MPI

    if not _duplicates:
        _duplicates.append(MPI.Comm.Create_keyval())
    if given.Get_attr(_duplicates[0]) is None:
        given.Set_attr(_duplicates[0], given.Dup())
    found = MpiComm(given.Get_attr(_duplicates[0]))
    found._whose = given  # noqa: SLF001 - of this module
    return found


def wait_until_read(file: int) -> bool:
    """Wait at most LONGEST s for a pipe's reader to read everything; return whether it has.

    Returns True at once if the file is not a pipe. Needed because MPICH's launcher, when asked to
    end all ranks, no longer reads what a rank has just written.
    """
    if sys.platform != "linux" or not stat.S_ISFIFO(os.fstat(file).st_mode):
        return True
    import array
    import fcntl
    import termios

    unread, began = array.array("i", [0]), time.monotonic()
    while True:
        fcntl.ioctl(file, termios.FIONREAD, unread)
        if unread[0] == 0 or time.monotonic() - began > LONGEST:
            return unread[0] == 0
        time.sleep(REST)

"""A guard: a process on each computer that reports which rank was killed, and ends the others.

If the launcher sets ranks in environment variables, as MPICH, Intel MPI and Open MPI do, the first
rank that begins on a computer starts the guard before MPI; otherwise it is started after MPI.

Works only on Linux; elsewhere, nothing is watched. guard_child.py is the guard's program.
"""

from __future__ import annotations

import atexit
import os
import stat
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evener.running.guard_child import (
    BEGUN,
    ENDED,
    FAILED,
    IN_MPI,
    WATCHED,
    environment,
    lifeline_at,
    start_of,
    text_at,
    watch_launched,
)

if TYPE_CHECKING:
    from evener.running.failures import Names

# Per launcher: variables of the rank, the rank and size on this computer, and the number of ranks.
STATED = (
    ("PMI_RANK", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "PMI_SIZE"),  # MPICH, Intel MPI
    (
        "OMPI_COMM_WORLD_RANK",
        "OMPI_COMM_WORLD_LOCAL_RANK",
        "OMPI_COMM_WORLD_LOCAL_SIZE",
        "OMPI_COMM_WORLD_SIZE",
    ),
)
MOST_FILES = 4096  # most files that are open when a process starts
LIFELINE = 1023  # number of the open file of a lifeline, above those of a launcher and of MPI
GUARD_NAME = "evener-guard"  # name of the process in ps and top


class _Flags(NamedTuple):
    """A file that ranks and guard share, as guard_child.py describes it, and this rank's place."""

    file: int
    path: Path
    place: int
    ranks: int

    def begun(self) -> None:
        """Write where this rank's lifeline is, and that the rank has begun."""
        number = _lifeline().to_bytes(2, "little")
        os.pwrite(self.file, number, lifeline_at(self.ranks, self.place))
        self.note(BEGUN)

    def note(self, state: int) -> None:
        """Write the state of this rank."""
        os.pwrite(self.file, bytes([state]), self.place)


_early: list[_Flags] = []
_open: list[Guard] = []


def begin() -> None:
    """Start the guard of this computer's ranks, before MPI and large packages are loaded.

    All ranks call this; it does nothing if the launcher sets no ranks in environment variables.
    """
    stated = next((names for names in STATED if all(name in os.environ for name in names)), None)
    if stated is None or _early or not hasattr(os, "pidfd_open"):
        return
    place, count = (int(os.environ[name]) for name in stated[1:3])
    if count < 2:
        return  # the only rank of a computer starts its guard with MPI
    launcher = os.getppid()
    with suppress(OSError):  # if this fails, the guard starts with MPI
        if stated[1] in environment(launcher):
            return  # the parent is a program of this rank only, such as a shell
        name = f"evener-{os.getuid()}-{launcher}-{start_of(launcher)}"
        path = Path(tempfile.gettempdir(), name)
        file, is_new = _in_common(path)
        _early.append(_Flags(file, path, place, count))
        _early[0].begun()
        if is_new:
            _fork(_early[0], (launcher, count), (stated[0], stated[1], stated[3]))


@cache
def _lifeline() -> int:
    """Open a pipe that only the end of this process closes; return the end to read from.

    The end to write to gets a high number: files with lower ones close after it.
    """
    import fcntl
    import resource

    end, low = os.pipe()
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, min(limit, LIFELINE + 1) - 1)
    os.close(low)
    return end


def enter_mpi() -> None:
    """Record that this rank starts MPI, where it waits for all others."""
    for flags in _early:
        flags.note(IN_MPI)


def own_name() -> str:
    """Return "rank 3: " if a launcher started this process as one of several, else ""."""
    for rank, *_, size in STATED:
        if os.environ.get(size, "1") != "1" and rank in os.environ:
            return f"rank {os.environ[rank]}: "
    return ""


class Guard:
    """A rank's connection to the guard of its computer.

    near: communicator of the ranks of this computer, each of which creates a Guard. rank: this
    rank's number among all ranks.
    """

    def __init__(self, near: Any, rank: int) -> None:
        self._flags: _Flags | None = None
        self._has_ended = self._is_in_order = False
        if not hasattr(os, "pidfd_open"):
            return
        own = _early[0] if _early else None
        stated = None if own is None else (own.path, own.ranks, own.place - near.Get_rank())
        ranks = near.allgather((os.getpid(), rank, stated))
        self._ranks = [one for _, one, _ in ranks]
        alike = own is not None and {one for *_, one in ranks} == {(own.path, len(ranks), 0)}
        watched = alike and own is not None and os.pread(own.file, 1, own.ranks) == WATCHED
        if near.bcast(watched):
            self._flags = own
        else:
            self._flags = _new(near, [(pid, one) for pid, one, _ in ranks])
        if own is not None:
            own.path.unlink(missing_ok=True)
        _open.append(self)

    def describe(self, names: Names, hint: str) -> None:
        """Send the guard the names of ranks, and the hint to print if a rank is killed."""
        from evener.wording import printable  # here: no large module precedes the guard

        flags = self._flags
        if flags is not None and flags.place == 0:
            lines = [hint, *(printable(names.of(rank)) for rank in self._ranks)]
            os.pwrite(flags.file, "\n".join(lines).encode(), text_at(flags.ranks))

    def ends_in_order(self) -> None:
        """Declare that this rank will end normally.

        Called as late as possible, because a kill is reported only before this call.
        """
        self._is_in_order = True

    def ended(self, *, in_order: bool = True) -> None:
        """Record that this rank ends, normally or after its error message."""
        self._has_ended = True
        if self._flags is not None:
            self._flags.note(ENDED if in_order else FAILED)


def end_all() -> None:
    """Record that this process ends by itself, normally or after its error message."""
    for guard in _open:
        if not guard._has_ended:  # noqa: SLF001 - of this module
            guard.ended(in_order=guard._is_in_order)  # noqa: SLF001
    for flags in () if _open else _early:
        flags.note(FAILED)


atexit.register(end_all)


def leave(code: int) -> int:
    """Exit at once with this code if this rank has ended normally; otherwise return the code.

    Python would take tenths of a second to free its memory; if a rank is killed in this time, the
    launcher reports a failure. The exit functions of C libraries do run: only in them does MPICH
    tell its launcher that the rank has ended; without that, the launcher kills ranks that end a
    moment later.
    """
    if any(guard._is_in_order for guard in _open):  # noqa: SLF001
        import ctypes

        sys.stdout.flush()
        sys.stderr.flush()
        atexit._run_exitfuncs()  # noqa: SLF001 - what Python calls at its end, too
        ctypes.PyDLL(None).exit(code)  # keeps Python's lock, so that other threads wait
    return code


def _in_common(path: Path) -> tuple[int, bool]:
    """Return an open file that only this user can access, and whether this call created it.

    Raises PermissionError if another user created the file, or if it is a link.
    """
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), True
    except FileExistsError:
        file = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    found = os.fstat(file)
    is_own = found.st_uid == os.getuid() and found.st_nlink <= 1 and not found.st_mode & 0o077
    if not (stat.S_ISREG(found.st_mode) and is_own):
        os.close(file)
        sys.stderr.write(
            f"evener: {path} belongs to another user: ranks are watched only after "
            f"MPI has started\n"
        )
        raise PermissionError(path)
    return file, False


def _fork(flags: _Flags, numbers: tuple[int, int], variables: tuple[str, str, str]) -> None:
    """Run the guard in a fork of this process, which has only one thread and is still small."""
    if os.fork():
        return
    try:
        os.setsid()
        Path("/proc/self/comm").write_text(GUARD_NAME, encoding="ascii")
        empty = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1):
            os.dup2(empty, standard)
        os.closerange(3, flags.file)  # such as the launcher's, which it waits to see closed
        os.closerange(flags.file + 1, MOST_FILES)
        watch_launched(flags.file, str(flags.path), numbers, variables)
    finally:
        os._exit(0)


def _new(near: Any, ranks: Sequence[tuple[int, int]]) -> _Flags:
    """Start a guard for these processes and ranks; all ranks of the computer call this."""
    for flags in _early:
        flags.note(FAILED)  # stops an early guard that did not find all ranks; it prints nothing
    place = int(near.Get_rank())
    path = Path(near.bcast(_empty_file() if place == 0 else None))
    found = _Flags(os.open(path, os.O_RDWR), path, place, len(ranks))
    found.begun()
    found.note(IN_MPI)
    near.Barrier()
    if place == 0:
        path.unlink()
        _start(found.file, [word for pid, rank in ranks for word in (str(pid), f"rank {rank}")])
    return found


def _empty_file() -> str:
    file, path = tempfile.mkstemp(prefix="evener-")
    os.close(file)
    return path


def _start(file: int, words: Sequence[str]) -> None:
    import subprocess

    script = str(Path(__file__).with_name("guard_child.py"))
    subprocess.Popen(
        [sys.executable, "-I", "-S", script, str(file), *words],
        start_new_session=True,
        pass_fds=(file,),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )

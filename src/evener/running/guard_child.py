"""Watches the ranks of one computer from a process of its own, and says which of them was killed.

Runs as a script, without the package: a launcher of MPI ends the ranks that are left within
milliseconds after one was killed, so none of them could say it.

python guard_child.py FLAGS PID NAME PID NAME ...

FLAGS is an open file with a byte for each rank, which says how it has ended, and one that says
whether all are watched; then, once they are known, lines: what to do, better names of all. A copy
of the first rank calls `watch_launched` instead, before MPI starts.
"""

import os
import select
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

ENDED, FAILED = b"\1", b"\2"  # in order, or after it has said itself what was wrong
WATCHED = b"\1"
MOST = 1 << 20  # bytes of names
GRACE = 1.0  # seconds that the launcher has to end the ranks that are left
SEARCH, PAUSE = 2.0, 0.002  # seconds: ranks are looked for so long, and so often
PARENT, START = 1, 19  # places in /proc/PID/stat, counted from the state, which follows the name


def main(flags: int, pids: list[int], names: list[str]) -> None:
    """Return when all ranks have ended, or one was killed and the others are ended, too."""
    out_of_memory = _kills_for_memory()
    watched: dict[int, int] = {}
    events = select.epoll()
    for rank, pid in enumerate(pids):
        try:
            file = os.pidfd_open(pid)
        except ProcessLookupError:
            _tell(flags, names, rank, out_of_memory)
            _end(events, watched)
            return
        watched[file] = rank
        events.register(file, select.EPOLLIN)
    os.pwrite(flags, WATCHED, len(pids))
    while watched:
        for file, _ in events.poll():  # in the order in which they ended
            rank = watched.pop(file)
            events.unregister(file)
            states = os.pread(flags, len(pids), 0)
            if FAILED in states:
                return
            if states[rank : rank + 1] != ENDED:
                _tell(flags, names, rank, out_of_memory)
                _end(events, watched)
                return


def found(
    starter: int, launcher: int, count: int, rank: str, place: str
) -> tuple[list[int], list[str]] | None:
    """Return processes and names of the `count` ranks that a launcher has started, by place.

    rank, place: names of environment variables: the rank among all, the place on this computer.
    None where they are not all there within SEARCH seconds, or process `starter` has ended, whose
    child this is.
    """
    end = time.monotonic() + SEARCH
    while time.monotonic() < end and os.getppid() == starter:
        seen: dict[int, tuple[int, str]] = {}
        for pid in _children(launcher):
            with suppress(OSError, KeyError):  # has ended, or is the launcher's own
                stated = _environment(pid)
                seen[int(stated[place])] = pid, f"rank {stated[rank]}"
        if sorted(seen) == list(range(count)):
            return [seen[i][0] for i in range(count)], [seen[i][1] for i in range(count)]
        time.sleep(PAUSE)
    return None


def start_of(pid: int) -> str:
    """Return when a process started, which with its number is its own alone."""
    return _stat(pid)[START]


def _children(parent: int) -> list[int]:
    pids = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            if _stat(int(folder.name))[PARENT] == str(parent):
                pids.append(int(folder.name))
    return pids


def _stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()


def _environment(pid: int) -> dict[str, str]:
    words = Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace").split("\0")
    return dict(word.split("=", 1) for word in words if "=" in word)


def _tell(flags: int, names: list[str], rank: int, out_of_memory: int) -> None:
    said = os.pread(flags, MOST, len(names) + 1).decode()
    hint, *better = said.split("\n")
    name = (better or names)[rank]
    sys.stderr.write(f"evener: {name} was killed\n" + (f"{hint}\n" if hint else ""))
    sys.stderr.flush()  # at once: soon the launcher, which passes it on, is gone
    if _kills_for_memory() > out_of_memory:
        sys.stderr.write("evener: the computer has run out of memory\n")
        sys.stderr.flush()


def _end(events: select.epoll, watched: dict[int, int]) -> None:
    """End the processes that are left, where no launcher does it in time."""
    end = time.monotonic() + GRACE
    while watched and time.monotonic() < end:
        for file, _ in events.poll(max(end - time.monotonic(), 0)):
            del watched[file]
            events.unregister(file)
    for file in watched:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(file, signal.SIGKILL)


def _kills_for_memory() -> int:
    """Return how many processes Linux has killed so far because memory had run out."""
    try:
        lines = Path("/proc/vmstat").read_text(encoding="ascii").split("\n")
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("oom_kill "))


def watch_launched(
    flags: int, path: str, numbers: tuple[int, int, int], variables: tuple[str, str]
) -> None:
    """Watch the ranks that a launcher has started; remove the file, which is at `path`.

    numbers, variables: as `found` takes them.
    """
    try:
        ranks = found(*numbers, *variables)
        if ranks is not None:
            main(flags, *ranks)
    finally:
        Path(path).unlink(missing_ok=True)


if __name__ == "__main__":
    own, *given = sys.argv[1:]
    main(int(own), [int(pid) for pid in given[::2]], given[1::2])

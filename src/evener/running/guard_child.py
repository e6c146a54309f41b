"""Watches the ranks of one computer from a separate process, and reports which rank was killed.

Runs as a script, without the package. A separate process is needed because an MPI launcher ends the
remaining ranks within milliseconds after one was killed, so that none of them could report it. If a
rank ends before MPI has started, no launcher ends the ranks that wait for it, so this process does.

    python guard_child.py FLAGS PID NAME PID NAME ...

FLAGS is an open file with one byte per rank, its state, and a byte that is set when all ranks are
watched. Lines of text follow once they are known: a hint for the user, then the names of all ranks.
Alternatively, a fork of the first rank that begins calls `watch_launched` before MPI starts.
"""

import os
import select
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

# States of a rank; 0 before it begins. ENDED: in order; FAILED: after its error message.
ENDED, FAILED, BEGUN, IN_MPI = 1, 2, 3, 4
WATCHED = b"\1"
MOST = 1 << 20  # most bytes of the hint and the names
GRACE = 1.0  # seconds in which the remaining ranks must end, by the launcher or by themselves
SEARCH, PAUSE = 2.0, 0.002  # seconds: how long ranks are searched for, the pause between searches
REST = 0.02  # seconds between two checks of the states of the remaining ranks
PARENT, START = 1, 19  # fields of /proc/PID/stat, counted from the state, which follows the name


def main(flags: int, ranks: list[int | None], names: list[str]) -> None:
    """Return when all ranks have ended, or when one was killed and the others have been ended.

    ranks: open files of their processes (pidfd), or None for a rank that has already ended.
    """
    out_of_memory = _kills_for_memory()
    events = select.epoll()
    watched = {file: place for place, file in enumerate(ranks) if file is not None}
    for file in watched:
        events.register(file, select.EPOLLIN)
    os.pwrite(flags, WATCHED, len(ranks))
    gone = [place for place, file in enumerate(ranks) if file is None]
    lost = 0.0  # when a rank ended without the others [s]
    said = ""  # message about it if others wait for it
    while gone or watched:
        for place in gone if not lost else ():
            states, called = _states(flags, len(ranks)), _names(flags, names)
            if FAILED in states:  # the launcher may have ended this rank because of that one
                lost = time.monotonic()
                said = f"{called[states.index(FAILED)]} has ended, and other ranks waited for it"
            elif states[place] == 0:
                lost = time.monotonic()
                _tell(flags, names, f"{called[place]} has ended before it started Evener")
            elif states[place] != ENDED:
                _tell(flags, names, f"{called[place]} was killed")
                if _kills_for_memory() > out_of_memory:
                    _say("the computer has run out of memory")
                _end(events, watched)
                return
        if lost and time.monotonic() > lost + GRACE:
            states = _states(flags, len(ranks))
            waiting = [file for file, place in watched.items() if states[place] == IN_MPI]
            if waiting and said:
                _tell(flags, names, said)
                said = ""
            for file in waiting:
                _kill(file)
                del watched[file]
                events.unregister(file)
        # In the order in which they ended.
        ended = [file for file, _ in events.poll(REST if lost else None)] if watched else []
        gone = [watched.pop(file) for file in ended]
        for file in ended:
            events.unregister(file)


def found(
    flags: int, launcher: int, count: int, rank: str, place: str, size: str
) -> tuple[list[int | None], list[str]] | None:
    """Return processes and names of the `count` ranks that a launcher has started here, by place.

    rank, place, size: names of the environment variables that give the rank among all ranks, the
    place on this computer, and the number of all ranks. A rank that is not found within SEARCH
    seconds counts as ended if its state says so, or if all children of the launcher are known to be
    other ranks; otherwise None is returned.
    """
    end = time.monotonic() + SEARCH
    seen: dict[int, tuple[int, str]] = {}
    while True:
        others = False
        for pid in _children(launcher):
            try:
                stated = environment(pid)
                if int(stated[place]) not in seen:
                    seen[int(stated[place])] = os.pidfd_open(pid), f"rank {stated[rank]}"
            except (ProcessLookupError, FileNotFoundError):  # the process has ended
                continue
            except (OSError, KeyError):  # it is unknown whose process this is
                others = True
        missing = [i for i in range(count) if i not in seen]
        if not missing or time.monotonic() > end:
            break
        time.sleep(PAUSE)
    states = _states(flags, count)
    if others and any(states[i] not in (ENDED, FAILED) for i in missing):
        return None
    is_alone = os.environ.get(size) == str(count)  # this computer runs all ranks
    both = [seen.get(i, (None, f"rank {i}" if is_alone else "a rank")) for i in range(count)]
    return [file for file, _ in both], [name for _, name in both]


def start_of(pid: int) -> str:
    """Return the start time of a process; together with the PID it identifies the process."""
    return _stat(pid)[START]


def environment(pid: int) -> dict[str, str]:
    """Return the initial environment of a process. Raises OSError if it may not be read."""
    words = Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace").split("\0")
    return dict(word.split("=", 1) for word in words if "=" in word)


def _children(parent: int) -> list[int]:
    """Return the PIDs of the children of a process that have not ended."""
    pids = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # the process has ended
            stat = _stat(int(folder.name))
            if stat[PARENT] == str(parent) and stat[0] not in "ZX":
                pids.append(int(folder.name))
    return pids


def _stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()


def _states(flags: int, count: int) -> bytes:
    return os.pread(flags, count, 0).ljust(count, b"\0")


def _lines(flags: int, names: list[str]) -> list[str]:
    return os.pread(flags, MOST, len(names) + 1).decode(errors="backslashreplace").split("\n")


def _names(flags: int, names: list[str]) -> list[str]:
    """Return the names that ranks have written, or `names` if they have not written any yet."""
    better = _lines(flags, names)[1:]
    return better if len(better) == len(names) else names


def _tell(flags: int, names: list[str], what: str) -> None:
    hint = _lines(flags, names)[0]
    _say(what + (f"\n{hint}" if hint else ""))


def _say(what: str) -> None:
    sys.stderr.write(f"evener: {what}\n")
    sys.stderr.flush()  # at once: the launcher, which forwards it, will soon be gone


def _end(events: select.epoll, watched: dict[int, int]) -> None:
    """Wait GRACE seconds for the remaining processes to end, then kill those still running."""
    end = time.monotonic() + GRACE
    while watched and time.monotonic() < end:
        for file, _ in events.poll(max(end - time.monotonic(), 0)):
            del watched[file]
            events.unregister(file)
    for file in watched:
        _kill(file)


def _kill(file: int) -> None:
    with suppress(ProcessLookupError):
        signal.pidfd_send_signal(file, signal.SIGKILL)


def _opened(pid: int) -> int | None:
    """Return an open file of a process (pidfd), or None if it has ended."""
    with suppress(ProcessLookupError):
        return os.pidfd_open(pid)
    return None


def _kills_for_memory() -> int:
    """Return how many processes Linux has killed so far because it ran out of memory."""
    try:
        lines = Path("/proc/vmstat").read_text(encoding="ascii").split("\n")
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("oom_kill "))


def watch_launched(
    flags: int, path: str, numbers: tuple[int, int], variables: tuple[str, str, str]
) -> None:
    """Watch the ranks that a launcher has started, then remove the file at `path`.

    numbers, variables: arguments of `found`.
    """
    try:
        ranks = found(flags, *numbers, *variables)
        if ranks is not None:
            main(flags, *ranks)
    finally:
        Path(path).unlink(missing_ok=True)


if __name__ == "__main__":
    own, *given = sys.argv[1:]
    main(int(own), [_opened(int(pid)) for pid in given[::2]], given[1::2])

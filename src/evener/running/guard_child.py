"""Watches the ranks of one computer from a process of its own, and says which of them was killed.

Runs as a script, without the package: a launcher of MPI ends the ranks that are left within
milliseconds after one was killed, so none of them could say it. Where a rank ends before MPI has
started, no launcher ends those that wait for it: this process does.

python guard_child.py FLAGS PID NAME PID NAME ...

FLAGS is an open file with a byte for each rank, its state, and one that says whether all are
watched; then, once they are known, lines: what to do, better names of all. A copy of the first
rank that begins calls `watch_launched` instead, before MPI starts.
"""

import os
import select
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

# States of a rank; 0 before it has begun. It ends in order, or after it has said what was wrong.
ENDED, FAILED, BEGUN, IN_MPI = 1, 2, 3, 4
WATCHED = b"\1"
MOST = 1 << 20  # bytes of names
GRACE = 1.0  # seconds that the ranks that are left have to end, by the launcher or by themselves
SEARCH, PAUSE = 2.0, 0.002  # seconds: ranks are looked for so long, and so often
REST = 0.02  # seconds between two looks at the states of the ranks that are left
PARENT, START = 1, 19  # places in /proc/PID/stat, counted from the state, which follows the name


def main(flags: int, ranks: list[int | None], names: list[str]) -> None:
    """Return when all ranks have ended, or one was killed and the others are ended, too.

    ranks: open files of their processes (pidfd); None of one that has ended already.
    """
    out_of_memory = _kills_for_memory()
    events = select.epoll()
    watched = {file: place for place, file in enumerate(ranks) if file is not None}
    for file in watched:
        events.register(file, select.EPOLLIN)
    os.pwrite(flags, WATCHED, len(ranks))
    gone = [place for place, file in enumerate(ranks) if file is None]
    lost = 0.0  # when a rank ended without the others
    said = ""  # what is to be said of it where they wait for it
    while gone or watched:
        for place in gone if not lost else ():
            states, called = _states(flags, len(ranks)), _names(flags, names)
            if FAILED in states:  # the launcher may have ended this one for it
                lost = time.monotonic()
                said = f"{called[states.index(FAILED)]} has ended, and other ranks waited for it"
            elif states[place] == 0:
                lost = time.monotonic()
                _tell(flags, names, f"{called[place]} has ended before it began")
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
    """Return processes and names of the `count` ranks that a launcher has started, by place.

    rank, place, size: names of environment variables: the rank among all, the place on this
    computer, how many ranks there are in all. A rank that is not seen within SEARCH seconds has
    ended if it has said so, or if all children of the launcher are known to be other ranks; else
    None is returned.
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
            except (ProcessLookupError, FileNotFoundError):  # has ended
                continue
            except (OSError, KeyError):  # whose, is not known
                others = True
        missing = [i for i in range(count) if i not in seen]
        if not missing or time.monotonic() > end:
            break
        time.sleep(PAUSE)
    states = _states(flags, count)
    if others and any(states[i] not in (ENDED, FAILED) for i in missing):
        return None
    is_alone = os.environ.get(size) == str(count)  # this computer has all ranks
    both = [seen.get(i, (None, f"rank {i}" if is_alone else "a rank")) for i in range(count)]
    return [file for file, _ in both], [name for _, name in both]


def start_of(pid: int) -> str:
    """Return when a process started, which with its number is its own alone."""
    return _stat(pid)[START]


def environment(pid: int) -> dict[str, str]:
    """Return the variables that a process has begun with; raises OSError where none may ask."""
    words = Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace").split("\0")
    return dict(word.split("=", 1) for word in words if "=" in word)


def _children(parent: int) -> list[int]:
    """Return the processes that a process has started and that have not ended."""
    pids = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
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
    """Return the names that ranks have written, once they have, else `names`."""
    better = _lines(flags, names)[1:]
    return better if len(better) == len(names) else names


def _tell(flags: int, names: list[str], what: str) -> None:
    hint = _lines(flags, names)[0]
    _say(what + (f"\n{hint}" if hint else ""))


def _say(what: str) -> None:
    sys.stderr.write(f"evener: {what}\n")
    sys.stderr.flush()  # at once: soon the launcher, which passes it on, is gone


def _end(events: select.epoll, watched: dict[int, int]) -> None:
    """End the processes that are left, where no launcher does it in time."""
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
    """Return an open file of a process, None where it has ended."""
    with suppress(ProcessLookupError):
        return os.pidfd_open(pid)
    return None


def _kills_for_memory() -> int:
    """Return how many processes Linux has killed so far because memory had run out."""
    try:
        lines = Path("/proc/vmstat").read_text(encoding="ascii").split("\n")
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("oom_kill "))


def watch_launched(
    flags: int, path: str, numbers: tuple[int, int], variables: tuple[str, str, str]
) -> None:
    """Watch the ranks that a launcher has started; remove the file, which is at `path`.

    numbers, variables: as `found` takes them.
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

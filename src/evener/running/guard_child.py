"""Watches the ranks of one computer from a separate process, and reports which rank was killed.

Runs as a script, without the package. A separate process is needed because an MPI launcher ends the
remaining ranks within milliseconds after one was killed, so that none of them could report it. If a
rank ends before MPI has started, no launcher ends the ranks that wait for it, so this process does.

    python guard_child.py FLAGS PID NAME PID NAME ...

FLAGS is an open file with one byte per rank, its state, a byte that is set when all ranks are
watched, and two bytes per rank, the number of its lifeline: a pipe that the rank never closes.
Lines of text follow once they are known: a hint for the user, then the names of all ranks.
Alternatively, a fork of the first rank that begins calls `watch_launched` before MPI starts.

Which of two ranks was killed first is known from their lifelines. When a process ends, Linux closes
its files from the highest number to the lowest: the lifeline before the connection to the launcher,
which ends the other ranks when it sees that connection closed. That the process itself has ended is
seen only later; on a busy computer, after the launcher has ended others.
"""

import os
import select
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

# States of a rank; 0 before it begins. ENDED: in order; FAILED: after its error message.
ENDED, FAILED, BEGUN, IN_MPI = 1, 2, 3, 4
WATCHED = b"\1"
MOST = 1 << 20  # most bytes of the hint and the names
GRACE = 1.0  # seconds in which the remaining ranks must end, by the launcher or by themselves
SEARCH, PAUSE = 2.0, 0.002  # seconds: how long ranks are searched for, the pause between searches
REST = 0.02  # seconds between two checks of the states of the remaining ranks
PARENT, START = 1, 19  # fields of /proc/PID/stat, counted from the state, which follows the name


class Rank(NamedTuple):
    """A rank's process, its open file (pidfd), which is None if it has ended, and its name."""

    pid: int
    file: int | None
    name: str


def main(flags: int, ranks: list[Rank]) -> None:
    """Return when all ranks have ended, or when one was killed and the others have been ended."""
    out_of_memory = _kills_for_memory()
    names = [rank.name for rank in ranks]
    events = select.epoll()
    watched = {place: rank.file for place, rank in enumerate(ranks) if rank.file is not None}
    place_of = {file: place for place, file in watched.items()}
    for file in place_of:
        events.register(file, select.EPOLLIN)
    os.pwrite(flags, WATCHED, len(ranks))
    gone = [place for place in range(len(ranks)) if place not in watched]
    awaits_lifelines = not gone
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
                _end(list(watched.values()))
                return
        if lost and time.monotonic() > lost + GRACE:
            states = _states(flags, len(ranks))
            waiting = [place for place in watched if states[place] == IN_MPI]
            if waiting and said:
                _tell(flags, names, said)
                said = ""
            for place in waiting:
                _kill(watched.pop(place))
        if awaits_lifelines and 0 not in _states(flags, len(ranks)):  # all have begun
            awaits_lifelines = False
            for place, file in enumerate(_lifelines(flags, [rank.pid for rank in ranks])):
                place_of[file] = place
                events.register(file, select.EPOLLIN)
        timeout = REST if lost or awaits_lifelines else None
        ended = [file for file, _ in events.poll(timeout)] if watched else []
        for file in ended:
            events.unregister(file)
        places = dict.fromkeys(place_of[file] for file in ended)  # in the order in which they ended
        gone = [place for place in places if watched.pop(place, None) is not None]


def found(
    flags: int, launcher: int, count: int, rank: str, place: str, size: str
) -> list[Rank] | None:
    """Return the `count` ranks that a launcher has started here, by place.

    rank, place, size: names of the environment variables that give the rank among all ranks, the
    place on this computer, and the number of all ranks. A rank that is not found within SEARCH
    seconds counts as ended if its state says so, or if all children of the launcher are known to be
    other ranks; otherwise None is returned.
    """
    end = time.monotonic() + SEARCH
    seen: dict[int, Rank] = {}
    while True:
        others = False
        for pid in _children(launcher):
            try:
                stated = environment(pid)
                if int(stated[place]) not in seen:
                    seen[int(stated[place])] = Rank(pid, os.pidfd_open(pid), f"rank {stated[rank]}")
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
    return [seen.get(i, Rank(0, None, f"rank {i}" if is_alone else "a rank")) for i in range(count)]


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


def _lifelines(flags: int, pids: list[int]) -> list[int]:
    """Return open files of the lifelines of ranks that have begun; none if one cannot be opened."""
    opened: list[int] = []
    try:
        for place, pid in enumerate(pids):
            number = int.from_bytes(os.pread(flags, 2, lifeline_at(len(pids), place)), "little")
            opened.append(os.open(f"/proc/{pid}/fd/{number}", os.O_RDONLY | os.O_NONBLOCK))
    except OSError:  # a rank has just ended, or its files are not to be opened
        for file in opened:
            os.close(file)
        return []
    return opened


def lifeline_at(ranks: int, place: int) -> int:
    """Return the position in FLAGS of the number of this rank's lifeline, the end to read from."""
    return ranks + 1 + 2 * place


def text_at(ranks: int) -> int:
    """Return the position in FLAGS of the hint and the names."""
    return lifeline_at(ranks, ranks)


def _lines(flags: int, names: list[str]) -> list[str]:
    return os.pread(flags, MOST, text_at(len(names))).decode(errors="backslashreplace").split("\n")


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


def _end(ranks: list[int]) -> None:
    """Wait GRACE seconds for the remaining processes to end, then kill those still running."""
    end = time.monotonic() + GRACE
    remaining, events = set(ranks), select.epoll()
    for file in ranks:
        events.register(file, select.EPOLLIN | select.EPOLLONESHOT)
    while remaining and time.monotonic() < end:
        remaining -= {file for file, _ in events.poll(max(end - time.monotonic(), 0))}
    for file in remaining:
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
            main(flags, ranks)
    finally:
        Path(path).unlink(missing_ok=True)


if __name__ == "__main__":
    own, *given = sys.argv[1:]
    pairs = zip(map(int, given[::2]), given[1::2], strict=True)
    main(int(own), [Rank(pid, _opened(pid), name) for pid, name in pairs])

"""Watches the ranks of one computer from a process of its own, and says which of them was killed.

Run as a script, without the package: a launcher of MPI ends the ranks that are left within
milliseconds after one was killed, so none of them could say it.

python guard_child.py FLAGS PID NAME PID NAME ...: FLAGS is an open file with a byte for each rank,
which says how it has ended; then, once they are known, lines: what to do, better names of all.
"""

import os
import select
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

ENDED, FAILED = b"\1", b"\2"  # in order, or after it has said itself what was wrong
MOST = 1 << 20  # bytes of names
GRACE = 1.0  # seconds that the launcher has to end the ranks that are left


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
            _end(list(watched))
            return
        watched[file] = rank
        events.register(file, select.EPOLLIN)
    while watched:
        for file, _ in events.poll():  # in the order in which they ended
            rank = watched.pop(file)
            events.unregister(file)
            states = os.pread(flags, len(pids), 0)
            if FAILED in states:
                return
            if states[rank : rank + 1] != ENDED:
                _tell(flags, names, rank, out_of_memory)
                _end(list(watched))
                return


def _tell(flags: int, names: list[str], rank: int, out_of_memory: int) -> None:
    hint, *better = os.pread(flags, MOST, len(names)).decode().split("\n")
    name = (better or names)[rank]
    sys.stderr.write(f"evener: {name} was killed\n" + (f"{hint}\n" if hint else ""))
    sys.stderr.flush()  # at once: soon the launcher, which passes it on, is gone
    if _kills_for_memory() > out_of_memory:
        sys.stderr.write("evener: the computer has run out of memory\n")
        sys.stderr.flush()


def _end(files: list[int]) -> None:
    """End the processes that are left, where no launcher does it."""
    time.sleep(GRACE)
    for file in files:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(file, signal.SIGKILL)


def _kills_for_memory() -> int:
    """Return how many processes Linux has killed so far because memory had run out."""
    try:
        lines = Path("/proc/vmstat").read_text(encoding="ascii").split("\n")
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("oom_kill "))


if __name__ == "__main__":
    given = sys.argv[2:]
    main(int(sys.argv[1]), [int(pid) for pid in given[::2]], given[1::2])

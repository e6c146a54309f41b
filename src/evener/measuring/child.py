"""The process that runs a device's kernel, bound to the device's cores and limited in memory.

    python -m evener.measuring.child LIFELINE

Messages are JSON objects, one per line. The job arrives on standard input, followed by any number
of loads; answers go to standard output, and the kernel's own output to standard error. The other
end is `Worker` in workers.py. LIFELINE is the descriptor of a pipe that closes when the parent
ends; the system then ends this process, even within a kernel.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

from evener.errors import EvenerError
from evener.measuring.benchmark import Company, benchmark, waited_for_core
from evener.measuring.kernels import Kernel, make_kernel
from evener.measuring.messages import Inbox, as_line
from evener.measuring.outcomes import Outcome, Point, Precision

BETWEEN_PULSES = 0.02  # seconds between two messages that the kernel makes progress
SPIN = 2e-3  # last seconds before a start, spent in a loop because a sleep may end late


class ParentPipe:
    """Messages to and from the parent; redirects the kernel's output to standard error."""

    def __init__(self) -> None:
        self._inbox = Inbox(os.dup(0))
        self._sink = os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)

    def send(self, **message: Any) -> None:
        """Send one message."""
        os.write(self._sink, as_line(message))

    def receive(self) -> dict[str, Any]:
        """Wait for the next message. Raises EOFError if the parent has closed its end."""
        message = self._inbox.receive()
        assert message is not None, "without a time limit there is always a message"
        return message

    def has_message(self) -> bool:
        """Return whether a message from the parent is waiting."""
        return self._inbox.has_message or self._inbox.is_readable()


def main(lifeline: int) -> int:
    """Measure loads until the parent closes standard input; return the exit code."""
    end_with_parent(lifeline)
    parent = ParentPipe()
    # For the user's module. Last, so that a numpy.py in the current folder does not hide NumPy.
    sys.path.append(str(Path.cwd()))
    try:
        job = parent.receive()
        if job["cpus"] and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, job["cpus"])
        import_module("scipy.special")  # otherwise it would be imported between two timings
        kernel = make_kernel(job["kernel"], job["kind"], job["options"])
        # Not for GPUs: their driver reserves far more addresses than memory, and the GPU's own
        # memory needs no limit.
        if job["memory"] is not None and job["kind"] == "cpu":
            _limit_memory(int(job["memory"]))
        parent.send(event="ready")
        while True:
            _measure(kernel, parent, parent.receive())
    except EOFError:
        return 0
    except EvenerError as error:
        parent.send(event="unusable", error=type(error).__name__, message=error.message,
                 hint=error.hint)  # fmt: skip
    except Exception as error:  # the user's class may raise anything when it is created
        parent.send(event="unusable", error="UsageError", hint=None,
                 message=f"the kernel cannot be made: {type(error).__name__}: {error}")  # fmt: skip
    return 1


def _measure(kernel: Kernel, parent: ParentPipe, asked: dict[str, Any]) -> None:
    last = [0.0]

    def start() -> None:
        parent.send(event="prepared")
        wait_until(parent.receive()["at"])

    def pulse() -> None:
        now = time.perf_counter()
        if now - last[0] > BETWEEN_PULSES:
            last[0] = now
            parent.send(event="pulse")

    said: list[Outcome] = []

    def linger(outcome: Outcome) -> bool:
        if not said:
            said.append(outcome)
            parent.send(**_described(outcome))
        return not parent.has_message()

    benchmark(kernel, asked["load"], Precision(**asked["precision"]), waited=waited_for_core,
              company=Company(start, pulse, linger))  # fmt: skip
    while "stop" not in parent.receive():  # a failed kernel has not read the start time: skip it
        pass
    parent.send(event="free")


def _described(outcome: Outcome) -> dict[str, Any]:
    if isinstance(outcome, Point):
        return {"event": "point", "point": asdict(outcome)}
    return {"event": "gap", "gap": asdict(outcome)}


def wait_until(moment: float) -> None:
    """Wait until `moment` of time.perf_counter, which all processes of a computer share [s]."""
    ahead = moment - time.perf_counter()
    if ahead > SPIN:
        time.sleep(ahead - SPIN)
    while time.perf_counter() < moment:
        pass


def _limit_memory(n_bytes: int) -> None:
    """Make allocations beyond n_bytes more than now raise MemoryError (on Linux)."""
    if sys.platform != "linux":
        return
    import resource

    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    limit = taken + n_bytes
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def end_with_parent(lifeline: int) -> None:
    """Let the system end this process by a signal when the pipe closes, even within C code."""
    if sys.platform == "linux":
        import fcntl

        fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)


if __name__ == "__main__":
    code = main(int(sys.argv[1]))
    sys.stderr.flush()
    os._exit(code)  # not sys.exit, which would wait for threads that a kernel left running

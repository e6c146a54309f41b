"""The process that a device's kernel runs in: bound to its cores, limited in memory, obedient.

    python -m evener.measuring.child LIFELINE

Standard input brings one JSON object a line, standard output (of which the kernel sees nothing)
takes them: first the job, then any number of loads. See `Worker` in workers.py, the other end.
The pipe LIFELINE closes when the parent is gone; then this process ends, whatever it is doing.
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

BETWEEN_PULSES = 0.02  # seconds
SPIN = 2e-3  # seconds before the start during which nothing is slept


class Talk:
    """JSON lines with the parent; what the kernel prints goes to standard error instead."""

    def __init__(self) -> None:
        self._inbox = Inbox(os.dup(0))
        self._sink = os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)

    def say(self, **message: Any) -> None:
        """Send one object."""
        os.write(self._sink, as_line(message))

    def hear(self) -> dict[str, Any]:
        """Wait for the next object. Raises EOFError when the parent has closed its end."""
        heard = self._inbox.hear()
        assert heard is not None, "it waits for ever"
        return heard

    def heard_something(self) -> bool:
        """Return whether an object waits."""
        return self._inbox.has_message or self._inbox.is_readable()


def main(lifeline: int) -> int:
    """Measure what is asked for until the parent closes standard input."""
    end_with_parent(lifeline)
    talk = Talk()
    # Behind everything else: a numpy.py in the current folder is not NumPy.
    sys.path.append(str(Path.cwd()))
    try:
        job = talk.hear()
        if job["cpus"] and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, job["cpus"])
        import_module("scipy.special")  # which would else be imported between two timings
        kernel = make_kernel(job["kernel"], job["kind"], job["options"])
        # A GPU's driver reserves addresses without end: its memory ends by itself.
        if job["memory"] is not None and job["kind"] == "cpu":
            _limit_memory(int(job["memory"]))
        talk.say(event="ready")
        while True:
            _measure(kernel, talk, talk.hear())
    except EOFError:
        return 0
    except EvenerError as error:
        talk.say(event="unusable", error=type(error).__name__, message=error.message,
                 hint=error.hint)  # fmt: skip
    except Exception as error:  # the user's class may fail in any way when it is made
        talk.say(event="unusable", error="UsageError", hint=None,
                 message=f"the kernel cannot be made: {type(error).__name__}: {error}")  # fmt: skip
    return 1


def _measure(kernel: Kernel, talk: Talk, asked: dict[str, Any]) -> None:
    last = [0.0]

    def start() -> None:
        talk.say(event="prepared")
        wait_until(talk.hear()["at"])

    def pulse() -> None:
        now = time.perf_counter()
        if now - last[0] > BETWEEN_PULSES:
            last[0] = now
            talk.say(event="pulse")

    said: list[Outcome] = []

    def linger(outcome: Outcome) -> bool:
        if not said:
            said.append(outcome)
            talk.say(**_described(outcome))
        return not talk.heard_something()

    benchmark(kernel, asked["load"], Precision(**asked["precision"]), waited=waited_for_core,
              company=Company(start, pulse, linger))  # fmt: skip
    while "stop" not in talk.hear():  # the go that a kernel never waited for comes before it
        pass
    talk.say(event="free")


def _described(outcome: Outcome) -> dict[str, Any]:
    if isinstance(outcome, Point):
        return {"event": "point", "point": asdict(outcome)}
    return {"event": "gap", "gap": asdict(outcome)}


def wait_until(moment: float) -> None:
    """Return at `moment` of the clock that all processes of a computer share [s]."""
    ahead = moment - time.perf_counter()
    if ahead > SPIN:
        time.sleep(ahead - SPIN)
    while time.perf_counter() < moment:
        pass


def _limit_memory(n_bytes: int) -> None:
    """Let memory beyond what is taken already end in MemoryError, not in the system's."""
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
    """Ask the system to end this process when the pipe closes: C code or not."""
    if sys.platform == "linux":
        import fcntl

        fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)


if __name__ == "__main__":
    code = main(int(sys.argv[1]))
    sys.stderr.flush()
    os._exit(code)  # a kernel's threads or drivers do not hold up the end

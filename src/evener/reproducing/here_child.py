"""The process of one of two devices: executes a kernel beside the other, or in step with it.

    python -m evener.reproducing.here_child LIFELINE

Exchanges messages with `DevicePair` in here_pair.py as evener.measuring.child does with its parent.
"""

from __future__ import annotations

import mmap
import os
import sys
import time
from pathlib import Path
from typing import Any

from evener.measuring.child import Talk, end_with_parent, wait_until
from evener.measuring.kernels import Kernel, make_kernel

LINE = 16  # int64 numbers in two cache lines: counters so far apart never share one
GATE_BYTES = 2 * LINE * 8
FEWEST = 3  # iterations that are timed at least


class Gate:
    """A barrier of two processes, which wait in a loop: after a sleep a core is given back late."""

    def __init__(self, path: str | Path, place: int) -> None:
        with Path(path).open("r+b") as file:
            self._counts = memoryview(mmap.mmap(file.fileno(), GATE_BYTES)).cast("q")
        self._mine, self._other = place * LINE, (1 - place) * LINE

    def meet(self, deadline: float) -> None:
        """Return when the other has called this as often. Raises TimeoutError at `deadline` [s]."""
        counts, other = self._counts, self._other
        counts[self._mine] += 1
        came = counts[self._mine]
        while counts[other] < came:
            if time.perf_counter() > deadline:
                raise TimeoutError("the other device did not come")


class SteppedKernel:
    """A kernel; a fixed number of its executions is one iteration."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._kernel: Kernel | None = None
        self._executions = 1

    def prepare(self, kernel: str, load: int, executions: int) -> None:
        """Allocate the memory of a load, after freeing that of the one before, and iterate once."""
        if self._kernel is not None:
            self._kernel.finalize()
        self._kernel, self._executions = make_kernel(kernel), executions
        self._kernel.initialize(load)
        self.iterate()

    def iterate(self) -> None:
        """Execute the kernel as often as makes one iteration."""
        assert self._kernel is not None, "prepare comes first"
        for _ in range(self._executions):
            self._kernel.execute()

    def beside(self, at: float, seconds: float) -> list[float]:
        """Return the times of the iterations that begin within `seconds` after `at` [s]."""
        wait_until(at)
        times: list[float] = []
        begin = at
        while begin < at + seconds or len(times) < FEWEST:
            self.iterate()
            end = time.perf_counter()
            times.append(end - begin)
            begin = end
        return times

    def in_step(self, at: float, steps: int, limit: float) -> list[float]:
        """Return the times of `steps` iterations, each ending when both devices are done [s]."""
        wait_until(at)
        times: list[float] = []
        begin = at
        for _ in range(steps):
            self.iterate()
            self._gate.meet(at + limit)
            end = time.perf_counter()
            times.append(end - begin)
            begin = end
        return times


def main(lifeline: int) -> int:
    """Do what the parent's messages ask until it closes standard input; return the exit code."""
    end_with_parent(lifeline)
    talk = Talk()
    try:
        job = talk.hear()
        os.sched_setaffinity(0, job["cpus"])
        device = SteppedKernel(Gate(**job["options"]))
        talk.say(event="ready")
        while True:
            _obey(device, talk, talk.hear())
    except EOFError:
        return 0
    except (MemoryError, TimeoutError) as error:
        talk.say(event="failed", message=str(error) or "there is not enough memory")
    return 1


def _obey(device: SteppedKernel, talk: Talk, asked: dict[str, Any]) -> None:
    """Answer one message; after "beside" go on executing until the next message comes."""
    act = asked.pop("act")
    if act == "prepare":
        device.prepare(**asked)
        talk.say(event="prepared")
    elif act in ("beside", "in_step"):
        cpu, begin = time.process_time(), time.perf_counter()
        times = getattr(device, act)(**asked)
        spent, lasted = time.process_time() - cpu, time.perf_counter() - begin
        talk.say(event="times", times=times, share=spent / lasted)
        while act == "beside" and not talk.heard_something():
            device.iterate()
    else:  # "rest": ends the executions after "beside"
        talk.say(event="resting")


if __name__ == "__main__":
    code = main(int(sys.argv[1]))
    sys.stderr.flush()
    os._exit(code)

"""The process of one of two devices: executes a kernel beside the other, or in step with it.

    python -m evener.reproducing.here_child LIFELINE

Speaks with `DevicePair` in here_pair.py as evener.measuring.child does with its parent.
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

LINE = 16  # int64 of two cache lines: no counter shares one with another
GATE_BYTES = 2 * LINE * 8
FEWEST = 3  # iterations


class Gate:
    """Two processes wait for each other, awake: one that sleeps gets its core later than asked."""

    def __init__(self, path: str | Path, place: int) -> None:
        with Path(path).open("r+b") as file:
            self._counts = memoryview(mmap.mmap(file.fileno(), GATE_BYTES)).cast("q")
        self._mine, self._other = place * LINE, (1 - place) * LINE

    def meet(self, deadline: float) -> None:
        """Return when both have come as often. Raises TimeoutError after `deadline` [s]."""
        counts, other = self._counts, self._other
        counts[self._mine] += 1
        came = counts[self._mine]
        while counts[other] < came:
            if time.perf_counter() > deadline:
                raise TimeoutError("the other device did not come")


class SteppedKernel:
    """A kernel of which some executions make an iteration."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._kernel: Kernel | None = None
        self._executions = 1

    def prepare(self, kernel: str, load: int, executions: int) -> None:
        """Take the memory, give the former back, and iterate once."""
        if self._kernel is not None:
            self._kernel.finalize()
        self._kernel, self._executions = make_kernel(kernel), executions
        self._kernel.initialize(load)
        self.iterate()

    def iterate(self) -> None:
        """Execute as often as an iteration asks."""
        assert self._kernel is not None, "prepare comes first"
        for _ in range(self._executions):
            self._kernel.execute()

    def beside(self, at: float, seconds: float) -> list[float]:
        """Return what iterations take that begin within `seconds` from `at` on [s]."""
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
        """Return what iterations take, each of which ends when both devices are done [s]."""
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
    """Do what is asked until the parent closes standard input."""
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
    """Answer one message; after a time beside the other, keep it company until it is done."""
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
    else:  # "rest": what ends keeping company
        talk.say(event="resting")


if __name__ == "__main__":
    code = main(int(sys.argv[1]))
    sys.stderr.flush()
    os._exit(code)

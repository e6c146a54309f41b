"""Two devices of this computer: a core, and a second core that a rival process uses, too.

Each process has a session of its own: some systems divide cores among sessions first, and the rival
then slows only the device of its own core. The process of a device is

    python -m papers.here_pair LIFELINE

which executes a kernel beside the other device, or in step with it, and exchanges messages with
`DevicePair` as evener.measuring.child does with its parent.
"""

from __future__ import annotations

import mmap
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from evener.errors import ToolError, UsageError
from evener.files.temporary import private_folder
from evener.measuring.child import ParentPipe, end_with_parent, wait_until
from evener.measuring.kernels import Kernel, make_kernel
from evener.measuring.this_computer import cores
from evener.measuring.workers import KernelJob, Worker
from papers.children import let_children_import_papers

START_DELAY = 10e-3  # seconds from sending the start time to that time
PATIENCE = 120.0  # seconds to wait for an answer
RIVAL = ("triad", 4_000_000)  # kernel and load: 96 MB, more than the caches hold


class DeviceProcess(Worker):
    """A process that runs papers.here_pair."""

    program = "papers.here_pair"

    def answer(self) -> dict[str, Any]:
        """Return the next message. Raises ToolError where the process failed or sends nothing."""
        try:
            message = self.receive(PATIENCE)
        except EOFError:
            raise self._failure(f"{self.death()}; {self.last_words()}") from None
        if message is None:
            raise self._failure(f"sent nothing for {PATIENCE:g} s")
        if message["event"] == "failed":
            raise self._failure(message["message"])
        return message

    def _failure(self, what: str) -> ToolError:
        return ToolError(f"the process of {self.name}: {what}")


@dataclass(frozen=True)
class Times:
    """Seconds of each iteration on one device; share: fraction of its core that it had."""

    times: list[float]
    share: float


class DevicePair:
    """The processes of both devices; a context manager, which ends them."""

    def __init__(self, cpus: Sequence[int], gate: str | Path) -> None:
        let_children_import_papers()
        self._devices = [
            DeviceProcess(
                f"cpu{cpu}", KernelJob("", cpus=(cpu,), options={"path": str(gate), "place": i})
            )
            for i, cpu in enumerate(cpus)
        ]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for device in self._devices:
            device.end()

    def prepare(self, kernel: str, sizes: Sequence[int], executions: int) -> None:
        """Prepare devices for loads `sizes` of a kernel; an iteration is `executions` of it."""
        for device, load in zip(self._devices, sizes, strict=True):
            device.ensure()
            device.send(
                {"act": "prepare", "kernel": kernel, "load": load, "executions": executions}
            )
        self._answers()

    def beside(self, seconds: float) -> list[Times]:
        """Return times of both devices, iterating for `seconds` without waiting for each other."""
        found = self.keep_busy(seconds)
        for device in self._devices:
            device.send({"act": "rest"})
        self._answers()
        return found

    def keep_busy(self, seconds: float = 0.0) -> list[Times]:
        """As `beside`, but both devices go on iterating until something else is asked of them."""
        return self._times({"act": "beside", "seconds": seconds})

    def in_step(self, steps: int) -> list[Times]:
        """Return times of `steps` iterations, each of which ends when both devices are done."""
        return self._times({"act": "in_step", "steps": steps, "limit": PATIENCE})

    def _times(self, asked: dict[str, Any]) -> list[Times]:
        at = time.perf_counter() + START_DELAY
        for device in self._devices:
            device.send(asked | {"at": at})
        return [Times(message["times"], message["share"]) for message in self._answers()]

    def _answers(self) -> list[dict[str, Any]]:
        return [device.answer() for device in self._devices]


def two_cores() -> tuple[int, int]:
    """Return the first two cores that this process may use. Raises UsageError where there is one.

    They are physical cores: two threads of one would share what is to be measured apart.
    """
    found = [core.cpu for core in cores()]
    if not hasattr(os, "sched_setaffinity"):
        raise UsageError("this system binds no process to a core: --here is not possible")
    if len(found) < 2:
        raise UsageError(
            f"two devices need two cores, and this process may use {len(found)}",
            hint="Without --here the experiments run on emulated machines.",
        )
    return found[0], found[1]


@contextmanager
def rivalled_pair(cpus: tuple[int, int]) -> Iterator[DevicePair]:
    """Yield both devices, the rival at work on the second one's core until the context ends."""
    with ExitStack() as stack:
        folder = stack.enter_context(private_folder())
        gates = [folder / "pair", folder / "rival"]
        for gate in gates:
            gate.write_bytes(bytes(GATE_BYTES))
        rival = stack.enter_context(DevicePair(cpus[1:], gates[1]))
        rival.prepare(RIVAL[0], RIVAL[1:], 1)
        rival.keep_busy()
        yield stack.enter_context(DevicePair(cpus, gates[0]))


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
    parent = ParentPipe()
    try:
        job = parent.receive()
        os.sched_setaffinity(0, job["cpus"])
        device = SteppedKernel(Gate(**job["options"]))
        parent.send(event="ready")
        while True:
            _carry_out(device, parent, parent.receive())
    except EOFError:
        return 0
    except (MemoryError, TimeoutError) as error:
        parent.send(event="failed", message=str(error) or "there is not enough memory")
    return 1


def _carry_out(device: SteppedKernel, parent: ParentPipe, asked: dict[str, Any]) -> None:
    """Answer one message; after "beside" go on executing until the next message comes."""
    act = asked.pop("act")
    if act == "prepare":
        device.prepare(**asked)
        parent.send(event="prepared")
    elif act in ("beside", "in_step"):
        cpu, begin = time.process_time(), time.perf_counter()
        times = getattr(device, act)(**asked)
        spent, lasted = time.process_time() - cpu, time.perf_counter() - begin
        parent.send(event="times", times=times, share=spent / lasted)
        while act == "beside" and not parent.has_message():
            device.iterate()
    else:  # "rest": ends the executions after "beside"
        parent.send(event="resting")


if __name__ == "__main__":
    code = main(int(sys.argv[1]))
    sys.stderr.flush()
    os._exit(code)

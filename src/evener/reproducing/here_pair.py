"""Two devices of this computer: a core, and a second core that a rival process uses, too.

Each process has a session of its own: some systems divide cores among sessions first, and the rival
then slows only the device of its own core.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from evener.errors import ToolError, UsageError
from evener.files.temporary import private_folder
from evener.measuring.devices import cores
from evener.measuring.workers import KernelJob, Worker
from evener.reproducing.here_child import GATE_BYTES

START_DELAY = 10e-3  # seconds from sending the start time to that time
PATIENCE = 120.0  # seconds to wait for an answer
RIVAL = ("triad", 4_000_000)  # kernel and load: 96 MB, more than the caches hold


class DeviceProcess(Worker):
    """A process that runs evener.reproducing.here_child."""

    program = "evener.reproducing.here_child"

    def answer(self) -> dict[str, Any]:
        """Return the next message. Raises ToolError where the process failed or sends nothing."""
        try:
            message = self.hear(PATIENCE)
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
            device.say({"act": "prepare", "kernel": kernel, "load": load, "executions": executions})
        self._answers()

    def beside(self, seconds: float) -> list[Times]:
        """Return times of both devices, iterating for `seconds` without waiting for each other."""
        found = self.keep_busy(seconds)
        for device in self._devices:
            device.say({"act": "rest"})
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
            device.say(asked | {"at": at})
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

"""Two devices of this computer: one core, and another core beside a rival for it and for memory.

Each process has a session of its own, so that where a system shares cores among sessions first the
rival takes from its own core's device alone.
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

AHEAD = 10e-3  # seconds from the word to the start
PATIENCE = 120.0  # seconds for an answer
RIVAL = ("triad", 4_000_000)  # 96 MB: beyond the caches


class DeviceProcess(Worker):
    """A process that runs evener.reproducing.here_child."""

    program = "evener.reproducing.here_child"

    def answer(self) -> dict[str, Any]:
        """Return the next message. Raises ToolError where the process failed or says nothing."""
        try:
            message = self.hear(PATIENCE)
        except EOFError:
            raise self._failure(f"{self.death()}; {self.last_words()}") from None
        if message is None:
            raise self._failure(f"said nothing for {PATIENCE:g} s")
        if message["event"] == "failed":
            raise self._failure(message["message"])
        return message

    def _failure(self, what: str) -> ToolError:
        return ToolError(f"the process of {self.name}: {what}")


@dataclass(frozen=True)
class Times:
    """What iterations took on one device [s]; share: of its core that it had meanwhile."""

    times: list[float]
    share: float


class DevicePair:
    """The processes of both devices. Used as a context, at whose end they are gone."""

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
        """Let each device take its load of a kernel [units]; an iteration is some executions."""
        for device, load in zip(self._devices, sizes, strict=True):
            device.ensure()
            device.say({"act": "prepare", "kernel": kernel, "load": load, "executions": executions})
        self._answers()

    def beside(self, seconds: float) -> list[Times]:
        """Iterate for so long on both devices, neither waiting for the other."""
        found = self.keep_busy(seconds)
        for device in self._devices:
            device.say({"act": "rest"})
        self._answers()
        return found

    def keep_busy(self, seconds: float = 0.0) -> list[Times]:
        """Iterate for so long, and go on afterwards, until something else is asked."""
        return self._times({"act": "beside", "seconds": seconds})

    def in_step(self, steps: int) -> list[Times]:
        """Iterate so often on both devices, each iteration ending when both are done."""
        return self._times({"act": "in_step", "steps": steps, "limit": PATIENCE})

    def _times(self, asked: dict[str, Any]) -> list[Times]:
        at = time.perf_counter() + AHEAD
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

"""DeviceEngine: what the engines of CPUs and of CUDA devices have in common; their counters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy.typing as npt

from evener.running.comm import Comm
from evener.running.engine.atomics_kernels import EDGES, ENDED, STEP
from evener.running.engine.program import VertexProgram
from evener.running.local_graphs import LocalGraph

Numbers = npt.NDArray[Any]


class DeviceEngine(Protocol):
    """Protocol of an engine, on threads of a CPU or on a CUDA device; see Engine."""

    program: VertexProgram
    parameters: tuple[float, ...]
    control: Numbers

    @property
    def values(self) -> Numbers: ...  # noqa: D102
    @property
    def shared_values(self) -> Numbers: ...  # noqa: D102
    @property
    def payloads(self) -> Numbers: ...  # noqa: D102
    @property
    def change(self) -> float: ...  # noqa: D102
    @property
    def edges(self) -> int: ...  # noqa: D102
    @property
    def has_ended(self) -> bool: ...  # noqa: D102
    def direct(self, comm: Comm, local: LocalGraph) -> Callable[[], None] | None: ...  # noqa: D102
    def compile(self) -> None: ...  # noqa: D102
    def advance(self, most: int) -> None: ...  # noqa: D102
    def take_marked(self) -> tuple[Numbers, Numbers]: ...  # noqa: D102
    def deliver(self, targets: Numbers, received: Numbers) -> None: ...  # noqa: D102
    def show(self, flags: Numbers) -> None: ...  # noqa: D102
    def see(self, flags: Numbers) -> None: ...  # noqa: D102


class StepCounts:
    """Counters of an engine, read from `control`, which is in this computer's memory."""

    control: Numbers

    @property
    def supersteps(self) -> int:
        """Number of supersteps so far."""
        return int(self.control[STEP])

    @property
    def edges(self) -> int:
        """Number of arcs read so far."""
        return int(self.control[EDGES])

    @property
    def has_ended(self) -> bool:
        """Whether no superstep is left."""
        return bool(self.control[ENDED])

    def direct(self, comm: Comm, local: LocalGraph) -> Callable[[], None] | None:  # noqa: ARG002
        """Return an object that exchanges payloads in place, or None if a Halo must do this."""
        return None

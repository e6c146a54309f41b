"""StepCounts: counters that the engines of CPUs and of CUDA devices have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy.typing as npt

from evener.running.comm import Comm
from evener.running.engine.atomics_kernels import EDGES, ENDED, STEP
from evener.running.local_graphs import LocalGraph


class StepCounts:
    """Counters of an engine, read from `control`, which is in this computer's memory."""

    control: npt.NDArray[Any]

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

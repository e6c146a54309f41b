"""PlanOptions: everything that chooses a plan, beside graph and platform."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evener.arrays import FloatArray
from evener.errors import InputError
from evener.metrics import BYTES_PER_VALUE
from evener.partitioning.registry import Request


@dataclass(frozen=True)
class PlanOptions:
    """What a person may choose.

    tool: a partitioner's name, or "auto". preset: "fast", "default" or "strong". objective: "cut"
    or "total_volume". seed, threads. epsilon: how far a block may be off its target, relative,
    both ways. connected: blocks in one piece. bytes_per_value [B]: what a boundary vertex sends.
    time_limit [s]: for tools that run in a process of their own.
    """

    tool: str = "auto"
    preset: str = "default"
    objective: str = "cut"
    seed: int = 7
    epsilon: float = 0.03
    threads: int = 2
    connected: bool = False
    bytes_per_value: float = BYTES_PER_VALUE
    time_limit: float = 600.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.bytes_per_value) and self.bytes_per_value >= 0):
            raise InputError(f"bytes_per_value must not be negative, not {self.bytes_per_value}")

    def request(self, targets: FloatArray) -> Request:
        """Return what is asked of the partitioner for blocks of these targets (k,) [units]."""
        return Request(
            targets,
            epsilon=self.epsilon,
            seed=self.seed,
            threads=self.threads,
            objective=self.objective,
            preset=self.preset,
            time_limit=self.time_limit,
        )

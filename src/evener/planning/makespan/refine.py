"""Vertices of a candidate moved by seconds, then once more, while that wins something.

Refinement knows what a device computes and exchanges, but not for how long its partners and shared
links keep it waiting: what it waited before stands in for that. Where waits make nobody last, once
is enough.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from evener.arrays import FloatArray, Part
from evener.partitioning.makespan.refine import refine_seconds
from evener.planning.makespan.presets import Effort
from evener.planning.makespan.task import Candidate, Task

WORTH_AGAIN = 0.005  # of the time: another refinement that wins less is the last

Add = Callable[[str, Part, FloatArray], Candidate | None]


@dataclass(frozen=True, eq=False)
class Refining:
    """Refines candidates of a task; `add` judges what comes of it."""

    task: Task
    add: Add
    effort: Effort
    seed: int
    threads: int

    def run(self, first: Candidate) -> Candidate:
        """Return the best that becomes of a candidate of several devices."""
        one, waits = first, np.zeros(first.used.size)
        for turn in range(1 + self.effort.again):
            waits = 0.5 * (waits + self._waited(one))
            times = f" {turn + 1} times" if turn else ""
            now = self._refined(f"{first.name}, refined{times}", one, waits, turn)
            if now is None or now.seconds >= one.seconds:
                break
            won, one = 1 - now.seconds / one.seconds, now
            if won <= WORTH_AGAIN or not self._waited_for(one):
                break
        return one

    def _refined(self, name: str, one: Candidate, waits: FloatArray, turn: int) -> Candidate | None:
        """Refine by seconds; waits (k,) [s]: what devices take longer in any case."""
        task, contract = self.task, self.task.contract(one.loads)
        costs = replace(task.costs, fixed=task.costs.fixed + waits)
        if self._repeated:  # nobody shares links then
            costs = replace(costs, shared_per_value=np.empty(0))
        part, _ = refine_seconds(
            task.weighted, one.part, task.work, costs, low=contract.low, high=contract.high,
            caps=contract.caps, seed=self.seed + turn, threads=self.threads,
            effort=self.effort.refine_effort,
        )  # fmt: skip
        return self.add(name, part, one.loads)

    @property
    def _repeated(self) -> bool:
        """Whether candidates are refined more than once: what shared links hold up is then known
        from the turn before, and nearer to the prediction than what refinement reckons.
        """
        return self.effort.again > 0

    def _waited(self, one: Candidate) -> FloatArray:
        """(k,) what refinement will not know of the devices' seconds [s]."""
        held_up = one.prediction.contention if self._repeated else 0.0
        return np.asarray(one.prediction.delay + held_up)

    def _waited_for(self, one: Candidate) -> bool:
        """Whether a device is last because it waits for others, and would be sooner else."""
        alone = float((one.prediction.ends - self._waited(one)).max())
        return alone <= one.seconds * (1 - WORTH_AGAIN)

"""Rounds: blocks for sizes that hold a halo, then for those that hold the halo they really have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evener.arrays import BoolArray, FloatArray, Part
from evener.planning.device_sets.equal_finish import Evening, Exchanged
from evener.planning.makespan.device_swaps import Places
from evener.planning.makespan.presets import CALMER, DAMPING, SETTLED
from evener.planning.makespan.task import Candidate, Task

SECTION = 0.0  # the power with which a slab's border grows with its load

Made = Callable[[FloatArray, int], Part]
Add = Callable[[str, Part, FloatArray], Candidate | None]


@dataclass(frozen=True, eq=False)
class Rounds:
    """Makes blocks in rounds; `add` judges them, or says with None that they cannot be.

    places: where blocks may change places, or None where they are to stay. drop: whether a device
    may lose all it has; else it keeps at least two vertices.
    """

    task: Task
    evening: Evening
    add: Add
    places: Places | None
    drop: bool = True

    def run(self, name: str, loads: FloatArray, turns: int, power: float, blocks: Made) -> None:
        """Make `blocks` of such loads (k,) [units], take the halo they have, and again.

        power: with which halos grow with the load. Ends where a round wins next to nothing.
        """
        chosen, damping, least = loads > 0, DAMPING, np.inf
        for turn in range(turns):
            aim = loads if self.drop else self._some(loads, chosen)
            one = self._best_placed(f"{name}, sizes {turn + 1}", blocks(aim, turn), aim)
            last = turn + 1 == turns or chosen.sum() == 1
            if one is None or last or one.seconds > least * (1 - SETTLED):
                break
            least = one.seconds
            real = self.evening.evened(
                (loads > 0)[None], as_known(one, self.task, power), drop=self.drop
            ).loads[0]
            loads = self.task.whole(loads + damping * (real - loads))
            damping *= CALMER

    def _best_placed(self, step: str, part: Part, aim: FloatArray) -> Candidate | None:
        one = self.add(step, part, aim)
        moved = None if one is None or self.places is None else self.places.placed(one)
        other = None if moved is None else self.add(f"{step}, placed", moved, aim)
        return other if one is None or (other and other.seconds < one.seconds) else one

    def _some(self, loads: FloatArray, chosen: BoolArray) -> FloatArray:
        """Loads of which none of those chosen is less than two vertices, nor more than fits."""
        least = 2.0 * self.task.load / self.task.graph.n
        kept = np.minimum(np.maximum(loads, least), self.task.room)
        return np.where(chosen, kept, 0.0)


def as_known(one: Candidate, task: Task, power: float) -> Exchanged:
    """Return what blocks of other loads would spend, by the law through blocks as they are.

    Messages stay, and what lies at the border grows with a power of the load.
    """
    between, k = one.between, task.platform.k
    spent = one.prediction.communicate
    messages = np.bincount(
        between.block, task.costs.alpha[between.block, between.other], minlength=k
    )
    messages = np.minimum(messages, spent)
    at_border = between.boundary / np.maximum(one.sizes, 1)
    some = one.loads > 0

    def exchange(loads: FloatArray, masks: BoolArray) -> tuple[FloatArray, FloatArray]:
        times = np.where(some, loads / np.where(some, one.loads, 1.0), 0.0)
        grown = np.where(times > 0, times, 1.0) ** power
        seconds = np.where(masks & some, messages + (spent - messages) * grown, 0.0)
        border = at_border * grown / np.where(times > 0, times, 1.0)
        return seconds, np.where(masks & some, np.minimum(border, 1.0), 0.0)

    return exchange

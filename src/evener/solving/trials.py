"""Plans of chosen sets of devices, each of which gets a block: what a set really takes.

Slabs at the loads of the estimate -> sizes that hold their real halos -> again; plans of a small
copy of the graph; vertices of the best of both moved to lower the longest seconds. These are steps
of `solve_seconds`, and judged by the same prediction.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from evener.arrays import BoolArray
from evener.errors import InfeasibleError
from evener.graphs import Graph
from evener.plans import Prediction
from evener.platforms import Platform
from evener.solving.efforts import EFFORTS
from evener.solving.estimates import Estimator
from evener.solving.found import Candidate
from evener.solving.judging import Candidate as Blocks
from evener.solving.judging import Task
from evener.solving.placing import Places
from evener.solving.record import Record
from evener.solving.refining import Refining
from evener.solving.rounds import SECTION, Rounds
from evener.solving.sketching import Sketch
from evener.solving.slabs import Slabs
from evener.solving.surfaces import surface_law
from evener.workloads import Workload

IntVector = npt.NDArray[np.int64]

SKETCHED = {"fast": 2, "default": 6, "strong": 12}  # plans of a set on the sketch


@dataclass(frozen=True, eq=False)
class Trial:
    """Devices that got a block, ascending, and the prediction of all k devices."""

    devices: IntVector
    prediction: Prediction

    @property
    def seconds(self) -> float:
        """Predicted seconds per iteration [s]."""
        return self.prediction.makespan


@dataclass(eq=False)
class Trials:
    """Plans sets of devices of one platform for a workload on a graph, each the same way."""

    graph: Graph
    platform: Platform
    workload: Workload
    preset: str = "default"
    seed: int = 7
    threads: int = 1

    @cached_property
    def task(self) -> Task:
        """The graph, its work, and what it costs on the platform."""
        return Task.of(self.graph, self.platform, self.workload).checked()

    @cached_property
    def estimator(self) -> Estimator:
        """What ranks sets."""
        surface = surface_law(self.task.weighted, seed=self.seed, threads=self.threads)
        return Estimator(surface, self.task.costs, self.task.load, self.task.room)

    @cached_property
    def _slabs(self) -> Slabs:
        return Slabs(self.task)

    @cached_property
    def _sketch(self) -> Sketch:
        return Sketch(self.task, self.estimator.evening, self.threads)

    @cached_property
    def _places(self) -> Places:
        return Places(self.task)

    def plan(self, candidate: Candidate) -> Trial:
        """Plan this set, each of its devices getting a block.

        Raises InfeasibleError or NotFoundError where memory does not hold what there is.
        """
        chosen, task = candidate.devices, self.task
        if chosen.size == 1:
            part = np.full(self.graph.n, chosen[0], np.int32)
            return self._trial(task.judged("one device", task.kept(part)))
        mask = np.zeros(task.platform.k, np.bool_)
        mask[chosen] = True
        record = Record(task, False, 0.0, _silent)
        shapes = [one for one in (self._lined_up(mask), self._sketched(mask)) if one is not None]
        if not shapes:
            raise InfeasibleError("these devices do not hold the graph")
        best = min(shapes, key=lambda one: one.seconds)
        effort = EFFORTS[self.preset]
        return self._trial(Refining(task, record.add, effort, self.seed, self.threads).run(best))

    def _lined_up(self, mask: BoolArray) -> Blocks | None:
        """Slabs for these devices (k,), their sizes holding their halos."""
        record = Record(self.task, False, 0.0, _silent)
        evening, slabs = self.estimator.evening, self.estimator.slabs
        rounds = Rounds(self.task, evening, record.add, self._places, drop=False)
        loads = evening.evened(mask[None], slabs).loads[0]
        turns = EFFORTS[self.preset].slab_rounds
        rounds.run("", loads, turns, SECTION, lambda now, _: self._slabs.blocks(now))
        whole = [one for one in record.found if one.used[mask].all()]
        return min(whole or record.found, key=lambda one: one.seconds, default=None)

    def _sketched(self, mask: BoolArray) -> Blocks | None:
        """The best of some plans for these devices (k,) on a small copy of the graph."""
        if self.graph.n < 2 * self.task.platform.k:
            return None
        best = self._sketch.best([mask], SKETCHED[self.preset], self.seed)[:1]
        record = Record(self.task, False, 0.0, _silent)
        for one in best:
            part = self._sketch.finished(one, self.seed)
            record.add("", part, self.task.loads(part))
        return record.found[0] if record.found else None

    def _trial(self, one: Blocks) -> Trial:
        return Trial(np.flatnonzero(one.used), one.prediction)


def _silent(step: str, fraction: float) -> None:
    """Show no progress."""

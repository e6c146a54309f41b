"""Plans of chosen sets of devices, each of which gets a block: what a set really takes.

Slabs at the loads of the estimate -> sizes that hold their real halos -> again; plans of a small
copy of the graph; vertices of the best of both moved to lower the longest seconds. These are steps
of `solve_seconds`, and judged by the same prediction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from evener.arrays import BoolArray, IntVector
from evener.errors import InfeasibleError
from evener.graphs.graph import Graph
from evener.planning.device_sets.estimate import Estimator
from evener.planning.device_sets.halo_law import surface_law
from evener.planning.device_sets.sets import Candidate
from evener.planning.makespan.coarse_search import Sketch
from evener.planning.makespan.device_swaps import Places
from evener.planning.makespan.presets import EFFORTS
from evener.planning.makespan.record import Record
from evener.planning.makespan.refine import Refining
from evener.planning.makespan.size_rounds import SECTION, Rounds
from evener.planning.makespan.slabs import Slabs
from evener.planning.makespan.task import Candidate as Blocks
from evener.planning.makespan.task import Task
from evener.plans.plan import Prediction
from evener.plans.workload import Workload
from evener.platforms.platform import Connection, Device, Platform

# A platform with some of its devices only: what remains of a machine when others are left out.


def only(platform: Platform, devices: Sequence[int]) -> Platform:
    """Return the platform of the devices with these indices, ascending, all links kept.

    A link that leads only to devices left out goes with them. Raises InputError for no device.
    """
    kept = tuple(platform.devices[i] for i in devices)
    if len(kept) == platform.k:
        return platform
    if len(kept) == 1:
        return replace(platform, devices=kept, connections=())
    return replace(platform, devices=kept, connections=_leading_on(platform.connections, kept))


def _leading_on(
    connections: Sequence[Connection], devices: Sequence[Device]
) -> tuple[Connection, ...]:
    """Leave out connections to places where there is no device, and none leads on."""
    known = {device.name for device in devices} | {device.at for device in devices}
    left = list(connections)
    while True:
        times = Counter(end for one in left for end in one.between)
        led = [one for one in left if all(e in known or times[e] > 1 for e in one.between)]
        if len(led) == len(left):
            return tuple(left)
        left = led


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

"""Plans of chosen sets of devices, each of which gets a block: what a set really takes.

Slabs, and blocks from scratch, at the loads of the estimate -> sizes that hold their real halos ->
again -> vertices of the best moved to lower the longest seconds; all judged by one prediction.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.errors import InfeasibleError
from evener.graphs import Graph
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from evener.partitioning.seconds import refine_seconds
from evener.plans import Prediction
from evener.platforms import Platform
from evener.solving.efforts import EFFORTS
from evener.solving.estimates import Estimator
from evener.solving.found import Candidate
from evener.solving.judging import Candidate as Blocks
from evener.solving.judging import Part, Task
from evener.solving.placing import Places
from evener.solving.record import Record
from evener.solving.rounds import SECTION, Rounds
from evener.solving.slabs import Slabs
from evener.solving.surfaces import surface_law
from evener.workloads import Workload

IntVector = npt.NDArray[np.int64]

ROUNDS = {"fast": (3, 1), "default": (4, 2), "strong": (5, 3)}  # of slabs and of blocks
WORTH_REFINING = 1.6  # times the seconds of the best shape: another one may end below it


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
        return Task.of(self.graph, self.platform, self.workload)

    @cached_property
    def estimator(self) -> Estimator:
        """What ranks sets."""
        surface = surface_law(self.task.weighted, seed=self.seed, threads=self.threads)
        return Estimator(surface, self.task.costs, self.task.load, self.task.room)

    @cached_property
    def _slabs(self) -> Slabs:
        return Slabs(self.task)

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
        slabs, blocks = ROUNDS[self.preset]
        estimator = self.estimator
        mask, power = np.zeros((1, task.platform.k), np.bool_), estimator.surface.exponent
        mask[0, chosen] = True
        shapes: list[Blocks] = []
        for exchanged, turns, grows, make in (
            (estimator.slabs, slabs, SECTION, self._slabs_of),
            (estimator.blocks, blocks, power, self._blocks_of),
        ):
            record = Record(task, False, _silent)
            rounds = Rounds(task, estimator.evening, record.add, self._places, drop=False)
            loads = estimator.evening.evened(mask, exchanged).loads[0]
            rounds.run("", loads, turns, grows, make)
            whole = [one for one in record.found if one.used[chosen].all()]
            shapes += sorted(whole or record.found, key=lambda one: one.seconds)[:1]
        if not shapes:
            raise InfeasibleError("these devices do not hold the graph")
        near = WORTH_REFINING * min(one.seconds for one in shapes)
        refined = [self._refined(one) for one in shapes if one.seconds <= near]
        whole = [one for one in (*shapes, *refined) if one.used[chosen].all()]
        return self._trial(min(whole or [*shapes, *refined], key=lambda one: one.seconds))

    def _slabs_of(self, loads: FloatArray, _: int) -> Part:
        return self._slabs.blocks(loads)

    def _blocks_of(self, loads: FloatArray, turn: int) -> Part:
        effort = EFFORTS[self.preset]
        request = Request(
            loads, effort.epsilon, self.seed + turn, self.threads,
            effort.objective, effort.preset,
        )  # fmt: skip
        return partition_with("auto", self.task.weighted, request).part

    def _refined(self, one: Blocks) -> Blocks:
        task, contract = self.task, self.task.contract(one.loads)
        part, _ = refine_seconds(
            task.weighted, one.part, task.work, task.costs,
            low=contract.low, high=contract.high, caps=contract.caps, seed=self.seed,
            threads=self.threads, effort=EFFORTS[self.preset].refine_effort,
        )  # fmt: skip
        return task.judged("", part)

    def _trial(self, one: Blocks) -> Trial:
        return Trial(np.flatnonzero(one.used), one.prediction)


def _silent(step: str, fraction: float) -> None:
    """Show no progress."""

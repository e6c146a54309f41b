"""Plans of chosen sets of devices, each of which gets a block: what a set really takes.

Made by steps of the makespan search, with seconds by the same prediction: slabs at sizes that allow
for their halos, the best plan of a coarse graph, and the faster of both refined by seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evener.arrays import BoolArray, IntVector
from evener.errors import InfeasibleError
from evener.graphs.graph import Graph
from evener.planning.advise.set_search import DeviceSet
from evener.planning.device_sets.estimate import Estimator
from evener.planning.device_sets.halo_law import sampled_halo_law
from evener.planning.makespan.candidates import Candidate, CandidateMaker, candidate_of, fastest
from evener.planning.makespan.coarse_search import CoarseSearch
from evener.planning.makespan.device_swaps import DeviceSwaps
from evener.planning.makespan.presets import EFFORTS
from evener.planning.makespan.problem import MakespanProblem
from evener.planning.makespan.refine import refinements
from evener.planning.makespan.size_rounds import SLAB_POWER, SizeRounds
from evener.planning.makespan.slabs import Slabs
from evener.planning.options import PlanOptions
from evener.plans.plan import Prediction
from evener.platforms.platform import Platform

COARSE_RUNS = {"fast": 2, "default": 6, "strong": 12}  # plans of a set on the coarse graph


@dataclass(frozen=True, eq=False)
class SetPlan:
    """Devices that got a block, ascending, and the prediction of all k devices."""

    devices: IntVector
    prediction: Prediction

    @property
    def seconds(self) -> float:
        """Predicted seconds per iteration [s]."""
        return self.prediction.makespan


@dataclass(frozen=True, eq=False)
class SetPlanner:
    """Plans sets of devices of one platform, each the same way."""

    graph: Graph
    platform: Platform
    options: PlanOptions

    @cached_property
    def problem(self) -> MakespanProblem:
        """The graph to be divided over the whole platform."""
        return MakespanProblem.of(self.graph, self.platform, self.options.workload).checked()

    @cached_property
    def estimator(self) -> Estimator:
        """What estimates the seconds of sets of devices."""
        seed, threads = self.options.seed, self.options.threads
        law = sampled_halo_law(self.problem.weighted, seed=seed, threads=threads)
        return Estimator(law, self.problem.costs, self.problem.load, self.problem.room)

    @cached_property
    def _slabs(self) -> Slabs:
        return Slabs(self.problem)

    @cached_property
    def _coarse(self) -> CoarseSearch:
        return CoarseSearch(self.problem, self.estimator.equal_finish, self.options.threads)

    @cached_property
    def _swaps(self) -> DeviceSwaps:
        return DeviceSwaps(self.problem)

    def plan(self, chosen: DeviceSet) -> SetPlan:
        """Return a plan of this set in which each of its devices has a block.

        Raises InfeasibleError or NotFoundError where the set's memory does not hold the graph.
        """
        devices, problem = chosen.devices, self.problem
        if devices.size == 1:
            part = problem.within_limits(np.full(self.graph.n, devices[0], np.int32))
            return _plan_of(candidate_of(problem, part))
        mask = np.zeros(problem.platform.k, np.bool_)
        mask[devices] = True
        tried = [
            one for one in (self._best_slabs(mask), self._best_coarse(mask)) if one is not None
        ]
        if not tried:
            raise InfeasibleError("these devices do not hold the graph")
        best, options = fastest(tried), self.options
        effort, maker = EFFORTS[options.preset], CandidateMaker(problem)
        refined = refinements(best, maker, effort, options.seed, options.threads)
        return _plan_of(fastest([best, *refined]))

    def _best_slabs(self, mask: BoolArray) -> Candidate | None:
        """Return the fastest slabs of these devices (k,), at sizes that allow for their halos."""
        equal_finish = self.estimator.equal_finish
        rounds = SizeRounds(CandidateMaker(self.problem), equal_finish, self._swaps, drop=False)
        loads = equal_finish.loads_of(mask[None], self.estimator.slabs).loads[0]
        turns = EFFORTS[self.options.preset].slab_rounds
        tried = rounds.run("", loads, turns, SLAB_POWER, lambda now, _: self._slabs.blocks(now))
        whole = [one for one in tried if one.used[mask].all()]
        return fastest(whole or tried) if tried else None

    def _best_coarse(self, mask: BoolArray) -> Candidate | None:
        """Return the best plan of these devices (k,) on the coarse graph, projected."""
        if self.graph.n < 2 * self.problem.platform.k:
            return None
        seed, runs = self.options.seed, COARSE_RUNS[self.options.preset]
        found = self._coarse.best([mask], runs, seed)
        if not found:
            return None
        part = self._coarse.projected(found[0], seed)  # the fastest
        return CandidateMaker(self.problem).make("", part)


def _plan_of(one: Candidate) -> SetPlan:
    return SetPlan(np.flatnonzero(one.used), one.prediction)

"""Plans the sets of devices with the lowest estimates, until no other set is likely to be better.

In the plan of a set, each of its devices gets a block. The plan is made by steps of the makespan
search, with the same prediction of seconds: slabs at sizes that allow for their halos, the best
plan of a coarse graph, and the faster of the two, refined by seconds.

Estimates of sets of similar size are wrong by similar factors. The known ratios of plans to
estimates correct the other estimates; the set with the lowest corrected estimate is planned next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from evener.arrays import BoolArray, IntVector
from evener.errors import InfeasibleError, NotFoundError
from evener.graphs.graph import Graph
from evener.planning.device_sets.estimate import Estimator
from evener.planning.device_sets.exchange_laws import sampled_halo_law
from evener.planning.device_sets.sets import DeviceSet
from evener.planning.makespan.candidates import Candidate, CandidateMaker, candidate_of, fastest
from evener.planning.makespan.coarse_search import CoarseSearch
from evener.planning.makespan.improvements import DeviceSwaps, refinements
from evener.planning.makespan.problem import EFFORTS, MakespanProblem
from evener.planning.makespan.size_rounds import SLAB_POWER, SizeRounds
from evener.planning.makespan.slabs import Slabs
from evener.planning.options import PlanOptions
from evener.planning.steps import Progress
from evener.plans.plan import Prediction
from evener.platforms.platform import Platform

COARSE_RUNS = {"fast": 2, "default": 6, "strong": 12}  # plans of a set on the coarse graph


@dataclass(frozen=True, eq=False)
class SetPlan:
    """The devices that have a block, ascending, and the prediction for all k devices."""

    devices: IntVector
    prediction: Prediction

    @property
    def seconds(self) -> float:
        """Predicted seconds per iteration [s]."""
        return self.prediction.makespan


@dataclass(frozen=True, eq=False)
class SetPlanner:
    """Makes plans of sets of devices of one platform, all in the same way."""

    graph: Graph
    platform: Platform
    options: PlanOptions

    @cached_property
    def problem(self) -> MakespanProblem:
        """The graph and the whole platform, as a problem of the makespan search."""
        return MakespanProblem.of(self.graph, self.platform, self.options.workload).checked()

    @cached_property
    def estimator(self) -> Estimator:
        """The estimator of the seconds of sets of devices."""
        seed, threads = self.options.seed, self.options.threads
        of_faces = self.options.workload.of_faces
        law = sampled_halo_law(self.problem.weighted, of_faces, seed=seed, threads=threads)
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

        Raises InfeasibleError or NotFoundError if the set's memory does not suffice for the graph.
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
            raise InfeasibleError("the graph does not fit on these devices")
        best, options = fastest(tried), self.options
        effort, maker = EFFORTS[options.preset], CandidateMaker(problem)
        refined = refinements(best, maker, effort, options.seed, options.threads)
        return _plan_of(fastest([best, *refined]))

    def _best_slabs(self, mask: BoolArray) -> Candidate | None:
        """Return the fastest slabs of these devices (k,), at sizes that allow for their halos."""
        equal_finish = self.estimator.equal_finish
        rounds = SizeRounds(CandidateMaker(self.problem), equal_finish, self._swaps)
        loads = equal_finish.loads_of(mask[None], self.estimator.slabs).loads[0]
        turns = EFFORTS[self.options.preset].slab_rounds
        tried = rounds.run("", loads, turns, SLAB_POWER, lambda now, _: self._slabs.blocks(now))
        whole = [one for one in tried if one.used[mask].all()]
        return fastest(whole or tried) if tried else None

    def _best_coarse(self, mask: BoolArray) -> Candidate | None:
        """Return these devices' (k,) best plan of the coarse graph, projected to the graph."""
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


# By preset; they bound time. Set by hand, 2026-11: benchmarks/advise.py has the results of
# "default".
BUDGET = {"fast": 4, "default": 10, "strong": 40}  # plans, besides those always made
MORE_VERTICES = 600_000  # vertices planned over all further sets: on small graphs, many more plans
PATIENCE = {"fast": 1, "default": 3, "strong": 10}  # plans in a row without gain before stopping
MARGIN = {"fast": 1.0, "default": 0.92, "strong": 0.8}  # least plan / corrected estimate expected
DOUBT = 0.5  # weight of "the estimate is right" against the known ratios, whose weights are below
NEAR = 0.25  # in log(size): weight of a ratio is 1 / (NEAR + |log(size / its size)|)^2
MIN_RATIO = 1e-3  # smaller ratios of plan to estimate count as this

PlanSet = Callable[[DeviceSet], SetPlan]


@dataclass(frozen=True, eq=False)
class Confirmed:
    """The plans of sets, and (number of devices, plan / estimate) for each set that was estimated.

    complete: whether every set without a plan is likely to be slower than the best plan.
    """

    plans: tuple[SetPlan, ...] = ()
    ratios: tuple[tuple[int, float], ...] = ()
    complete: bool = False

    @property
    def best(self) -> SetPlan:
        """The fastest plan; of equally fast ones, that with the fewest devices."""
        return min(self.plans, key=lambda one: (one.seconds, one.devices.size))

    @property
    def least(self) -> float:
        """Seconds of the best plan [s], infinity if there is no plan."""
        return min((one.seconds for one in self.plans), default=np.inf)

    def with_plan(self, made: SetPlan, estimated: DeviceSet | None = None) -> Confirmed:
        """Return this with one more plan; estimated: the set that the plan was made for, if any."""
        ratios = self.ratios
        if estimated is not None:
            ratio = made.seconds / estimated.seconds if estimated.seconds > 0 else 1.0
            ratios = (*ratios, (estimated.devices.size, ratio))
        return replace(self, plans=(*self.plans, made), ratios=ratios)

    def corrected(self, one: DeviceSet) -> float:
        """Return the estimate of a set [s], corrected by the ratios of sets of similar size.

        Estimates of a single device are exact and not corrected.
        """
        known = np.array([(size, ratio) for size, ratio in self.ratios if size > 1])
        if one.devices.size == 1 or not known.size:
            return one.seconds
        weight = 1.0 / (NEAR + np.abs(np.log(known[:, 0] / one.devices.size))) ** 2
        logs = np.log(np.maximum(known[:, 1], MIN_RATIO))
        return one.seconds * float(np.exp((weight * logs).sum() / (weight.sum() + DOUBT)))


def confirm(
    ranked: Sequence[DeviceSet],
    plan: PlanSet,
    always: Sequence[DeviceSet],
    *,
    preset: str,
    vertices: int,
    bounds: Sequence[float] | None = None,
    progress: Progress | None = None,
) -> Confirmed:
    """Return plans of the sets `always`, then of those of `ranked` that may beat the best.

    bounds: lower bounds on the seconds of each set of `ranked`, given only if `ranked` contains all
    possible sets. With bounds, planning does not stop after several sets without improvement; and
    if all sets can be planned within the budget, as on small graphs, it stops only when no
    remaining set can be faster than the best. Sets without the memory for the graph are skipped.
    Raises the last InfeasibleError or NotFoundError if no set has a plan.
    """
    budget = BUDGET[preset] + MORE_VERTICES // max(vertices, 1)
    left = _Left(
        ranked, bounds, certain=bounds is not None and budget >= len(ranked), preset=preset
    )
    confirmed, idle, done = Confirmed(), 0, set[bytes]()
    failed: Exception | None = None
    for count in range(budget + len(always)):
        one = next((s for s in always if s.devices.tobytes() not in done), None)
        if one is None:
            patient = bounds is not None or idle < PATIENCE[preset]
            one = left.next(confirmed, done) if patient else None
            if one is None:
                confirmed = replace(confirmed, complete=patient)
                break
        if progress is not None:
            progress(f"planning for {one.devices.size} devices", count / (budget + len(always)))
        done.add(one.devices.tobytes())
        try:
            made = plan(one)
        except (InfeasibleError, NotFoundError) as error:
            failed = error
            continue
        idle = 0 if made.seconds < confirmed.least else idle + 1
        confirmed = confirmed.with_plan(made, one)
    if not confirmed.plans:
        raise failed or InfeasibleError(
            "the graph does not fit on any set of devices",
            hint="`evener fits` shows how much memory is missing.",
        )
    return confirmed


@dataclass(frozen=True, eq=False)
class _Left:
    """Chooses the next set to plan. certain: whether only bounds, not estimates, rule out sets."""

    ranked: Sequence[DeviceSet]
    bounds: Sequence[float] | None
    certain: bool
    preset: str

    def next(self, confirmed: Confirmed, done: set[bytes]) -> DeviceSet | None:
        """Return the set with the lowest corrected estimate; None if no set may beat the best."""
        bounds = self.bounds or [0.0] * len(self.ranked)
        left = [
            one
            for one, bound in zip(self.ranked, bounds, strict=True)
            if one.devices.tobytes() not in done and not (self.certain and bound >= confirmed.least)
        ]
        hopes = [confirmed.corrected(one) for one in left]
        likely = min(hopes, default=0.0) * MARGIN[self.preset] < confirmed.least
        return left[int(np.argmin(hopes))] if left and (self.certain or likely) else None

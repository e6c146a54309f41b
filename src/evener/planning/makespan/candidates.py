"""Candidates: blocks with their predicted seconds; how they are made, and how one is chosen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count

import numpy as np
import numpy.typing as npt

from evener.arrays import BoolArray, FloatArray, Part
from evener.errors import InfeasibleError, NotFoundError
from evener.planning.makespan.problem import MakespanProblem
from evener.planning.steps import Progress, no_progress
from evener.plans import metrics
from evener.plans.partition import Partition
from evener.plans.plan import (
    CHOSEN_STAGE,
    CUT_STAGE,
    METIS_STAGE,
    SAME_DEVICES_STAGE,
    Prediction,
    Stage,
)
from evener.wording import duration

# Roles of the candidates that no plan is slower than.
BASELINES = (METIS_STAGE, SAME_DEVICES_STAGE, CUT_STAGE)


@dataclass(frozen=True, eq=False)
class Candidate:
    """Blocks (n,), their loads [units] and sizes (k,), quotient graph and predicted seconds.

    targets (k,) [units]: the target loads. role: see Stage, "" for most candidates.
    """

    name: str
    part: Part
    loads: FloatArray
    sizes: npt.NDArray[np.int64]
    quotient: metrics.Quotient
    prediction: Prediction
    targets: FloatArray
    role: str = ""

    @property
    def seconds(self) -> float:
        """Predicted seconds per iteration [s]."""
        return self.prediction.makespan

    @property
    def used(self) -> BoolArray:
        """Whether each device has a block (k,)."""
        return self.sizes > 0

    @property
    def sent(self) -> int:
        """Values sent by all devices together per iteration."""
        return int(self.quotient.sent.sum())

    @property
    def cut(self) -> float:
        """Weight of the edges between blocks."""
        return metrics.edge_cut(self.quotient)

    def stage(self, targets: FloatArray | None = None) -> Stage:
        """Return the candidate's figures as a step of a plan.

        targets (k,) [units]: loads to compare with; None: the candidate's own targets.
        """
        volumes = metrics.comm_volumes(self.quotient)
        targets = self.targets if targets is None else targets
        asked = targets > 0
        ratios = self.loads[asked] / targets[asked]
        return Stage(
            self.name,
            self.cut,
            int(volumes.max()),
            int(volumes.sum()),
            int(metrics.neighbours(self.quotient).max()),
            float(ratios.min()),
            float(ratios.max()),
            seconds=self.seconds,
            role=self.role,
        )


def candidate_of(
    problem: MakespanProblem,
    part: Part,
    name: str = "",
    targets: FloatArray | None = None,
    role: str = "",
) -> Candidate:
    """Return the blocks (n,), unchanged, as a candidate; targets None: the blocks' loads."""
    partition = Partition(part, problem.platform.k)
    sizes, loads = metrics.block_sizes(partition), problem.loads(part)
    lone = (sizes > 0).sum() == 1
    quotient = (
        metrics.no_contact(partition.k)
        if lone
        else metrics.quotient(problem.weighted, partition, of_faces=problem.workload.of_faces)
    )
    prediction = metrics.predicted_seconds(
        problem.graph, partition, problem.platform, problem.workload,
        between=quotient, bound=problem.lower_bound,
    )  # fmt: skip
    targets = loads if targets is None else targets
    return Candidate(name, part, loads, sizes, quotient, prediction, targets, role)


class CandidateMaker:
    """Makes candidates from blocks: enforces limits, predicts seconds, and reports progress.

    connected: whether each block must be in one piece. Use one object for each search: it remembers
    candidates' names, so that no two candidates have the same name.
    """

    def __init__(
        self, problem: MakespanProblem, connected: bool = False, progress: Progress = no_progress
    ) -> None:
        self.problem = problem
        self._connected, self._progress = connected, progress
        self._names: set[str] = set()

    def make(
        self, name: str, part: Part, targets: FloatArray | None = None, role: str = ""
    ) -> Candidate | None:
        """Return blocks (n,) as a candidate within the limits; None if no such blocks are found.

        targets (k,) [units]: the target loads; None: the loads of `part`.
        """
        if targets is None:
            targets = self.problem.loads(part)
        name = self._unused(name)
        try:
            part = self.problem.within_limits(part, self._connected)
        except (InfeasibleError, NotFoundError):
            return None
        candidate = candidate_of(self.problem, part, name, targets, role)
        self._names.add(name)
        above = candidate.seconds / candidate.prediction.bound
        done = 0.97 * (1 - 0.9 ** len(self._names))  # how many will follow is not known
        text = f"{name}: {duration(candidate.seconds)}, {above:.2f}x the lower bound"
        self._progress(text, done)
        return candidate

    def _unused(self, name: str) -> str:
        if name not in self._names:
            return name
        return next(new for i in count(2) if (new := f"{name} ({i})") not in self._names)


def fastest(candidates: Iterable[Candidate]) -> Candidate:
    """Return the candidate of least predicted seconds; if several are equally fast, the first."""
    return min(candidates, key=lambda one: one.seconds)


def fastest_baselines(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the fastest candidate of each role in BASELINES that some candidate has."""
    groups = ([one for one in candidates if one.role == role] for role in BASELINES)
    return [fastest(group) for group in groups if group]


def least_sending(candidates: Sequence[Candidate], alike: float) -> Candidate:
    """Return, of the candidates about as fast as the fastest, the one that sends least.

    Two times count as equal if they differ by at most `alike`, relative. The chosen candidate is
    never slower than a baseline, and never sends or cuts more than the fastest. Predictions are not
    more exact than `alike`, and if they are wrong, sending fewer values is safer.
    """
    first = fastest(candidates)
    baselines = [one.seconds for one in candidates if one.role in BASELINES]
    limit = min([(1 + alike) * first.seconds, *baselines])
    equal = [
        one for one in candidates
        if one.seconds <= limit and one.sent <= first.sent and one.cut <= first.cut
    ]  # fmt: skip
    return min(equal, key=lambda one: (one.sent, one.seconds), default=first)


def stages_of(
    candidates: Sequence[Candidate], chosen: Candidate, targets: FloatArray
) -> tuple[Stage, ...]:
    """Return every candidate as a step of a plan, then the chosen one once more.

    Of the candidates of METIS and of least cut, only the fastest keep their role. targets (k,)
    [units]: loads with which all loads are compared, as in the certificate.
    """
    baselines = fastest_baselines(candidates)
    steps = [
        one.stage(targets)
        if one.role not in BASELINES or any(one is other for other in baselines)
        else replace(one.stage(targets), role="")
        for one in candidates
    ]
    last = replace(chosen, name=f"chosen: {chosen.name}", role=CHOSEN_STAGE).stage(targets)
    return (*steps, last)

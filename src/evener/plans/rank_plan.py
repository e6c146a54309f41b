"""RankPlan: one rank's part of a plan for a graph that is distributed over ranks."""

from __future__ import annotations

from dataclasses import dataclass

from evener.arrays import Part
from evener.plans.plan import Certificate, Evaluation, Plan, Prediction
from evener.platforms.platform import Platform
from evener.wording import number, plural, two_lines


@dataclass(frozen=True, eq=False)
class RankPlan:
    """A rank's part of a certified partition of a graph whose rows are distributed over ranks.

    part (rows,) int32: the device of each vertex that this rank passed, in its order. platform,
    evaluation: of the whole graph, the same on all ranks. plan: the whole plan, at rank 0; None
    elsewhere. sent [B]: bytes that this rank has sent to others.
    """

    part: Part
    platform: Platform
    evaluation: Evaluation
    plan: Plan | None
    sent: int

    def __repr__(self) -> str:
        k, kept = self.platform.k, int(self.certificate.holds.sum())
        figures = [f"edge cut {number(self.evaluation.edge_cut)}"]
        figures.append(f"{self.prediction.clock(self.prediction.makespan)} per iteration")
        first = plural(self.part.size, "vertex", "vertices"), plural(k, "device")
        return two_lines("RankPlan", first, [*figures, f"{kept:,} of {k:,} contracts kept"])

    @property
    def certificate(self) -> Certificate:
        """The measured figures of every block and its contract."""
        return self.evaluation.certificate

    @property
    def prediction(self) -> Prediction:
        """Predicted seconds per iteration."""
        return self.evaluation.prediction

    def verdict(self) -> str:
        """Return the plan's result in one sentence."""
        return self.evaluation.verdict(self.platform)

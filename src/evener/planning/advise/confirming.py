"""Plans for the sets of devices with the least estimates, until no other is likely to be better.

Estimates of sets of similar size are wrong by similar factors. The ratios of plans to estimates
known so far correct the other estimates; the set with the least corrected estimate is planned next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evener.errors import InfeasibleError, NotFoundError
from evener.planning.advise.set_plans import SetPlan
from evener.planning.advise.set_search import DeviceSet

# By preset; they bound time. Set by hand, 2026-11: benchmarks/advise.py has the results of
# "default".
BUDGET = {"fast": 4, "default": 10, "strong": 40}  # plans, besides those always made
MORE_VERTICES = 600_000  # vertices planned over all further sets: on small graphs, many more plans
PATIENCE = {"fast": 1, "default": 3, "strong": 10}  # plans in a row without gain before stopping
MARGIN = {"fast": 1.0, "default": 0.92, "strong": 0.8}  # least plan / corrected estimate expected
DOUBT = 0.5  # weight of "the estimate is right" beside the known ratios, whose weights are below
NEAR = 0.25  # in log(size): weight of a ratio is 1 / (NEAR + |log(size / its size)|)^2
MIN_RATIO = 1e-3  # smaller ratios of plan to estimate count as this

PlanSet = Callable[[DeviceSet], SetPlan]
Progress = Callable[[str, float], None]


@dataclass(frozen=True, eq=False)
class Confirmed:
    """Plans of sets, and for those that were estimated first, (number of devices, plan / estimate).

    complete: whether every set that was not planned is likely to be slower than the best.
    """

    plans: tuple[SetPlan, ...] = ()
    ratios: tuple[tuple[int, float], ...] = ()
    complete: bool = False

    @property
    def best(self) -> SetPlan:
        """The plan of the least seconds, of several that of the fewest devices."""
        return min(self.plans, key=lambda one: (one.seconds, one.devices.size))

    @property
    def least(self) -> float:
        """Seconds of the best plan [s], infinity without any."""
        return min((one.seconds for one in self.plans), default=np.inf)

    def with_plan(self, made: SetPlan, estimated: DeviceSet | None = None) -> Confirmed:
        """Return the same with one plan more; estimated: the set that led to it, if one did."""
        ratios = self.ratios
        if estimated is not None:
            ratio = made.seconds / estimated.seconds if estimated.seconds > 0 else 1.0
            ratios = (*ratios, (estimated.devices.size, ratio))
        return replace(self, plans=(*self.plans, made), ratios=ratios)

    def corrected(self, one: DeviceSet) -> float:
        """Return the estimate of a set, corrected by the ratios of sets of similar size [s].

        The estimate of a single device is exact.
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

    bounds: seconds that no plan of each set of `ranked` falls below, if these are all sets there
    are. Then planning does not end for lack of patience; and if there is budget for all of them, as
    on small graphs, it ends only when no set left can be faster than the best. Sets whose memory
    does not hold the graph are passed over. Raises the last InfeasibleError or NotFoundError if no
    set has a plan.
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
            "no set of devices holds the graph",
            hint="`evener fits` says how much memory is missing.",
        )
    return confirmed


@dataclass(frozen=True, eq=False)
class _Left:
    """Chooses the next set to plan. certain: whether sets are left out by their bound alone."""

    ranked: Sequence[DeviceSet]
    bounds: Sequence[float] | None
    certain: bool
    preset: str

    def next(self, confirmed: Confirmed, done: set[bytes]) -> DeviceSet | None:
        """Return the set of the least corrected estimate; None if none may beat the best."""
        bounds = self.bounds or [0.0] * len(self.ranked)
        left = [
            one
            for one, bound in zip(self.ranked, bounds, strict=True)
            if one.devices.tobytes() not in done and not (self.certain and bound >= confirmed.least)
        ]
        hopes = [confirmed.corrected(one) for one in left]
        likely = min(hopes, default=0.0) * MARGIN[self.preset] < confirmed.least
        return left[int(np.argmin(hopes))] if left and (self.certain or likely) else None

"""Plans for the sets of devices that estimates rank first, until no other is likely to be better.

An estimate is off by much the same factor for sets of much the same size: what plans have shown of
it corrects the others. The set of the least corrected estimate is planned next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evener.errors import InfeasibleError, NotFoundError
from evener.planning.advise.trials import Trial
from evener.planning.device_sets.sets import Candidate

BUDGET = {"fast": 4, "default": 10, "strong": 40}  # plans, on large graphs
MORE_VERTICES = 600_000  # planned in further sets: small graphs cost little
PATIENCE = {"fast": 1, "default": 3, "strong": 10}  # plans that bring nothing, of many devices
MARGIN = {"fast": 1.0, "default": 0.92, "strong": 0.8}  # what a plan may be under its estimate
DOUBT = 0.5  # weight of estimates as they are
NEAR = 0.25  # how soon what is known of a size counts less for others, in their logarithm

Plan = Callable[[Candidate], Trial]
Progress = Callable[[str, float], None]


@dataclass(frozen=True, eq=False)
class Confirmed:
    """Trials of the sets that were planned; corrections for the estimates of others.

    complete: whether every set left is likely to be slower than the best.
    """

    trials: tuple[Trial, ...]
    sizes: tuple[int, ...]
    ratios: tuple[float, ...]
    complete: bool

    @property
    def best(self) -> Trial:
        """The trial of the least seconds, of the fewest devices."""
        return min(self.trials, key=lambda one: (one.seconds, one.devices.size))

    def with_(self, one: Candidate, trial: Trial) -> Confirmed:
        """The same, and one trial more."""
        return Confirmed(
            (*self.trials, trial),
            (*self.sizes, one.devices.size),
            (*self.ratios, _ratio(one, trial)),
            self.complete,
        )

    def also(self, trial: Trial) -> Confirmed:
        """The same, and the trial of a set that no estimate led to."""
        return Confirmed((*self.trials, trial), self.sizes, self.ratios, self.complete)

    def corrected(self, one: Candidate) -> float:
        """What a plan of this set is likely to take [s]."""
        return one.seconds * _correction(one.devices.size, self.sizes, self.ratios)


def confirm(
    ranked: Sequence[Candidate],
    plan: Plan,
    always: Sequence[Candidate],
    *,
    preset: str,
    vertices: int,
    bounds: Sequence[float] | None = None,
    progress: Progress | None = None,
) -> Confirmed:
    """Plan the sets `always`, then those of `ranked` that are likely to be better than the best.

    bounds: seconds that no plan of each of `ranked` falls below, where these are all sets: then
    none is missed for lack of patience, and where there is budget for all, as on small graphs,
    none but those that cannot be faster than the best. Sets that memory does not hold are passed
    over. Raises the last InfeasibleError or NotFoundError where no set has a plan.
    """
    budget = BUDGET[preset] + MORE_VERTICES // max(vertices, 1)
    sure = bounds is not None and budget >= len(ranked)
    least_of = dict(
        zip((c.devices.tobytes() for c in ranked), bounds or [0.0] * len(ranked), strict=True)
    )
    trials: list[Trial] = []
    sizes: list[int] = []
    ratios: list[float] = []
    done: set[bytes] = set()
    failed: Exception | None = None
    complete, idle = False, 0
    for count in range(budget + len(always)):
        one = next((c for c in always if c.devices.tobytes() not in done), None)
        if one is None:
            least = min((trial.seconds for trial in trials), default=np.inf)
            left = [c for c in ranked if c.devices.tobytes() not in done]
            if sure:
                left = [c for c in left if least_of[c.devices.tobytes()] < least]
            hopes = [c.seconds * _correction(c.devices.size, sizes, ratios) for c in left]
            patient = bounds is not None or idle < PATIENCE[preset]
            unlikely = not sure and min(hopes, default=0.0) * MARGIN[preset] >= least
            if not left or unlikely or not patient:
                complete = patient
                break
            one = left[int(np.argmin(hopes))]
        if progress is not None:
            progress(f"planning for {one.devices.size} devices", count / (budget + len(always)))
        done.add(one.devices.tobytes())
        try:
            trial = plan(one)
        except (InfeasibleError, NotFoundError) as error:
            failed = error
            continue
        idle = 0 if trial.seconds < min((t.seconds for t in trials), default=np.inf) else idle + 1
        trials.append(trial)
        sizes.append(one.devices.size)
        ratios.append(_ratio(one, trial))
    if not trials:
        raise failed or InfeasibleError(
            "no set of devices holds the graph",
            hint="`evener fits` says how much memory is missing.",
        )
    return Confirmed(tuple(trials), tuple(sizes), tuple(ratios), complete)


def _ratio(one: Candidate, trial: Trial) -> float:
    return trial.seconds / one.seconds if one.seconds > 0 else 1.0


def _correction(size: int, sizes: Sequence[int], ratios: Sequence[float]) -> float:
    """Plan over estimate, by sizes planned: their mean, near sizes first; one alone is exact.

    The farther all of them are, the nearer to one.
    """
    if size == 1 or not sizes:
        return 1.0
    known = np.array([(s, r) for s, r in zip(sizes, ratios, strict=True) if s > 1])
    if not known.size:
        return 1.0
    weight = 1.0 / (NEAR + np.abs(np.log(known[:, 0] / size))) ** 2
    return float(
        np.exp((weight * np.log(np.maximum(known[:, 1], 1e-3))).sum() / (weight.sum() + DOUBT))
    )

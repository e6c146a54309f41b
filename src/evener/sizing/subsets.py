"""best_subset: choose devices by their speed models, if using a device costs time per iteration.

This is for users of `evener sizes` and `ev.best_subset`, who have speed models but no graph, and
who state the cost of using each device. If graph and links are known, `evener advise` predicts this
cost from partitions, and evener.planning.device_sets.sets searches the sets of devices. That search
is different: there the communication of a device depends on the whole set, so sets are ranked by
estimates; here each device has its own cost, so the sizes and seconds of a set are exact.

There are two kinds of cost. `fixed_seconds` (a launch, a latency) delay only the device itself;
they are part of the sizing problem, and a device whose fixed time is too long gets nothing.
`shared_seconds` (one more rank in a reduction) lengthen the iteration for all devices; for these,
the best set of devices is searched for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from evener.arrays import BoolArray, FloatArray, IntArray
from evener.platforms.models.fitting import SpeedModel
from evener.sizing.exact import solve_exact
from evener.sizing.problems import Problem, checked_seconds, make_problem
from evener.wording import brief

ALL_SETS = 8  # for at most this many devices, every set is tried: 255 sets
FINISH_TIMES = 48  # number of finish times that `cheapest` tries in each of its two rounds
MAX_ROUNDS = 64  # of adding and removing single devices


@dataclass(frozen=True, eq=False)
class Subset:
    """The devices worth using, and the gain from using only these.

    used (k,) bool. sizes (k,) int64 [units], zero for unused devices. seconds (k,) [s]: without
    shared costs. makespan [s]: with shared costs. makespan_of_all [s]: the least makespan if every
    device must get at least one unit, infinity if that is impossible. exhaustive: whether it is
    proved that no set is better.
    """

    used: BoolArray
    sizes: IntArray
    seconds: FloatArray
    makespan: float
    makespan_of_all: float
    exhaustive: bool

    def __repr__(self) -> str:
        return brief(self)

    @property
    def gain(self) -> float:
        """Fraction of makespan_of_all (0 to 1) that is saved by not using some devices."""
        if not self.makespan_of_all > 0:
            return 0.0
        return max(0.0, 1.0 - self.makespan / self.makespan_of_all)


def best_subset(
    models: Sequence[SpeedModel],
    n: int,
    *,
    fixed_seconds: npt.ArrayLike | None = None,
    shared_seconds: npt.ArrayLike | None = None,
    low: npt.ArrayLike | None = None,
    high: npt.ArrayLike | None = None,
) -> Subset:
    """Return the set of devices and the whole sizes with which an iteration ends earliest.

    fixed_seconds, shared_seconds: (k,) or one number for all [s], zero or above; see the module's
    docstring. The choice is optimal without shared costs, and for up to ALL_SETS devices with them.
    Otherwise it is the best of the cheapest sets for many finish times, improved by adding and
    removing single devices. Raises the errors of `solve_sizes`, except for methods.
    """
    problem = make_problem(models, n, low, high, fixed_seconds)
    shared = checked_seconds(shared_seconds, problem.k, "shared_seconds")
    search = _Search(problem, shared)
    everyone = np.ones(problem.k, np.bool_)
    best = search.solve(everyone)
    exhaustive = not shared.any() or problem.k <= ALL_SETS
    if shared.any() and exhaustive:
        for mask in _sets(problem):
            best = search.better(best, mask)
    elif shared.any():
        best = search.improved(search.cheapest(best))
    assert best is not None
    sizes, makespan = best
    return Subset(sizes > 0, sizes, problem.times(sizes), makespan, search.of_all(), exhaustive)


class _Search:
    """Computes and stores the makespans of sets of devices, given as masks (k,) bool."""

    def __init__(self, problem: Problem, shared: FloatArray) -> None:
        self._problem, self._shared = problem, shared
        self._known: dict[bytes, tuple[IntArray, float] | None] = {}

    def solve(self, mask: BoolArray) -> tuple[IntArray, float] | None:
        """Return the sizes on these devices and the makespan with shared costs.

        Returns None if these devices cannot take the load.
        """
        key = mask.tobytes()
        if key not in self._known:
            self._known[key] = self._solved(np.where(mask, self._problem.high, 0))
        return self._known[key]

    def better(
        self, best: tuple[IntArray, float] | None, mask: BoolArray
    ) -> tuple[IntArray, float] | None:
        """Return the result for this set of devices if it is better than `best`, else `best`."""
        found = self.solve(mask)
        if found is None or (best is not None and found[1] >= best[1]):
            return best
        return found

    def cheapest(self, best: tuple[IntArray, float] | None) -> tuple[IntArray, float] | None:
        """Return the best of `best` and the cheapest sets for many finish times.

        The second round tries times between the neighbours of the first round's best time.
        """
        assert best is not None
        whole = float(self._problem.times(best[0]).max())
        moments = np.geomspace(max(whole, 1e-300), max(best[1], 1e-300), FINISH_TIMES)
        for _ in range(2):
            found = [self.solve(self._suffice(seconds)) for seconds in moments.tolist()]
            ends = [np.inf if one is None else one[1] for one in found]
            at = int(np.argmin(ends))
            if ends[at] < best[1] and (chosen := found[at]) is not None:
                best = chosen
            near = moments[[max(at - 1, 0), min(at + 1, FINISH_TIMES - 1)]]
            moments = np.linspace(near[0], near[1], FINISH_TIMES)
        return best

    def _suffice(self, seconds: float) -> BoolArray:
        """Return enough devices to do the load in `seconds`, as a mask (k,).

        Devices that do the most work in this time per shared cost are taken first; devices with a
        lower limit above zero are always taken.
        """
        problem = self._problem
        left = np.maximum(seconds - problem.fixed, 0.0).tolist()
        most = [m.max_load(t) for m, t in zip(problem.models, left, strict=True)]
        room = np.floor(np.minimum(np.array(most) * (1 + 1e-12), problem.high))
        with np.errstate(divide="ignore", invalid="ignore"):
            worth = np.where(room > 0, room / self._shared, 0.0)
        order = np.argsort(-worth, kind="stable")
        count = int(np.searchsorted(np.cumsum(room[order]), problem.n)) + 1
        mask = problem.low > 0
        mask[order[:count]] = True
        return np.asarray(mask)

    def improved(self, best: tuple[IntArray, float] | None) -> tuple[IntArray, float] | None:
        """Improve `best` by adding and removing single devices, as long as that helps."""
        assert best is not None
        for _ in range(MAX_ROUNDS):
            before = best
            mask = best[0] > 0
            for i in range(self._problem.k):
                if self._problem.low[i] == 0:
                    other = mask.copy()
                    other[i] = ~other[i]
                    best = self.better(best, other)
                    assert best is not None
            if best is before:
                break
        return best

    def of_all(self) -> float:
        """Return the makespan [s] if every device must get a unit; infinity if impossible."""
        problem = self._problem
        low = np.maximum(problem.low, 1)
        if (low > problem.high).any() or int(low.sum()) > problem.n:
            return float("inf")
        sizes = solve_exact(replace(problem, low=low)).sizes
        return float(problem.times(sizes).max() + self._shared.sum())

    def _solved(self, high: IntArray) -> tuple[IntArray, float] | None:
        problem = self._problem
        if int(high.sum()) < problem.n or (problem.low > high).any():
            return None
        sizes = solve_exact(replace(problem, high=high)).sizes
        shared = float(self._shared[sizes > 0].sum())
        return sizes, float(problem.times(sizes).max(initial=0.0)) + shared


def _sets(problem: Problem) -> list[BoolArray]:
    needed = problem.low > 0
    choices = [c for size in range(1, problem.k + 1) for c in combinations(range(problem.k), size)]
    masks = [np.isin(np.arange(problem.k), choice) for choice in choices]
    return [mask for mask in masks if mask[needed].all()]

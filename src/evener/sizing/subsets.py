"""Which devices are worth using, where using one costs time in every iteration.

Two kinds of cost: `fixed_seconds` is a device's own (a launch, a latency) and comes before its
work; `shared_seconds` is paid by all (one more rank in a reduction, a straggling link): it
lengthens the iteration by as much. The first kind is solved exactly with the sizes: a device gets
nothing where its own cost leaves it no time. For the second a set of devices is searched for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from evener.arrays import BoolArray, FloatArray, IntArray
from evener.platforms.models.fitting import SpeedModel
from evener.sizing.exact import solve_exact, times_of
from evener.sizing.problems import Problem, checked_seconds, make_problem
from evener.wording import brief

ALL_SETS = 8  # devices up to which every set is tried
MOMENTS = 48  # finish times at which the cheapest sets that suffice are looked for
MOST_ROUNDS = 64  # of adding or removing single devices


@dataclass(frozen=True, eq=False)
class Subset:
    """The devices worth using, and what that gains.

    used (k,) bool; sizes (k,) int64, zero where not used; seconds (k,) [s] without shared costs;
    makespan [s] with them; makespan_of_all [s]: the least if every device must be given a unit,
    infinity where that cannot be; exhaustive: whether no set could be better.
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
        """The part of the time of all devices that leaving some out saves, 0 to 1."""
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
    """Choose devices and whole sizes that end an iteration earliest.

    fixed_seconds, shared_seconds: (k,) or one for all [s], zero or above; see the module. Without
    shared costs, and up to ALL_SETS devices with them, the choice is optimal; beyond, it is the
    best of the cheapest sets for many finish times, improved by adding and removing single
    devices. Raises as `solve_sizes`.
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
    return Subset(sizes > 0, sizes, times_of(problem, sizes), makespan, search.of_all(), exhaustive)


class _Search:
    """Makespans of sets of devices."""

    def __init__(self, problem: Problem, shared: FloatArray) -> None:
        self._problem, self._shared = problem, shared
        self._known: dict[bytes, tuple[IntArray, float] | None] = {}

    def solve(self, mask: BoolArray) -> tuple[IntArray, float] | None:
        """Sizes on these devices, and the makespan with shared costs; None if there is no room."""
        key = mask.tobytes()
        if key not in self._known:
            self._known[key] = self._solved(np.where(mask, self._problem.high, 0))
        return self._known[key]

    def better(
        self, best: tuple[IntArray, float] | None, mask: BoolArray
    ) -> tuple[IntArray, float] | None:
        """The better of the best so far and this set."""
        found = self.solve(mask)
        if found is None or (best is not None and found[1] >= best[1]):
            return best
        return found

    def cheapest(self, best: tuple[IntArray, float] | None) -> tuple[IntArray, float] | None:
        """The better of the best so far and the cheapest sets for many finish times.

        The second round looks between the two times beside the best of the first.
        """
        assert best is not None
        whole = float(times_of(self._problem, best[0]).max())
        moments = np.geomspace(max(whole, 1e-300), max(best[1], 1e-300), MOMENTS)
        for _ in range(2):
            found = [self.solve(self._suffice(seconds)) for seconds in moments.tolist()]
            ends = [np.inf if one is None else one[1] for one in found]
            at = int(np.argmin(ends))
            if ends[at] < best[1] and (chosen := found[at]) is not None:
                best = chosen
            near = moments[[max(at - 1, 0), min(at + 1, MOMENTS - 1)]]
            moments = np.linspace(near[0], near[1], MOMENTS)
        return best

    def _suffice(self, seconds: float) -> BoolArray:
        """The devices that do most by then for what they cost, as many as the load needs."""
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
        """Add and remove single devices as long as that helps."""
        assert best is not None
        for _ in range(MOST_ROUNDS):
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
        """The makespan if every device must take part; infinity where it cannot."""
        problem = self._problem
        low = np.maximum(problem.low, 1)
        if (low > problem.high).any() or int(low.sum()) > problem.n:
            return float("inf")
        sizes = solve_exact(replace(problem, low=low)).sizes
        return float(times_of(problem, sizes).max() + self._shared.sum())

    def _solved(self, high: IntArray) -> tuple[IntArray, float] | None:
        problem = self._problem
        if int(high.sum()) < problem.n or (problem.low > high).any():
            return None
        sizes = solve_exact(replace(problem, high=high)).sizes
        shared = float(self._shared[sizes > 0].sum())
        return sizes, float(times_of(problem, sizes).max(initial=0.0)) + shared


def _sets(problem: Problem) -> list[BoolArray]:
    needed = problem.low > 0
    choices = [c for size in range(1, problem.k + 1) for c in combinations(range(problem.k), size)]
    masks = [np.isin(np.arange(problem.k), choice) for choice in choices]
    return [mask for mask in masks if mask[needed].all()]

"""The balancers that are compared on emulated machines, and runs of programs under them.

The traditional balancer sizes devices by their speeds in the last iteration (CPM, 2.3.1 of
[Cla14]_). The dynamic partitioning algorithm (DPA, 4.3) refines partial models: the thesis's solves
for sizes by geometry (GPA) or by root finding (NPA); Evener's also halves steps that did not help.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.platforms.models.fitting import SpeedModel, fit_model
from evener.platforms.models.samples import Sample
from evener.rebalancing.balancer import Balancer, ConstantBalancer
from evener.running.emulation import EmulatedMachine
from evener.sizing import Dynamic, solve_sizes

EPSILON = 0.05  # times within it are even; the thesis has an epsilon, but not its value
KIND = {"gpa": "shaped", "npa": "akima"}  # of partial models, by method

Observe = Callable[[FloatArray], IntArray | None]
Start = Callable[[int, int], Observe]


def even_sizes(n: int, k: int) -> IntArray:
    """Return n divided into k whole parts that differ by at most one."""
    return n // k + (np.arange(k) < n % k).astype(np.int64)


def traditional(n: int, k: int) -> Observe:
    """Return the traditional balancer."""
    return ConstantBalancer(even_sizes(n, k), EPSILON).observe


class PlainDPA:
    """The thesis's DPA: adds each iteration's times to the models, and solves them for new sizes.

    method: "gpa" or "npa". Sizes stay for good once all times agree to EPSILON.
    """

    def __init__(self, n: int, k: int, method: str) -> None:
        self.sizes, self.method, self.balanced = even_sizes(n, k), method, False
        self._known: list[dict[int, Sample]] = [{} for _ in range(k)]

    def observe(self, seconds: FloatArray) -> IntArray | None:
        """Take the times (k,) of `sizes` [s]; return new sizes, None where they stay."""
        self.balanced = self.balanced or bool(spread(seconds) <= EPSILON)
        if self.balanced:
            return None
        for known, size, time in zip(self._known, self.sizes.tolist(), seconds, strict=True):
            known[size] = Sample(float(size), float(time))
        models = [fit_model(list(known.values()), KIND[self.method]) for known in self._known]
        total = int(self.sizes.sum())
        self.sizes = np.asarray(solve_sizes(models, total, self.method, low=1).sizes, np.int64)
        return self.sizes.copy()


def by_geometry(n: int, k: int) -> Observe:
    """Return the thesis's DPA with GPA."""
    return PlainDPA(n, k, "gpa").observe


def by_roots(n: int, k: int) -> Observe:
    """Return the thesis's DPA with NPA, on Akima splines."""
    return PlainDPA(n, k, "npa").observe


def dynamic(n: int, k: int) -> Observe:
    """Return Evener's DPA with GPA, which when done keeps the best sizes it has seen."""
    search = Dynamic(n, k, EPSILON, "gpa", low=1)

    def observe(seconds: FloatArray) -> IntArray | None:
        if search.outcome:
            return None
        found = search.observe(seconds)
        return np.asarray(search.best.sizes if found is None else found, np.int64)

    return observe


def ours(n: int, k: int) -> Observe:
    """Return Evener's Balancer, without models."""
    return Balancer((), even_sizes(n, k), tolerance=EPSILON).observe


def played(
    models: Sequence[SpeedModel], n: int, start: Start, steps: int, noise: float = 0.0
) -> tuple[FloatArray, IntArray]:
    """(steps, k) seconds and sizes of a program's first iterations, balanced as it runs."""
    machine, observe = EmulatedMachine(models, noise=noise), start(n, len(models))
    sizes = even_sizes(n, len(models))
    seconds, history = [], []
    for _ in range(steps):
        seconds.append(machine.run(sizes))
        history.append(sizes)
        following = observe(seconds[-1])
        sizes = sizes if following is None else following
    return np.array(seconds), np.array(history)


def spread(seconds: FloatArray) -> FloatArray:
    """Return the largest difference of two times, relative to the smaller; along the last axis."""
    return np.asarray(seconds.max(axis=-1) / seconds.min(axis=-1) - 1)


def balanced_at(seconds: FloatArray) -> int | None:
    """The first iteration, from 1, whose times agree to EPSILON; None where none do."""
    even = np.flatnonzero(spread(seconds) <= EPSILON)
    return int(even[0]) + 1 if even.size else None


def converged_after(sizes: IntArray) -> int | None:
    """The iteration, from 1, from which on sizes stay as they are; None if they never do."""
    moving = np.flatnonzero((np.diff(sizes, axis=0) != 0).any(axis=1))
    if not moving.size:
        return 1
    return None if moving[-1] >= len(sizes) - 3 else int(moving[-1]) + 2

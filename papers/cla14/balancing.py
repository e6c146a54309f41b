"""Balancing Jacobi's method on emulated clusters with a memory cliff ([Cla14]_, 2.3.1).

Iteration by iteration, with the thesis's criticism of constant speeds. The traditional balancer
sizes devices by their speeds in the last iteration (CPM). The dynamic partitioning algorithm (DPA,
4.3) refines partial models: the thesis's solves for sizes by geometry (GPA) or by root finding
(NPA); Evener's also halves steps that did not help.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray, as_integers, as_numbers
from evener.errors import InputError
from evener.platforms.models.examples import jacobi_servers
from evener.platforms.models.fitting import Constant, Piecewise, SpeedModel, fit_model
from evener.platforms.models.samples import Sample
from evener.rebalancing.balancer import Balancer
from evener.running.emulation import EmulatedMachine
from evener.sizing.dynamic import Dynamic
from evener.sizing.solving import solve_sizes
from papers.findings import Criterion, Finding, Panel, PaperResult, Plot

EPSILON = 0.05  # times within it are even; the thesis has an epsilon, but not its value
KIND = {"gpa": "shaped", "npa": "akima"}  # of partial models, by method

Observe = Callable[[FloatArray], IntArray | None]
Start = Callable[[int, int], Observe]


def even_sizes(n: int, k: int) -> IntArray:
    """Return n divided into k whole parts that differ by at most one."""
    return n // k + (np.arange(k) < n % k).astype(np.int64)


class ConstantBalancer:
    """The traditional balancer: it assumes that each device keeps its last speed ([GAB08]_).

    Sizes become proportional to size / time whenever times differ by more than `tolerance`. It may
    diverge if speed depends on the load ([Cla14]_, 2.3.1); it exists for comparison.
    """

    def __init__(self, sizes: npt.ArrayLike, tolerance: float = 0.05) -> None:
        self.sizes, self.tolerance = as_integers(sizes, "sizes"), tolerance

    def observe(self, times: npt.ArrayLike) -> npt.NDArray[np.int64] | None:
        """Return new sizes (k,), or None if the times (k,) [s] are even.

        Raises InputError for a wrong number of times, or times that are not above zero.
        """
        seconds = as_numbers(times, "times")
        if seconds.size != self.sizes.size or not (seconds[self.sizes > 0] > 0).all():
            raise InputError("times must be above zero, one per device")
        if seconds.max() <= (1 + self.tolerance) * seconds.min():
            return None
        speeds = np.maximum(self.sizes, 1) / np.maximum(seconds, 1e-300)
        models = [Constant(float(speed)) for speed in speeds]
        found = solve_sizes(models, int(self.sizes.sum()), low=1)
        self.sizes = np.asarray(found.sizes, np.int64)
        return self.sizes.copy()


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


STEPS = 15  # iterations shown
LONG = 60  # iterations after which a balancer that has not converged never will
NOISE = 0.02
SMALL, LARGE = 8000, 11000  # unknowns: an even share fits into every memory, and does not
NEAR_OPTIMUM = 9  # the iteration at which the thesis's DPA is "near optimum"
SENT_MB = 300  # "approximately", between P1 and P2 in every iteration
ABOUT = 0.1  # what we take "approximately" to allow, and of an even share, "very few" rows
STEEP = np.array([1000.0, 3000.0, 5000.0]), np.array([9.0, 6.0, 0.5])  # rows, and rows/s
TRIED = "the servers of table 2.1, emulated"


class Played(NamedTuple):
    """Seconds and sizes (LONG, k) of one cluster and problem under CPM, DPA, and ours."""

    cluster: str
    unknowns: int
    cpm: tuple[FloatArray, IntArray]
    dpa: tuple[FloatArray, IntArray]
    own: tuple[FloatArray, IntArray]
    noisy: tuple[FloatArray, IntArray]


def balancing() -> PaperResult:
    """Figures 2.2 to 2.7: seconds of each server, iteration by iteration."""
    cases = [_case(cluster, n) for cluster in ("cluster1", "cluster2") for n in (SMALL, LARGE)]
    small, large = ([case for case in cases if case.unknowns == n] for n in (SMALL, LARGE))
    endless = [_case(cluster, LARGE, endless=True) for cluster in ("cluster1", "cluster2")]
    steep: list[SpeedModel] = [Piecewise(*STEEP), Constant(1.0)]
    findings = [
        sketch().beside_counter("a speed that falls with load", sketch(steep)),
        _small(small).beside_counter(f"the same with D = {LARGE:,}", _small(large)),
        _large(large).beside_counter("unlimited memories", _large(endless)),
        _swing(large[-1]).beside_counter("unlimited memories", _swing(endless[-1])),
        _passed(large[-1]).beside_counter("unlimited memories", _passed(endless[-1])),
        _dynamic(large[-1]).beside_counter(
            "models of CPM: the speed of the last iteration",
            _dynamic(large[-1]._replace(dpa=large[-1].cpm)),
        ),
    ]
    plots = [
        Plot("figure-2.4-traditional", [_panel(case, case.cpm[0]) for case in cases]),
        Plot("figure-2.6-dynamic", [_panel(case, case.dpa[0]) for case in cases]),
    ]
    return PaperResult(findings, plots, {"balancers": [_row(case) for case in cases]})


def _case(cluster: str, n: int, *, endless: bool = False) -> Played:
    curves = jacobi_servers(cluster, n)
    models = [(replace(curve, memory=np.inf) if endless else curve).model for curve in curves]
    cpm, dpa, own = (
        played(models, n, start, LONG) for start in (traditional, by_geometry, dynamic)
    )
    return Played(cluster, n, cpm, dpa, own, played(models, n, ours, LONG, NOISE))


def _row(case: Played) -> dict[str, float | int | str]:
    """Return when each balancer converged, and its slowest time; Evener's two included."""
    row: dict[str, float | int | str] = {"cluster": case.cluster, "unknowns": case.unknowns}
    runs = {"cpm": case.cpm, "dpa": case.dpa, "evener_dpa": case.own, "evener_noise": case.noisy}
    for key, (seconds, sizes) in runs.items():
        row[f"{key}_iterations"] = converged_after(sizes) or "never"
        row[f"{key}_slowest_s"] = round(float(seconds[-2:].max()), 4)
        row[f"{key}_moved_rows"] = int(np.maximum(np.diff(sizes, axis=0), 0).sum())
    return row


def sketch(models: Sequence[SpeedModel] = (Constant(3.0), Constant(1.0))) -> Finding:
    """Figure 2.2: CPM on two devices."""
    seconds, _ = played(models, SMALL, traditional, 3)
    at = balanced_at(seconds)
    return Finding(
        "2.3.1, figure 2.2",
        "a sketch: two devices whose speed does not depend on the load, CPM",
        "even at first, optimal at the second iteration",
        f"two devices of constant speeds 3 and 1, {SMALL:,} units",
        f"balanced at iteration {at}",
        [Criterion("balanced at the second iteration", at == 2)],
    )


def _small(cases: Sequence[Played]) -> Finding:
    ends = [case.cpm[0][-1] for case in cases]
    same = all((case.cpm[1] == case.dpa[1]).all() for case in cases)
    at = " and ".join(str(balanced_at(case.cpm[0])) for case in cases)
    return Finding(
        "2.3.1, figure 2.4 (a, c)",
        f"Jacobi's method on clusters 1 and 2, D = {SMALL:,}, CPM; the same with DPA by GPA",
        "the load converges to a balanced solution; DPA does much the same",
        f"{TRIED}; even within {EPSILON:.0%}",
        f"CPM is balanced from iterations {at} on; DPA has {'the same' if same else 'other'} sizes",
        [
            Criterion("CPM ends balanced on both", all(bool(spread(t) <= EPSILON) for t in ends)),
            Criterion("DPA has the same sizes in every iteration", same),
        ],
    )


def _large(cases: Sequence[Played]) -> Finding:
    least = ", ".join(f"{case.cluster} {spread(case.cpm[0]).min():.0f}" for case in cases)
    return Finding(
        "2.3.1, figure 2.4 (b, d)",
        f"the same with D = {LARGE:,}, where an even share is beyond some memories; CPM",
        "the load remains unbalanced, the algorithm never converges",
        f"{TRIED}; {LONG} iterations",
        "the largest time exceeds the least by at least this many times the least, in every "
        f"iteration: {least}",
        [
            Criterion(
                f"balanced at none of {LONG} iterations",
                all(balanced_at(case.cpm[0]) is None for case in cases),
            ),
            Criterion(
                "sizes never settle", all(converged_after(case.cpm[1]) is None for case in cases)
            ),
        ],
    )


def _swing(case: Played) -> Finding:
    """Figure 2.5: what P1 and P2 have in the second and third iteration."""
    sizes = case.cpm[1]
    few = sizes[1, :2] / sizes[0, :2]
    memory = jacobi_servers(case.cluster, case.unknowns)[0].memory
    return Finding(
        "2.3.1, figure 2.5",
        f"the first five iterations of CPM on cluster 2, D = {LARGE:,}",
        "P1 and P2 get very few rows at the second iteration; at the third P1 gets enough to page",
        TRIED,
        f"at the second P1 and P2 have {few[0]:.0%} and {few[1]:.0%} of an even share; at the "
        f"third P1 has {sizes[2, 0]:,} rows, its memory holds {memory:,.0f}",
        [
            Criterion(f"under {ABOUT:.0%} of an even share", bool((few < ABOUT).all()), own=True),
            Criterion("P1 pages at the third iteration", bool(sizes[2, 0] > memory)),
        ],
    )


def _passed(case: Played) -> Finding:
    """What P1 and P2 send back and forth in each iteration."""
    sizes, row_mb = case.cpm[1], 8 * case.unknowns / 1e6
    change = np.diff(sizes[2:, :2], axis=0) * row_mb
    own = np.abs(change).mean(axis=0)
    opposite = change[:, 0] * change[:, 1] < 0
    between = float(np.where(opposite, np.abs(change).min(axis=1), 0.0).mean())
    return Finding(
        "2.3.1, data sent",
        f"CPM on cluster 2, D = {LARGE:,}",
        f"about {SENT_MB} MB pass back and forth between P1 and P2 in each iteration",
        TRIED,
        f"P1 changes by {own[0]:.0f} MB in each iteration, P2 by {own[1]:.0f}, {between:.0f} of "
        "them from one to the other",
        [
            Criterion(f"P1's rows change by {SENT_MB} MB within {ABOUT:.0%}",
                      abs(float(own[0]) / SENT_MB - 1) <= ABOUT, own=True),
            Criterion(f"{SENT_MB} MB within {ABOUT:.0%} between P1 and P2",
                      abs(between / SENT_MB - 1) <= ABOUT, own=True),
        ],
    )  # fmt: skip


def _dynamic(case: Played) -> Finding:
    seconds, _ = case.dpa
    at, own = balanced_at(seconds), converged_after(case.own[1])
    models = [curve.model for curve in jacobi_servers(case.cluster, case.unknowns)]
    least = solve_sizes(models, case.unknowns).makespan
    above = float(seconds[NEAR_OPTIMUM - 1].max()) / least - 1
    return Finding(
        "2.3.1, figures 2.6, 2.7",
        f"DPA with GPA on cluster 2, D = {LARGE:,}",
        f"balances the load; near the optimum at iteration {NEAR_OPTIMUM}",
        f"{TRIED}; the thesis's steps; even within {EPSILON:.0%}",
        f"balanced at iteration {at}; at iteration {NEAR_OPTIMUM} {above:.1%} above the best that "
        f"any sizes do. Evener's own DPA, which halves steps that did not help, takes {own}",
        [Criterion(f"balanced by iteration {NEAR_OPTIMUM}", at is not None and at <= NEAR_OPTIMUM)],
    )


def _panel(case: Played, seconds: FloatArray) -> Panel:
    shown = seconds[:STEPS]
    names = [curve.name for curve in jacobi_servers(case.cluster, case.unknowns)]
    lines = {name: shown[:, i].tolist() for i, name in enumerate(names)}
    x = list(range(1, len(shown) + 1))
    title = f"{case.cluster}, {case.unknowns:,} unknowns"
    wide = bool(shown.max() > 10 * shown.min())
    return Panel(title, "iteration", "seconds", x, lines, log_y=wide)

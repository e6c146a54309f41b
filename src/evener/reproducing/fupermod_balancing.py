"""Balancing Jacobi's method on emulated clusters with a memory cliff ([Cla14]_, 2.3.1 and 4.3).

First iteration by iteration, with the thesis's criticism of constant speeds; then the speed-up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.platforms.models.examples import jacobi_servers
from evener.platforms.models.fitting import Constant
from evener.reproducing.findings import Criterion, Finding, Panel, PaperResult, Plot
from evener.reproducing.fupermod_balancers import (
    EPSILON,
    balanced_at,
    by_geometry,
    by_roots,
    converged_after,
    dynamic,
    even_sizes,
    ours,
    played,
    spread,
    traditional,
)
from evener.running.emulation import EmulatedMachine
from evener.sizing import solve_sizes

STEPS = 15  # iterations shown
LONG = 60  # iterations after which a balancer that has not converged never will
NOISE = 0.02
SMALL, LARGE = 8000, 11000  # unknowns: an even share fits into every memory, and does not
NEAR_OPTIMUM = 9  # the iteration at which the thesis's DPA is "near optimum"
SENT_MB = 300  # "approximately", between P1 and P2 in every iteration
ABOUT = 0.1  # what we take "approximately" to allow, and of an even share, "very few" rows
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
    findings = [_sketch(), _small(small), _large(large), _swing(large[-1]), _dynamic(large[-1])]
    plots = [
        Plot("figure-2.4-traditional", [_panel(case, case.cpm[0]) for case in cases]),
        Plot("figure-2.6-dynamic", [_panel(case, case.dpa[0]) for case in cases]),
    ]
    return PaperResult(findings, plots, {"balancers": [_row(case) for case in cases]})


def _case(cluster: str, n: int) -> Played:
    models = [curve.model for curve in jacobi_servers(cluster, n)]
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


def _sketch() -> Finding:
    seconds, _ = played([Constant(3.0), Constant(1.0)], SMALL, traditional, 3)
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
    """Figure 2.5: what P1 and P2 have in the second and third iteration, and what they send."""
    sizes, row_mb = case.cpm[1], 8 * case.unknowns / 1e6
    few = sizes[1, :2] / sizes[0, :2]
    memory = jacobi_servers(case.cluster, case.unknowns)[0].memory
    change = np.diff(sizes[2:, :2], axis=0) * row_mb
    own = np.abs(change).mean(axis=0)
    opposite = change[:, 0] * change[:, 1] < 0
    between = float(np.where(opposite, np.abs(change).min(axis=1), 0.0).mean())
    return Finding(
        "2.3.1, figure 2.5",
        f"the first five iterations of CPM on cluster 2, D = {LARGE:,}",
        "P1 and P2 get very few rows at the second iteration; at the third P1 gets enough to page; "
        f"about {SENT_MB} MB pass back and forth between P1 and P2 in each",
        TRIED,
        f"at the second P1 and P2 have {few[0]:.0%} and {few[1]:.0%} of an even share; at the "
        f"third P1 has {sizes[2, 0]:,} rows, its memory holds {memory:,.0f}; P1 changes by "
        f"{own[0]:.0f} MB in each, P2 by {own[1]:.0f}, {between:.0f} of them from one to the other",
        [
            Criterion(f"under {ABOUT:.0%} of an even share", bool((few < ABOUT).all()), own=True),
            Criterion("P1 pages at the third iteration", bool(sizes[2, 0] > memory)),
            Criterion(
                f"{SENT_MB} MB within {ABOUT:.0%} between P1 and P2 in each",
                abs(between / SENT_MB - 1) <= ABOUT,
                own=True,
            ),
        ],
    )


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


SPEEDUP_SIZES = tuple(range(4000, 14001, 1000))
CLUSTER = "cluster2"
ROOTS_UNKNOWNS, ROOTS_ITERATION = 12000, 7  # figure 4.3: optimal by that iteration
DID = "16 unlike servers, run of unstated length with its redistribution; over even sizes"


def speedup(sizes: Sequence[int] = SPEEDUP_SIZES) -> PaperResult:
    """Figures 4.3 and 4.4: iterations to balance, and the speed-up of a run of LONG iterations."""
    lines: dict[str, list[float]] = {"CPM": [], "DPA (NPA)": [], "ours, with noise": []}
    for n in sizes:
        models = [curve.model for curve in jacobi_servers(CLUSTER, n)]
        even = LONG * EmulatedMachine(models).run(even_sizes(n, len(models))).max()
        for label, start, noise in zip(lines, (traditional, by_roots, ours), (0, 0, NOISE),
                                       strict=True):  # fmt: skip
            seconds, _ = played(models, n, start, LONG, noise)
            lines[label].append(float(even / seconds.max(axis=1).sum()))
    panel = Panel("Jacobi on cluster 2: speed-up over even sizes", "unknowns",
                  f"speed-up, {LONG} iterations", sizes, lines, log_y=True)  # fmt: skip
    gained = {"CPM": np.array(lines["CPM"]), "DPA": np.array(lines["DPA (NPA)"])}
    findings = [
        _roots(),
        _gain_small(np.array(sizes), gained),
        _gain_large(np.array(sizes), gained),
        _apart(),
    ]
    rows = [{"unknowns": n, **{name: round(own[i], 3) for name, own in lines.items()}}
            for i, n in enumerate(sizes)]  # fmt: skip
    return PaperResult(findings, [Plot("figure-4.4-speedup", [panel])], {"speedup": rows})


def _roots() -> Finding:
    models = [curve.model for curve in jacobi_servers(CLUSTER, ROOTS_UNKNOWNS)]
    seconds, _ = played(models, ROOTS_UNKNOWNS, by_roots, LONG)
    at, least = balanced_at(seconds), solve_sizes(models, ROOTS_UNKNOWNS).makespan
    above = float(seconds[ROOTS_ITERATION - 1].max()) / least - 1
    return Finding(
        "4.3, figure 4.3",
        f"DPA with NPA on Akima splines, cluster 2, n = {ROOTS_UNKNOWNS:,}",
        f"the optimum has been reached by iteration {ROOTS_ITERATION}",
        f"{TRIED}; the thesis's steps; even within {EPSILON:.0%}",
        f"balanced at iteration {at}; at iteration {ROOTS_ITERATION} {above:.1%} above the best "
        "that any sizes do",
        [Criterion(f"balanced by iteration {ROOTS_ITERATION}",
                   at is not None and at <= ROOTS_ITERATION)],
    )  # fmt: skip


def _gain_small(sizes: np.typing.NDArray[np.int64], gained: Mapping[str, FloatArray]) -> Finding:
    small = sizes <= SMALL
    seen = " and ".join(f"{own[small].min():.2f} ({name})" for name, own in gained.items())
    return Finding(
        "4.3, figure 4.4, small sizes",
        DID,
        "no speed-up at small sizes, as redistribution costs; both gain with size until CPM fails",
        "nothing: redistribution is not emulated, the network and the number of iterations are "
        "not stated",
        f"without redistribution the least speed-up up to n = {SMALL:,} is {seen}",
        lacking="the redistribution that the statement is about",
    )


def _gain_large(sizes: np.typing.NDArray[np.int64], gained: Mapping[str, FloatArray]) -> Finding:
    cpm, dpa = gained["CPM"], gained["DPA"]
    fails = np.flatnonzero(cpm < 1)
    beyond = slice(int(fails[0]), None) if fails.size else slice(0, 0)
    return Finding(
        "4.3, figure 4.4, large sizes",
        DID,
        "from where CPM fails it is slower than even sizes; DPA gains",
        f"{TRIED}: cluster 2; {LONG} iterations",
        f"CPM fails first at n = {sizes[beyond][0]:,}; from there on its speed-up is "
        f"{cpm[beyond].min():.2f} to {cpm[beyond].max():.2f}, DPA's {dpa[beyond].min():.1f} to "
        f"{dpa[beyond].max():.1f}"
        if fails.size
        else "CPM fails at none of the sizes",
        [
            Criterion(
                "CPM below 1 at every size from the first on",
                bool(fails.size and (cpm[beyond] < 1).all()),
            ),
            Criterion("DPA above 1 at each of them", bool(fails.size and (dpa[beyond] > 1).all())),
        ],
        "4 servers in place of 16; no redistribution",
    )


def _apart() -> Finding:
    return Finding(
        "4.3, figure 4.4, unlike devices",
        DID,
        "DPA's speed-up grows with the difference of the devices' speeds",
        "nothing: there is one cluster, and the figure shows one",
        "",
        lacking="clusters whose speeds differ more and less",
    )

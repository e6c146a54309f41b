"""The speed-up of Jacobi's method by balancing ([Cla14]_, 4.3), on an emulated cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from evener.arrays import FloatArray
from evener.platforms.models.examples import jacobi_servers
from evener.reproducing.findings import Criterion, Finding, Panel, PaperResult, Plot
from evener.reproducing.fupermod_balancers import (
    EPSILON,
    balanced_at,
    by_roots,
    even_sizes,
    ours,
    played,
    traditional,
)
from evener.reproducing.fupermod_balancing import LONG, NOISE, SMALL, TRIED
from evener.running.emulation import EmulatedMachine
from evener.sizing import solve_sizes

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
        _small(np.array(sizes), gained),
        _large(np.array(sizes), gained),
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
        "figure 4.3",
        f"DPA with NPA on Akima splines, cluster 2, n = {ROOTS_UNKNOWNS:,}",
        f"the optimum has been reached by iteration {ROOTS_ITERATION}",
        f"{TRIED}; the thesis's steps; even within {EPSILON:.0%}",
        f"balanced at iteration {at}; at iteration {ROOTS_ITERATION} {above:.1%} above the best "
        "that any sizes do",
        [Criterion(f"balanced by iteration {ROOTS_ITERATION}",
                   at is not None and at <= ROOTS_ITERATION)],
    )  # fmt: skip


def _small(sizes: np.typing.NDArray[np.int64], gained: Mapping[str, FloatArray]) -> Finding:
    small = sizes <= SMALL
    seen = " and ".join(f"{own[small].min():.2f} ({name})" for name, own in gained.items())
    return Finding(
        "figure 4.4, small sizes",
        DID,
        "no speed-up at small sizes, as redistribution costs; both gain with size until CPM fails",
        "nothing: redistribution is not emulated, the network and the number of iterations are "
        "not stated",
        f"without redistribution the least speed-up up to n = {SMALL:,} is {seen}",
        lacking="the redistribution that the statement is about",
    )


def _large(sizes: np.typing.NDArray[np.int64], gained: Mapping[str, FloatArray]) -> Finding:
    cpm, dpa = gained["CPM"], gained["DPA"]
    fails = np.flatnonzero(cpm < 1)
    beyond = slice(int(fails[0]), None) if fails.size else slice(0, 0)
    return Finding(
        "figure 4.4, large sizes",
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
        "figure 4.4, unlike devices",
        DID,
        "DPA's speed-up grows with the difference of the devices' speeds",
        "nothing: there is one cluster, and the figure shows one",
        "",
        lacking="clusters whose speeds differ more and less",
    )

"""Figures 4.3 and 4.4 ([Cla14]_, 4.3): DPA with NPA, and the speed-up of runs that it balances.

Figure 4.4 is of Jacobi's method on 16 servers over a network. After every change of sizes the rows
that change their server are sent: servers have consecutive rows, all send and receive at the same
time, and the run goes on when the last has its rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.platforms.models.examples import SpeedCurve, jacobi_servers
from evener.running.emulation import EmulatedMachine
from evener.sizing.solving import solve_sizes
from papers.cla14.balancing import (
    EPSILON,
    Start,
    balanced_at,
    by_roots,
    converged_after,
    even_sizes,
    ours,
    played,
    traditional,
)
from papers.findings import Criterion, Finding, Panel, PaperResult, Plot, Row

SPEEDUP_SIZES = (2000, 5000, 8000, 11000, 14000, 17000, 20000, 23000, 26000)
SERVERS = {"P1": 4, "P2": 3, "P3": 3, "P4": 3, "P5": 3}  # of each kind of table 2.1; ours
CLUSTER = "cluster2"
ITERATIONS = 100  # of a run; the thesis states none
LINK = 125e6  # bytes/s of every server: 1 Gbit/s, ours
ROOTS_UNKNOWNS, ROOTS_ITERATION = 12000, 7  # figure 4.3: optimal by that iteration
APART, APART_UNKNOWNS = (0.5, 1.0, 2.0, 4.0), 14000  # powers of the servers' speeds
NOISE = 0.02
WAYS: dict[str, tuple[Start, float]] = {
    "CPM": (traditional, 0.0),
    "DPA (NPA)": (by_roots, 0.0),
    "ours, with noise": (ours, NOISE),
}
DID = "16 unlike servers, run of unstated length with its redistribution; over even sizes"
TRIED = (
    f"16 servers of table 2.1's kinds, emulated; {ITERATIONS} iterations; NPA on Akima splines; "
    f"rows sent at {LINK * 8 / 1e9:g} Gbit/s"
)
LACKING = "the thesis does not state its 16 servers, its network, and the number of iterations"


def speedup(sizes: Sequence[int] = SPEEDUP_SIZES) -> PaperResult:
    """Figures 4.3 and 4.4: iterations to balance, and the speed-up of a run."""
    rows = [speedup_row(servers(n), n) for n in sizes]
    lines = {way: [float(row[way]) for row in rows] for way in WAYS}
    panel = Panel("Jacobi on 16 servers: speed-up over even sizes", "unknowns",
                  f"speed-up, {ITERATIONS} iterations", list(sizes), lines, log_y=True)  # fmt: skip
    endless = [speedup_row([replace(server, memory=np.inf) for server in servers(n)], n)
               for n in sizes[-2:]]  # fmt: skip
    apart = [apart_row(power) for power in APART]
    alike = [apart_row(0.0)] * len(APART)
    findings = [
        _roots(),
        gain_small(rows),
        gain_large(rows).beside_counter("unlimited memories", gain_large(endless)),
        gain_apart(apart).beside_counter("servers all alike", gain_apart(alike)),
    ]
    return PaperResult(
        findings, [Plot("figure-4.4-speedup", [panel])], {"speedup": rows, "apart": apart}
    )


def servers(n: int) -> list[SpeedCurve]:
    """Return the 16 servers, of every kind of table 2.1, for n unknowns."""
    kinds = {curve.name: curve for cluster in ("cluster1", "cluster2")
             for curve in jacobi_servers(cluster, n)}  # fmt: skip
    return [kinds[name] for name, count in SERVERS.items() for _ in range(count)]


def speedup_row(curves: Sequence[SpeedCurve], n: int, ways: Sequence[str] = tuple(WAYS)) -> Row:
    """Speed-ups of a run by WAYS over even sizes, redistribution included and without (`free`).

    settled: the iteration, from 1, from which on sizes stay; 0 if they never do.
    """
    models = [curve.model for curve in curves]
    even = ITERATIONS * float(EmulatedMachine(models).run(even_sizes(n, len(models))).max())
    row: dict[str, float | int | str] = {"unknowns": n}
    for way in ways:
        start, noise = WAYS[way]
        seconds, sizes = played(models, n, start, ITERATIONS, noise)
        computed, sent = float(seconds.max(axis=1).sum()), redistributed(sizes, 8 * n)
        row[way], row[f"{way}, free"] = round(even / (computed + sent), 4), even / computed
        row[f"{way}, settled"] = converged_after(sizes) or 0
    return row


def redistributed(sizes: IntArray, row_bytes: float) -> float:
    """Return the seconds of all redistributions of a run [s]; sizes (steps, k) [rows]."""
    ends = np.cumsum(sizes, axis=1)
    starts = ends - sizes
    kept = np.minimum(ends[1:], ends[:-1]) - np.maximum(starts[1:], starts[:-1])
    kept = np.maximum(kept, 0)
    most = np.maximum(sizes[1:] - kept, sizes[:-1] - kept).max(axis=1)
    return float(most.sum() * row_bytes / LINK)


def apart_row(power: float) -> Row:
    """The speed-up by DPA where the servers' speeds are raised to a power about their mean."""
    curves = servers(APART_UNKNOWNS)
    mean = float(np.exp(np.mean([np.log(curve.peak) for curve in curves])))
    memory = max(curve.memory for curve in curves)
    spread = [replace(curve, peak=mean * (curve.peak / mean) ** power, memory=memory)
              for curve in curves]  # fmt: skip
    row = speedup_row(spread, APART_UNKNOWNS, ["DPA (NPA)"])
    peaks = [curve.peak for curve in spread]
    return {"power": power, "fastest": max(peaks) / min(peaks), "DPA": row["DPA (NPA)"]}


def _roots() -> Finding:
    models = [curve.model for curve in jacobi_servers(CLUSTER, ROOTS_UNKNOWNS)]
    seconds, _ = played(models, ROOTS_UNKNOWNS, by_roots, ITERATIONS)
    at, least = balanced_at(seconds), solve_sizes(models, ROOTS_UNKNOWNS).makespan
    above = [float(own.max()) / least - 1 for own in seconds]
    near = next((i + 1 for i, own in enumerate(above) if own <= EPSILON), None)
    return Finding(
        "4.3, figure 4.3",
        f"DPA with NPA on Akima splines, cluster 2, n = {ROOTS_UNKNOWNS:,}",
        f"the optimum has been reached by iteration {ROOTS_ITERATION}",
        f"the servers of table 2.1, emulated; the thesis's steps; even within {EPSILON:.0%}",
        f"balanced at iteration {at}; within {EPSILON:.0%} of the best that any sizes do at "
        f"iteration {near}; {above[ROOTS_ITERATION - 1]:.1%} above it at {ROOTS_ITERATION}",
        [Criterion(f"balanced by iteration {ROOTS_ITERATION}",
                   at is not None and at <= ROOTS_ITERATION)],
    )  # fmt: skip


def _by(rows: Sequence[Row], way: str) -> FloatArray:
    return np.array([float(row[way]) for row in rows])


def _failing(rows: Sequence[Row]) -> int:
    """Return the first row in which CPM fails: its sizes never settle; else the number of rows."""
    never = np.flatnonzero(_by(rows, "CPM, settled") == 0)
    return int(never[0]) if never.size else len(rows)


def gain_small(rows: Sequence[Row]) -> Finding:
    """Small sizes: what redistribution costs."""
    fails = max(_failing(rows), 1)
    gains = {way: _by(rows[:fails], way) for way in ("CPM", "DPA (NPA)")}
    seen = "; ".join(f"{way} {', '.join(f'{gain:.3f}' for gain in own)}"
                     for way, own in gains.items())  # fmt: skip
    free = _by(rows[:1], "DPA (NPA), free")[0]
    return Finding(
        "4.3, figure 4.4, small sizes",
        DID,
        "no speed-up at small sizes, as redistribution costs; both gain with size until CPM fails",
        TRIED,
        f"up to n = {rows[fails - 1]['unknowns']:,}: {seen}; without redistribution {free:.2f} at "
        f"n = {rows[0]['unknowns']:,}",
        [
            Criterion("no speed-up at the smallest n",
                      all(bool(own[0] <= 1) for own in gains.values())),
            Criterion("a gain there without redistribution", bool(free > 1)),
            Criterion("the gain grows with every n until CPM fails",
                      fails > 1 and all(bool((np.diff(own) > 0).all()) for own in gains.values())),
        ],
        LACKING,
    )  # fmt: skip


def gain_large(rows: Sequence[Row]) -> Finding:
    """Large sizes: where CPM fails."""
    fails = _failing(rows)
    cpm, dpa = (_by(rows[fails:], way) for way in ("CPM", "DPA (NPA)"))
    return Finding(
        "4.3, figure 4.4, large sizes",
        DID,
        "from where CPM fails it is slower than even sizes; DPA gains",
        TRIED,
        f"from n = {rows[fails]['unknowns']:,} on CPM's sizes never settle, and its speed-up is "
        f"{cpm.min():.2f} to {cpm.max():.2f}, DPA's {dpa.min():.2f} to {dpa.max():.2f}"
        if cpm.size
        else f"CPM's sizes settle at n = {', '.join(format(row['unknowns'], ',') for row in rows)}",
        [
            Criterion("CPM below 1 at every size from the first on",
                      bool(cpm.size and (cpm < 1).all())),
            Criterion("DPA above 1 at each of them", bool(dpa.size and (dpa > 1).all())),
        ],
        LACKING,
    )  # fmt: skip


def gain_apart(rows: Sequence[Row]) -> Finding:
    """Servers whose speeds differ less and more."""
    gains = _by(rows, "DPA")
    seen = ", ".join(f"{gain:.3f} where the fastest is {float(row['fastest']):.2f} times as fast"
                     for gain, row in zip(gains, rows, strict=True))  # fmt: skip
    return Finding(
        "4.3, figure 4.4, unlike devices",
        DID,
        "DPA's speed-up grows with the difference of the devices' speeds",
        f"{TRIED}; n = {APART_UNKNOWNS:,}, in memory; speeds raised to powers of "
        f"{', '.join(f'{power:g}' for power in APART)}",
        seen,
        [Criterion("the more, the larger they differ", bool((np.diff(gains) > 1e-9).all()))],
        LACKING,
    )

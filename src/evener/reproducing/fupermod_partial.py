"""Partial models for matrix products ([Cla14]_, 4.3.1): what their benchmarks cost, and bring.

A product of N x N matrices is N / PIVOT steps; in each, every device updates its part of C by a
pivot of that width. What is emulated is how long a step takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from evener.arrays import IntArray
from evener.generating.speed_curves import curve_set
from evener.models import SpeedModel
from evener.reproducing.findings import Finding, Panel, Plot, Result
from evener.reproducing.fupermod_balancing import EPSILON
from evener.running.emulation import EmulatedMachine
from evener.sizing import Dynamic, solve_sizes

PIVOT = 16  # of the steps on Grid'5000's Grenoble and Lille sites; an update is 2 x 16 operations
REPEATED = 5  # times each benchmark is run, for its confidence interval
KILLED, ENTERED = 0.5e9 / (2 * PIVOT), 0.1e9 / (2 * PIVOT)  # [units/s]: 4.3.1's rule
GRENOBLE_SIZES = (16000, 32000, 48000, 64000, 80000, 96000)
PAPER_COST = (4.7, 2.5, 15.5, 6.5, 8.1, 5.6)  # per cent, table 4.2
CPM_STEPS = 20


def partial_models(sizes: Sequence[int] = GRENOBLE_SIZES) -> Result:
    """Table 4.2 and figure 4.6: a product with full models, with partial ones, and with CPM."""
    models = [curve.model for curve in curve_set("grenoble")]
    rows = [_row(models, n) for n in sizes]
    lines = {
        "full models": [row["full_s"] for row in rows],
        "partial models": [row["partial_s"] for row in rows],
        "partial models, with benchmarks": [_whole(row, "partial") for row in rows],
        "CPM": [row["cpm_s"] for row in rows],
        "CPM, with benchmarks": [_whole(row, "cpm") for row in rows],
    }
    panel = Panel("75 nodes (Grenoble): C = A B", "N", "seconds", list(sizes), lines, log_y=True)
    plot = Plot("figure-4.6-partial-models", [panel])
    return Result(_findings(rows), [plot], {"partial_models": rows})


def _row(models: Sequence[SpeedModel], n: int) -> dict[str, float]:
    """Seconds of a product of n x n matrices, and of the benchmarks that its sizes took [s]."""
    steps, total = n / PIVOT, n * n
    full = steps * solve_sizes(models, total).makespan
    sizes, spent = benchmarked(models, total, "auto")
    cpm_sizes, cpm_spent = benchmarked(models, total, "constant")
    partial = steps * float(EmulatedMachine(models).run(sizes).max())
    constant = steps * float(EmulatedMachine(models).run(cpm_sizes).max())
    return {
        "n": n,
        "full_s": round(full, 2),
        "partitioning_s": round(spent, 2),
        "partial_s": round(partial, 2),
        "cost_percent": round(100 * spent / (spent + partial), 1),
        "cpm_partitioning_s": round(cpm_spent, 2),
        "cpm_s": round(constant, 2),
    }


def _whole(row: Mapping[str, float], kind: str) -> float:
    """Seconds of the product, its benchmarks included."""
    return row[f"{kind}_s"] + row["partitioning_s" if kind == "partial" else "cpm_partitioning_s"]


def _findings(rows: Sequence[Mapping[str, float]]) -> list[Finding]:
    costs = [row["cost_percent"] for row in rows]
    near = max(row["partial_s"] / row["full_s"] for row in rows)
    better = [_whole(row, "partial") <= 1.05 * _whole(row, "cpm") for row in rows]
    return [
        Finding(
            "table 4.2",
            f"partial models cost {min(PAPER_COST)} to {max(PAPER_COST)} % of the whole",
            f"{min(costs)} to {max(costs)} %",
            max(costs) <= 1.5 * max(PAPER_COST),
        ),
        Finding(
            "figure 4.6",
            "the product is nearly as fast as with full models",
            f"at most {near:.2f} times as long",
            near < 1.2,
        ),
        Finding(
            "figure 4.6",
            "with benchmarks counted, partial models still beat CPM",
            f"no slower (within 5 %) at {sum(better)} of {len(better)} sizes",
            all(better),
        ),
    ]


def benchmarked(models: Sequence[SpeedModel], total: int, method: str) -> tuple[IntArray, float]:
    """Sizes by benchmarks alone, and how long these take [s]; one too slow is killed (4.3.1)."""
    machine, k = EmulatedMachine(models), len(models)
    steps = CPM_STEPS if method == "constant" else 40
    search = Dynamic(total, k, EPSILON, method, low=1, max_steps=steps)
    spent, sizes = 0.0, search.sizes
    while True:
        seconds = machine.run(sizes)
        slow = sizes / seconds < KILLED
        # All run at once. A killed one ends at its first repetition, when it is seen to be slow.
        spent += max(
            float(np.max(seconds[~slow], initial=0.0)) * REPEATED,
            float(np.max(sizes[slow] / KILLED, initial=0.0)),
        )
        following = search.observe(np.where(slow, sizes / ENTERED, seconds))
        if following is None:
            return search.best.sizes, spent
        sizes = following

"""Matrix products on nodes with and without GPUs ([Cla14]_, 5.2.3), emulated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from evener.arrays import IntArray
from evener.generating.speed_curves import curve_set
from evener.models import SpeedModel
from evener.reproducing.findings import Finding, Panel, Plot, Result
from evener.reproducing.fupermod_balancing import even_sizes
from evener.reproducing.fupermod_partial import CPM_STEPS
from evener.running.emulation import EmulatedMachine
from evener.sizing import solve_sizes

HYBRID_SIZES = (15000, 30000, 60000, 90000, 120000, 180000, 240000, 300000, 360000)
HYBRID_BLOCK = 128
HYBRID_NODES = (3, 3, 2, 4, 10, 8, 10, 22, 6, 6, 6, 10)  # of each kind: 12, 50 and 28, 90 in all
KINDS = ("homogeneous", "single CPM", "multiple CPM", "FPM")


def hybrid(sizes: Sequence[int] = HYBRID_SIZES) -> Result:
    """Figure 5.10: even, single-CPM, multiple-CPM and FPM on 90 nodes, some with a GPU."""
    curves = [curve for curve, count in zip(curve_set("hybrid"), HYBRID_NODES, strict=True)
              for _ in range(count)]  # fmt: skip
    models = [curve.model for curve in curves]
    rows = [_row(models, n) for n in sizes]
    lines = {name: [row[f"{name}_gflops"] for row in rows] for name in KINDS}
    panel = Panel("90 nodes with and without GPUs: C = A B", "N", "GFLOPS", list(sizes), lines)
    plot = Plot("figure-5.10-hybrid", [panel])
    return Result(_findings(list(sizes), lines), [plot], {"hybrid": rows})


def _row(models: Sequence[SpeedModel], n: int) -> dict[str, float]:
    """GFLOPS of a product of n x n matrices by sizes of every kind."""
    total = (n // HYBRID_BLOCK) ** 2
    machine = EmulatedMachine(models)
    even = even_sizes(total, len(models))
    history = _constant_steps(machine, even, CPM_STEPS)
    chosen = (even, history[1], history[-1], solve_sizes(models, total).sizes)
    row: dict[str, float] = {"n": n}
    for name, own in zip(KINDS, chosen, strict=True):
        seconds = n / HYBRID_BLOCK * float(machine.run(own).max())
        row[f"{name}_gflops"] = round(2 * n**3 / seconds / 1e9, 1)
    return row


def _findings(sizes: list[int], lines: Mapping[str, Sequence[float]]) -> list[Finding]:
    fpm = np.array(lines["FPM"])
    multiple, single = (np.array(lines[f"{which} CPM"]) / fpm for which in ("multiple", "single"))
    even_share = np.array(lines["homogeneous"]) / fpm
    shown = sizes.index(60000) if 60000 in sizes else 0
    return [
        Finding(
            "figure 5.10",
            "even sizes run at the speed of the slowest node",
            f"{even_share.min():.2f} to {even_share.max():.2f} of FPM's speed",
            bool(even_share.max() < 0.5),
        ),
        Finding(
            "figure 5.10",
            "one speed a node balances small sizes only; at large ones it does not converge",
            f"multiple CPM: {multiple[shown]:.2f} of FPM's speed at "
            f"N = {sizes[shown]:,}, down to {multiple.min():.2f}; single CPM down "
            f"to {single.min():.2f}",
            bool(multiple.max() > 0.9 and multiple.min() < 0.7),
        ),
        Finding(
            "figure 5.10",
            "FPM finds good sizes at every N",
            "FPM is the fastest, or within 2 % of it, at "
            f"{(multiple < 1.02).sum()} of {len(sizes)} N",
            bool((np.maximum(multiple, single) < 1.02).all()),
        ),
    ]


def _constant_steps(machine: EmulatedMachine, even: IntArray, steps: int) -> list[IntArray]:
    """Sizes of each step of the traditional balancer, however it fares."""
    history = [even]
    for _ in range(steps):
        speeds = history[-1] / machine.run(history[-1])
        targets = speeds * (even.sum() / speeds.sum())
        sizes = np.maximum(np.floor(targets), 1).astype(np.int64)
        up = np.argsort(sizes - targets, kind="stable")[: int(even.sum() - sizes.sum())]
        sizes[up] += 1
        history.append(sizes)
    return history

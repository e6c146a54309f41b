"""The thesis's matrix products ([Cla14]_, 4.3.1, 5.1.5 and 5.2.3), on emulated clusters.

A product of N x N matrices is N / b steps; in each, every device updates its part of C by a pivot
of width b. What is emulated is how long a step takes; what travels is counted where it matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.generating.speed_curves import SpeedCurve, curve_set
from evener.models import Piecewise, SpeedModel
from evener.reproducing.findings import Finding, Panel, Plot, Result
from evener.reproducing.fupermod_balancing import EPSILON, even_sizes
from evener.running.emulation import EmulatedMachine
from evener.sizing import Dynamic, solve_sizes
from evener.tiling.methods import tile
from evener.tiling.requests import Devices
from evener.tilings import Tiling

PIVOT = 16  # of the steps on Grid'5000's Grenoble and Lille sites; an update is 2 x 16 operations
REPEATED = 5  # times each benchmark is run, for its confidence interval
KILLED, ENTERED = 0.5e9 / (2 * PIVOT), 0.1e9 / (2 * PIVOT)  # [units/s]: 4.3.1's rule
GRENOBLE_SIZES = (16000, 32000, 48000, 64000, 80000, 96000)
PAPER_COST = (4.7, 2.5, 15.5, 6.5, 8.1, 5.6)  # per cent, table 4.2
LILLE_SIZES = (20000, 40000, 60000, 80000, 100000, 120000, 140000)
HELD = 3  # matrices of which each node holds its rectangle: memory ends near N = 155,000
LILLE_NODES = (20, 20, 19, 5)  # of each kind, table 5.2
LILLE_GRID = 8  # x 8 nodes
GRID = 1024  # blocks a side of a tiling; the thesis has N / 16
BYTES_PER_S = 1e9  # of the network between the nodes of Lille
GIGABIT = 125e6
HYBRID_SIZES = (15000, 30000, 60000, 90000, 120000, 180000, 240000, 300000, 360000)
HYBRID_BLOCK = 128
HYBRID_NODES = (3, 3, 2, 4, 10, 8, 10, 22, 6, 6, 6, 10)  # of each kind: 12, 50 and 28, 90 in all
CPM_STEPS = 20


def partial_models(sizes: Sequence[int] = GRENOBLE_SIZES) -> Result:
    """Table 4.2 and figure 4.6: a product with full models, with partial ones, and with CPM."""
    curves = curve_set("grenoble")
    models = [curve.model for curve in curves]
    rows: list[dict[str, float | int | str]] = []
    for n in sizes:
        steps, total = n / PIVOT, n * n
        full = steps * solve_sizes(models, total).makespan
        dpa_sizes, dpa_bench = _benchmarked(models, total, "auto")
        cpm_sizes, cpm_bench = _benchmarked(models, total, "constant")
        partial = steps * float(EmulatedMachine(models).run(dpa_sizes).max())
        constant = steps * float(EmulatedMachine(models).run(cpm_sizes).max())
        rows.append(
            {
                "n": n,
                "full_s": round(full, 2),
                "partitioning_s": round(dpa_bench, 2),
                "partial_s": round(partial, 2),
                "cost_percent": round(100 * dpa_bench / (dpa_bench + partial), 1),
                "cpm_partitioning_s": round(cpm_bench, 2),
                "cpm_s": round(constant, 2),
            }
        )
    costs = [float(row["cost_percent"]) for row in rows]
    near = max(float(row["partial_s"]) / float(row["full_s"]) for row in rows)
    better = [_total(row, "partial_s", "partitioning_s") <= 1.05 * _total(row, "cpm_s",
              "cpm_partitioning_s") for row in rows]  # fmt: skip
    findings = [
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
    x = [int(row["n"]) for row in rows]
    lines = {
        "full models": [float(row["full_s"]) for row in rows],
        "partial models": [float(row["partial_s"]) for row in rows],
        "partial models, with benchmarks": [
            _total(row, "partial_s", "partitioning_s") for row in rows
        ],
        "CPM": [float(row["cpm_s"]) for row in rows],
        "CPM, with benchmarks": [_total(row, "cpm_s", "cpm_partitioning_s") for row in rows],
    }
    panel = Panel("75 nodes (Grenoble): C = A B", "N", "seconds", x, lines, log_y=True)
    return Result(findings, [Plot("figure-4.6-partial-models", [panel])], {"partial_models": rows})


def rectangles(sizes: Sequence[int] = LILLE_SIZES) -> Result:
    """Figures 5.4 and 5.5: even, BR, FPM-KL and FPM-BR (1.5D) on 64 nodes of four kinds.

    Nodes are dealt to the columns of the grid, so that each has some of every kind. In the order of
    their kinds FPM-KL does not converge from N = 120,000 on: columns then have nodes of one kind
    alone, and some have no memory for their width.
    """
    kinds = [replace(curve, memory=curve.memory / HELD) for curve in curve_set("lille")]
    listed = [kind for kind, count in zip(kinds, LILLE_NODES, strict=True) for _ in range(count)]
    curves = [node for j in range(LILLE_GRID) for node in listed[j::LILLE_GRID]]
    rows: list[dict[str, float | int | str]] = []
    for n in sizes:
        models = [in_blocks(curve, (n / GRID) ** 2) for curve in curves]
        row: dict[str, float | int | str] = {"n": n}
        for name, tiling in _tilings(models).items():
            row[f"{name}_s"] = round(_product_seconds(models, tiling, n), 2)
            row[f"{name}_volume"] = round(tiling.volume, 3)
        rows.append(row)
    x = [int(row["n"]) for row in rows]
    lines = {name: [float(row[f"{name}_s"]) for row in rows] for name in
             ("even", "br", "fpm-kl", "fpm-br")}  # fmt: skip
    best = np.array(lines["fpm-br"])
    beyond = np.array(x) > 80000
    br, kl = np.array(lines["br"]) / best, np.array(lines["fpm-kl"]) / best
    findings = [
        Finding(
            "figure 5.4",
            "BR, with one speed a device, works for medium sizes and fails beyond N = 80,000",
            f"{br[~beyond].max():.2f} times FPM-BR up to there at most, beyond up to "
            f"{br[beyond].max():.1f}"
            if beyond.any()
            else "no such sizes",
            bool(br[~beyond].max() < 1.2 and (not beyond.any() or br[beyond].max() > 2)),
        ),
        Finding(
            "figure 5.4",
            "FPM-KL and FPM-BR work up to the largest size",
            f"FPM-KL takes {kl.min():.2f} to {kl.max():.2f} times FPM-BR's time, even sizes up to "
            f"{(np.array(lines['even']) / best).max():.0f} times",
            bool(kl.max() < 1.5),
        ),
        Finding(
            "figure 5.4",
            "FPM-KL is slower than FPM-BR on 64 nodes, as more travels",
            f"{kl.min():.3f} times at least, {kl.max():.2f} where memories fill and widths of the "
            "grid follow single speeds: a grid of 8 x 8 has volume 16, columns "
            f"{min(float(row['fpm-br_volume']) for row in rows):.2f} to "
            f"{max(float(row['fpm-br_volume']) for row in rows):.2f}",
            bool(kl.min() > 1 and kl.mean() > 1.002),
        ),
        *_fourteen(),
    ]
    panel = Panel("64 nodes (Lille): C = A B", "N", "seconds", x, lines, log_y=True)
    return Result(findings, [Plot("figure-5.4-rectangles", [panel])], {"rectangles": rows})


def hybrid(sizes: Sequence[int] = HYBRID_SIZES) -> Result:
    """Figure 5.10: even, single-CPM, multiple-CPM and FPM on 90 nodes, some with a GPU."""
    curves = [curve for curve, count in zip(curve_set("hybrid"), HYBRID_NODES, strict=True)
              for _ in range(count)]  # fmt: skip
    models = [curve.model for curve in curves]
    rows: list[dict[str, float | int | str]] = []
    for n in sizes:
        total = (n // HYBRID_BLOCK) ** 2
        machine = EmulatedMachine(models)
        even = even_sizes(total, len(models))
        history = _constant_steps(machine, even, CPM_STEPS)
        chosen = {
            "homogeneous": even,
            "single CPM": history[1],
            "multiple CPM": history[-1],
            "FPM": solve_sizes(models, total).sizes,
        }
        row: dict[str, float | int | str] = {"n": n}
        for name, own in chosen.items():
            seconds = n / HYBRID_BLOCK * float(machine.run(own).max())
            row[f"{name}_gflops"] = round(2 * n**3 / seconds / 1e9, 1)
        rows.append(row)
    x = [int(row["n"]) for row in rows]
    lines = {name: [float(row[f"{name}_gflops"]) for row in rows] for name in
             ("homogeneous", "single CPM", "multiple CPM", "FPM")}  # fmt: skip
    fpm = np.array(lines["FPM"])
    multiple, single = (np.array(lines[f"{which} CPM"]) / fpm for which in ("multiple", "single"))
    even_share = np.array(lines["homogeneous"]) / fpm
    findings = [
        Finding(
            "figure 5.10",
            "even sizes run at the speed of the slowest node",
            f"{even_share.min():.2f} to {even_share.max():.2f} of FPM's speed",
            bool(even_share.max() < 0.5),
        ),
        Finding(
            "figure 5.10",
            "one speed a node balances small sizes only; at large ones it does not converge",
            f"multiple CPM: {multiple[x.index(60000) if 60000 in x else 0]:.2f} of FPM's speed at "
            f"N = {60000 if 60000 in x else x[0]:,}, down to {multiple.min():.2f}; single CPM down "
            f"to {single.min():.2f}",
            bool(multiple.max() > 0.9 and multiple.min() < 0.7),
        ),
        Finding(
            "figure 5.10",
            "FPM finds good sizes at every N",
            f"FPM is the fastest, or within 2 % of it, at {(multiple < 1.02).sum()} of {len(x)} N",
            bool((np.maximum(multiple, single) < 1.02).all()),
        ),
    ]
    panel = Panel("90 nodes with and without GPUs: C = A B", "N", "GFLOPS", x, lines)
    return Result(findings, [Plot("figure-5.10-hybrid", [panel])], {"hybrid": rows})


def in_blocks(curve: SpeedCurve, area: float) -> Piecewise:
    """A device's model with loads in blocks, each of `area` of the curve's units."""
    model = curve.model
    return Piecewise(model.loads / area, model.speeds / area, model.capacity / area)


def _benchmarked(models: Sequence[SpeedModel], total: int, method: str) -> tuple[IntArray, float]:
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


def _tilings(models: Sequence[SpeedModel]) -> dict[str, Tiling]:
    blocks, k = (GRID, GRID), len(models)
    shared = list(models)
    return {
        "even": tile(np.ones(k), blocks, method="br").tiling,
        "br": tile(shared, blocks, method="br").tiling,
        "fpm-kl": tile(shared, blocks, method="fpm-kl").tiling,
        "fpm-br": tile(shared, blocks, method="1.5d").tiling,
    }


def _product_seconds(
    models: Sequence[SpeedModel], tiling: Tiling, n: int, bytes_per_s: float = BYTES_PER_S
) -> float:
    """Of n / PIVOT steps: the slowest device, and what all receive, over one network."""
    seconds: FloatArray = Devices(list(models)).seconds(tiling.height, tiling.width)
    entries = tiling.half_perimeters.sum() * (n / GRID) * PIVOT
    travel = float(entries) * 8 / bytes_per_s / len(models)
    return n / PIVOT * (float(seconds.max()) + travel)


def _fourteen() -> list[Finding]:
    """Figure 5.5 in kind: 14 nodes of four kinds, volumes and seconds on a gigabit network."""
    n = 20000
    curves = [c for c, count in zip(curve_set("lille"), (4, 4, 3, 3), strict=True)
              for _ in range(count)]  # fmt: skip
    models = [in_blocks(curve, (n / GRID) ** 2) for curve in curves]
    found = _tilings(models)
    grid, columns = found["fpm-kl"], found["fpm-br"]
    before, after = (_product_seconds(models, t, n, GIGABIT) for t in (grid, columns))
    fewer, sooner = 1 - columns.volume / grid.volume, 1 - after / before
    return [
        Finding(
            "figure 5.5",
            "14 nodes: volume 9 on a grid, 7.457 in columns of least half-perimeter (17.1 % less)",
            f"{grid.volume:.3f} and {columns.volume:.3f} ({fewer:.1%} less)",
            bool(abs(grid.volume - 9) < 1e-9 and 0.14 < fewer < 0.21),
        ),
        Finding(
            "figure 5.5",
            "and 166 s in place of 192 (13.6 % less)",
            f"{after:.1f} s in place of {before:.1f} ({sooner:.1%} less) at N = {n:,}, 1 Gbit/s",
            bool(sooner > 0.03),
        ),
    ]


def _total(row: dict[str, float | int | str], *keys: str) -> float:
    return sum(float(row[key]) for key in keys)

"""Matrix products over rectangles ([Cla14]_, 5.1.5): grids and columns, on emulated clusters.

What is emulated is how long a step of PIVOT columns takes; what travels is counted beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.generating.speed_curves import SpeedCurve, curve_set
from evener.models import Piecewise, SpeedModel
from evener.reproducing.findings import Finding, Panel, Plot, Result
from evener.reproducing.fupermod_partial import PIVOT
from evener.tiling.methods import tile
from evener.tiling.requests import Devices
from evener.tilings import Tiling

LILLE_SIZES = (20000, 40000, 60000, 80000, 100000, 120000, 140000)
HELD = 3  # matrices of which each node holds its rectangle: memory ends near N = 155,000
LILLE_NODES = (20, 20, 19, 5)  # of each kind, table 5.2
LILLE_GRID = 8  # x 8 nodes
GRID = 1024  # blocks a side of a tiling; the thesis has N / 16
BYTES_PER_S = 1e9  # of the network between the nodes of Lille
GIGABIT = 125e6


def rectangles(sizes: Sequence[int] = LILLE_SIZES) -> Result:
    """Figures 5.4 and 5.5: even, BR, FPM-KL and FPM-BR (1.5D) on 64 nodes of four kinds.

    Nodes are dealt to the columns of the grid, so that each has some of every kind. In the order of
    their kinds FPM-KL does not converge from N = 120,000 on: columns then have nodes of one kind
    alone, and some have no memory for their width.
    """
    kinds = [replace(curve, memory=curve.memory / HELD) for curve in curve_set("lille")]
    listed = [kind for kind, count in zip(kinds, LILLE_NODES, strict=True) for _ in range(count)]
    curves = [node for j in range(LILLE_GRID) for node in listed[j::LILLE_GRID]]
    rows = [_row(curves, n) for n in sizes]
    lines = {
        name: [row[f"{name}_s"] for row in rows] for name in ("even", "br", "fpm-kl", "fpm-br")
    }
    panel = Panel("64 nodes (Lille): C = A B", "N", "seconds", list(sizes), lines, log_y=True)
    findings = [*_findings(np.array(sizes), lines, rows), *_fourteen()]
    return Result(findings, [Plot("figure-5.4-rectangles", [panel])], {"rectangles": rows})


def _row(curves: Sequence[SpeedCurve], n: int) -> dict[str, float]:
    """Seconds and volume of a product of n x n matrices by each way to tile it."""
    models = [in_blocks(curve, (n / GRID) ** 2) for curve in curves]
    row: dict[str, float] = {"n": n}
    for name, tiling in _tilings(models).items():
        row[f"{name}_s"] = round(_product_seconds(models, tiling, n), 2)
        row[f"{name}_volume"] = round(tiling.volume, 3)
    return row


def _findings(
    sizes: IntArray, lines: Mapping[str, Sequence[float]], rows: Sequence[Mapping[str, float]]
) -> list[Finding]:
    best = np.array(lines["fpm-br"])
    beyond = sizes > 80000
    br, kl = np.array(lines["br"]) / best, np.array(lines["fpm-kl"]) / best
    columns = [row["fpm-br_volume"] for row in rows]
    return [
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
            f"{min(columns):.2f} to {max(columns):.2f}",
            bool(kl.min() > 1 and kl.mean() > 1.002),
        ),
    ]


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


def in_blocks(curve: SpeedCurve, area: float) -> Piecewise:
    """A device's model with loads in blocks, each of `area` of the curve's units."""
    model = curve.model
    return Piecewise(model.loads / area, model.speeds / area, model.capacity / area)


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

"""Matrix products over rectangles ([Cla14]_, 5.1.5): grids and columns, on emulated clusters.

The computing time of a step of PIVOT columns is emulated. Communication adds the bytes of a step
over the bandwidth of a network; single messages and their order are not emulated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evener.arrays import FloatArray
from evener.plans.tiling import Tiling
from evener.platforms.models.examples import SpeedCurve, curve_set
from evener.platforms.models.fitting import Piecewise, SpeedModel
from evener.reproducing.findings import Criterion, Finding, Panel, PaperResult, Plot, Row
from evener.reproducing.fupermod_products import PIVOT
from evener.sizing.tiling.methods import TilingDevices, tile

LILLE_SIZES = (20000, 40000, 60000, 80000, 100000, 120000, 140000)
MEDIUM = 80000  # beyond it the thesis's BR fails
THESIS_MOST = 160000  # the thesis's largest, "at which point all memory is used"
HELD = 3  # matrices of which each node holds its rectangle: memory ends near N = 155,000
LILLE_NODES = (20, 20, 19, 5)  # of each kind, table 5.2
LILLE_GRID = 8  # x 8 nodes
BYTES_PER_S = 1e9  # of the network between the nodes of Lille, ours
GIGABIT = 125e6
WORKS, FAILS = 1.1, 2.0  # times FPM-BR's seconds: what we call to work, and to fail
ORDERS = ("dealt", "by kind")  # nodes to the columns of the grid; the thesis states no order
EITHER = "dealt to the grid's columns and in the order of their kinds"
# Figure 5.5: nodes of each kind (ours), N in blocks of PIVOT; volumes and seconds, grid first, and
# by how much they are less, as the text has it.
FOURTEEN, FOURTEEN_BLOCKS = (4, 4, 3, 3), 840
VOLUMES, SECONDS = (9.0, 7.457), (192.0, 166.0)
FEWER, SOONER = 0.171, 0.136
DID = "ScaLAPACK's outer product on 64 nodes of Grid'5000 Lille, four algorithms, blocks of 16"
LACKING = f"no messages; no N = {THESIS_MOST:,}: our emulated memories end before"


def rectangles(sizes: Sequence[int] = LILLE_SIZES) -> PaperResult:
    """Figures 5.4 and 5.5: even, BR, FPM-KL and FPM-BR (1.5D) on 64 nodes of four kinds.

    Nodes stand in the grid in one of two ORDERS: dealt to its columns, so that each has some of
    every kind, or one kind after another, so that some columns have no memory for their width.
    """
    kinds = [replace(curve, memory=curve.memory / HELD) for curve in curve_set("lille")]
    listed = [kind for kind, count in zip(kinds, LILLE_NODES, strict=True) for _ in range(count)]
    dealt = [node for j in range(LILLE_GRID) for node in listed[j::LILLE_GRID]]
    rows: list[Row] = [
        {"n": n, "order": order, **_row(curves, n)}
        for order, curves in zip(ORDERS, (dealt, listed), strict=True)
        for n in sizes
    ]
    shown, other = ([row for row in rows if row["order"] == order] for order in ORDERS)
    lines = {
        name: [float(row[f"{name}_s"]) for row in shown]
        for name in ("even", "br", "fpm-kl", "fpm-br")
    }
    panel = Panel("64 nodes (Lille): C = A B", "N", "seconds", list(sizes), lines, log_y=True)
    findings = [
        _constant(shown),
        _columns(shown),
        _grid(shown, other),
        _slower(shown, other),
        *_fourteen(),
    ]
    return PaperResult(findings, [Plot("figure-5.4-rectangles", [panel])], {"rectangles": rows})


def _tried(rows: Sequence[Row], order: str = "dealt to the grid's columns") -> str:
    sizes = ", ".join(f"{row['n']:,}" for row in rows)
    return (
        f"the 64 nodes, emulated, {order}; blocks of {PIVOT}, N of {sizes}; half-perimeters over a "
        f"network of {BYTES_PER_S / 1e9:.0f} GB/s"
    )


def _row(curves: Sequence[SpeedCurve], n: int) -> dict[str, float]:
    """Seconds and volume of a product of n x n matrices by each way to tile it."""
    blocks = n // PIVOT
    models = [in_blocks(curve) for curve in curves]
    row: dict[str, float] = {}
    for name, tiling in _tilings(models, blocks).items():
        row[f"{name}_s"] = round(_product_seconds(models, tiling, blocks), 2)
        row[f"{name}_volume"] = round(tiling.volume, 3)
    return row


def _times(rows: Sequence[Row], name: str) -> FloatArray:
    """Return the seconds of a tiling over those of FPM-BR, at each N."""
    return np.array([float(row[f"{name}_s"]) / float(row["fpm-br_s"]) for row in rows])


def _constant(rows: Sequence[Row]) -> Finding:
    large = np.array([int(row["n"]) > MEDIUM for row in rows])
    br = _times(rows, "br")
    seen = ", ".join(f"{br[i]:.2f} at N = {rows[i]['n']:,}" for i in np.flatnonzero(large).tolist())
    return Finding(
        "figure 5.4, BR",
        DID,
        f"one speed a device works for medium sizes and fails for N > {MEDIUM:,}",
        _tried(rows),
        f"up to N = {MEDIUM:,} at most {br[~large].max():.2f} of FPM-BR's time; beyond: {seen}",
        [
            Criterion(f"at most {WORKS} of FPM-BR's time up to N = {MEDIUM:,}",
                      bool(br[~large].max() <= WORKS), own=True),
            Criterion(f"over {FAILS:.0f} times it at every N beyond",
                      bool(large.any() and br[large].min() > FAILS), own=True),
        ],
        LACKING,
    )  # fmt: skip


def _columns(rows: Sequence[Row]) -> Finding:
    others = np.concatenate([_times(rows, name) for name in ("even", "br", "fpm-kl")])
    return Finding(
        "figure 5.4, FPM-BR",
        DID,
        f"partitions efficiently at every N up to {THESIS_MOST:,}; the fastest of the four",
        _tried(rows),
        f"the three others take {others.min():.3f} to {others.max():.0f} times its seconds",
        [Criterion("none of the others is faster at any N", bool(others.min() >= 1))],
        LACKING,
    )


def _grid(*orders: Sequence[Row]) -> Finding:
    most = [_times(rows, "fpm-kl").max() for rows in orders]
    seen = ", ".join(f"{own:.2f} ({name})" for name, own in zip(ORDERS, most, strict=True))
    return Finding(
        "figure 5.4, FPM-KL",
        DID,
        "partitions up to the largest N too",
        _tried(orders[0], f"{EITHER}: the thesis states none"),
        f"at most so many times FPM-BR's seconds: {seen}",
        [
            Criterion(f"under {FAILS:.0f} times at every N, nodes {name}",
                      bool(own < FAILS), own=True)
            for name, own in zip(ORDERS, most, strict=True)
        ],
        LACKING,
    )  # fmt: skip


def _slower(*orders: Sequence[Row]) -> Finding:
    least = [_times(rows, "fpm-kl").min() for rows in orders]
    seen = ", ".join(f"{own:.4f} ({name})" for name, own in zip(ORDERS, least, strict=True))
    columns = [float(row["fpm-br_volume"]) for row in orders[0]]
    return Finding(
        "figure 5.4, FPM-KL beside FPM-BR",
        DID,
        "FPM-KL's performance is lower, as its volume of communication is not the least",
        _tried(orders[0], EITHER),
        f"at least so many times FPM-BR's seconds: {seen}; volume {2 * LILLE_GRID} on the grid, "
        f"{min(columns):.2f} to {max(columns):.2f} in columns",
        [
            Criterion(f"slower at every N, nodes {name}", bool(own > 1))
            for name, own in zip(ORDERS, least, strict=True)
        ],
        LACKING,
    )


def _fourteen() -> list[Finding]:
    """Figure 5.5: 14 nodes, volumes and seconds."""
    curves = [c for c, count in zip(curve_set("lille"), FOURTEEN, strict=True)
              for _ in range(count)]  # fmt: skip
    models = [in_blocks(curve) for curve in curves]
    found = _tilings(models, FOURTEEN_BLOCKS)
    grid, columns = found["fpm-kl"], found["fpm-br"]
    before, after = (
        _product_seconds(models, tiling, FOURTEEN_BLOCKS, GIGABIT) for tiling in (grid, columns)
    )
    fewer, sooner = 1 - columns.volume / grid.volume, 1 - after / before
    did = f"14 nodes that are not named, N = {FOURTEEN_BLOCKS} blocks; FPM-KL and FPM-BR"
    kinds = ", ".join(map(str, FOURTEEN))
    tried = f"14 nodes, emulated: {kinds} of Lille's four kinds, our choice; as many blocks of 16"
    return [
        Finding(
            "figure 5.5, volume",
            did,
            f"{VOLUMES[0]:g} on a grid, {VOLUMES[1]} in columns ({FEWER:.1%} less)",
            tried,
            f"{grid.volume:.3f} and {columns.volume:.3f} ({fewer:.1%} less)",
            [
                Criterion(f"{VOLUMES[0]:g} on the grid", abs(grid.volume - VOLUMES[0]) < 1e-9),
                Criterion(f"{VOLUMES[1]} in columns, or less", columns.volume <= VOLUMES[1]),
            ],
            "other nodes",
        ),
        Finding(
            "figure 5.5, seconds",
            did,
            f"{SECONDS[1]:.0f} s in place of {SECONDS[0]:.0f} ({SOONER:.1%} less)",
            f"{tried}; 1 Gbit/s",
            f"{after:.1f} s in place of {before:.1f} ({sooner:.1%} less)",
            [Criterion(f"{SOONER:.1%} less, or more than that", sooner >= SOONER)],
            "other nodes; no messages",
        ),
    ]


def in_blocks(curve: SpeedCurve) -> Piecewise:
    """A device's model with loads in blocks of PIVOT x PIVOT of the curve's units."""
    model, area = curve.model, PIVOT**2
    return Piecewise(model.loads / area, model.speeds / area, model.capacity / area)


def _tilings(models: Sequence[SpeedModel], blocks: int) -> dict[str, Tiling]:
    shape, k = (blocks, blocks), len(models)
    shared = list(models)
    return {
        "even": tile(np.ones(k), shape, method="br").tiling,
        "br": tile(shared, shape, method="br").tiling,
        "fpm-kl": tile(shared, shape, method="fpm-kl").tiling,
        "fpm-br": tile(shared, shape, method="1.5d").tiling,
    }


def _product_seconds(
    models: Sequence[SpeedModel], tiling: Tiling, blocks: int, bytes_per_s: float = BYTES_PER_S
) -> float:
    """Return the seconds of a product: in each step the slowest device, then all communication."""
    seconds: FloatArray = TilingDevices(list(models)).seconds(tiling.height, tiling.width)
    entries = tiling.half_perimeters.sum() * PIVOT**2
    travel = float(entries) * 8 / bytes_per_s / len(models)
    return blocks * (float(seconds.max()) + travel)

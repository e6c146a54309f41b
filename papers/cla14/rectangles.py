"""Matrix products over rectangles ([Cla14]_, 5.1.5): grids and columns, on emulated clusters.

The seconds of a step of PIVOT columns are those of emulated speed surfaces (surfaces.py):
FPM-KL is given these, 1.5D their squares alone; all are timed by them. Messages are counted
(surfaces.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from evener.arrays import FloatArray
from evener.plans.tiling import Tiling
from evener.platforms.models.fitting import Constant, SpeedModel
from evener.sizing.tiling.grids import grid_of_surfaces
from evener.sizing.tiling.methods import tile
from papers.cla14.surfaces import PIVOT, NodeSurface, sent_seconds, surfaces_of_lille
from papers.findings import Criterion, Finding, Panel, PaperResult, Plot, Row

LILLE_SIZES = (20000, 40000, 60000, 80000, 100000, 120000, 140000, 160000)
COUNTER_SIZES = (80000, 120000)
MEDIUM = 80000  # beyond it the thesis's BR fails
THESIS_MOST = 160000  # the thesis's largest, "at which point all memory is used"
LILLE_NODES = (20, 20, 19, 5)  # of each kind, table 5.2
LILLE_GRID = 8  # x 8 nodes
BYTES_PER_S = 1e9  # of the network between the nodes of Lille, ours
GIGABIT = 125e6
KEPT = 0.5  # of its best speed, that FPM-BR has where memories are full; ours
WORKS, FAILS = 1.1, 2.0  # times FPM-BR's seconds: what we call to work, and to fail
ORDERS = ("dealt", "by kind")  # nodes to the columns of the grid; the thesis states no order
EITHER = "dealt to the grid's columns and in the order of their kinds"
# Figure 5.5: nodes of each kind (ours), N in blocks of PIVOT; volumes and seconds, grid first, and
# by how much they are less, as the text has it.
FOURTEEN, FOURTEEN_BLOCKS = (4, 4, 3, 3), 840
VOLUMES, SECONDS = (9.0, 7.457), (192.0, 166.0)
FEWER, SOONER = 0.171, 0.136
DID = "ScaLAPACK's outer product on 64 nodes of Grid'5000 Lille, four algorithms, blocks of 16"
ENDLESS = 1e15  # elements, of a memory that never fills
WAYS = ("even", "br", "fpm-kl", "fpm-br")

Order = Sequence[NodeSurface]
Models = Callable[[NodeSurface], SpeedModel]


def rectangles(sizes: Sequence[int] = LILLE_SIZES) -> PaperResult:
    """Figures 5.4 and 5.5: even, BR, FPM-KL and FPM-BR (1.5D) on 64 nodes of four kinds.

    Nodes stand in the grid in one of two ORDERS: dealt to its columns, so that each has some of
    every kind, or one kind after another.
    """
    kinds = surfaces_of_lille()
    listed = [kind for kind, count in zip(kinds, LILLE_NODES, strict=True) for _ in range(count)]
    dealt = [node for j in range(LILLE_GRID) for node in listed[j::LILLE_GRID]]
    rows: list[Row] = [
        {"order": order, **row_of(nodes, n)}
        for order, nodes in zip(ORDERS, (dealt, listed), strict=True)
        for n in sizes
    ]
    shown, other = ([row for row in rows if row["order"] == order] for order in ORDERS)
    lines = {name: [float(row[f"{name}_s"]) for row in shown] for name in WAYS}
    panel = Panel("64 nodes (Lille): C = A B", "N", "seconds", list(sizes), lines, log_y=True)
    # Counter-examples: speeds that do not depend on the load; models of other nodes than are
    # there; nodes that are all alike, whose grid of 8 x 8 no columns can better.
    endless = [NodeSurface(node.name, node.peak, 0.0, ENDLESS, short=False) for node in dealt]
    constant = [row_of(endless, n) for n in COUNTER_SIZES]
    alike = [row_of([kinds[1]] * len(dealt), n) for n in COUNTER_SIZES[-1:]]
    others = dict(zip(kinds, [*kinds[1:], kinds[0]], strict=True))
    wrong = [row_of(dealt, n, lambda node: others[node].of_squares)
             for n in COUNTER_SIZES[-1:]]  # fmt: skip
    findings = [
        _constant(shown).beside_counter("constant speeds", _constant(constant)),
        _columns(shown).beside_counter("models of other nodes", _columns(wrong)),
        _grid(shown, other),
        _slower(shown, other).beside_counter("64 nodes alike", _slower(alike, alike)),
        *_fourteen(),
    ]
    return PaperResult(findings, [Plot("figure-5.4-rectangles", [panel])], {"rectangles": rows})


def _tried(rows: Sequence[Row], order: str = "dealt to the grid's columns") -> str:
    sizes = ", ".join(f"{row['n']:,}" for row in rows)
    return (
        f"the 64 nodes, surfaces emulated, {order}; blocks of {PIVOT}, N of {sizes}; messages over "
        f"a network of {BYTES_PER_S / 1e9:.0f} GB/s"
    )


def row_of(nodes: Order, n: int, model: Models = lambda node: node.of_squares) -> Row:
    """Seconds and volume of a product of n x n matrices by each way to tile it.

    model: the 1D model by which 1.5D finds areas; nodes are timed by their surfaces.
    """
    blocks = n // PIVOT
    row: dict[str, float | int | str] = {"n": n}
    for name, tiling in _tilings(nodes, blocks, model).items():
        row[f"{name}_s"] = round(_product_seconds(nodes, tiling), 2)
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
        "5.1.5, figure 5.4, BR",
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
    )  # fmt: skip


def _columns(rows: Sequence[Row]) -> Finding:
    others = np.concatenate([_times(rows, name) for name in ("even", "br", "fpm-kl")])
    speeds = [int(row["n"]) ** 3 / float(row["fpm-br_s"]) for row in rows]
    kept = speeds[-1] / max(speeds)
    return Finding(
        "5.1.5, figure 5.4, FPM-BR",
        DID,
        f"partitions efficiently at every N up to {THESIS_MOST:,}; the fastest of the four",
        _tried(rows),
        f"the three others take {others.min():.3f} to {others.max():.0f} times its seconds; at N = "
        f"{rows[-1]['n']:,} it has {kept:.2f} of its own best speed",
        [
            Criterion("none of the others is faster at any N", bool(others.min() >= 1)),
            Criterion(f"at the largest N {KEPT:g} at least of its best speed", kept >= KEPT,
                      own=True),
        ],
    )  # fmt: skip


def _grid(*orders: Sequence[Row]) -> Finding:
    most = [_times(rows, "fpm-kl").max() for rows in orders]
    seen = ", ".join(f"{own:.2f} ({name})" for name, own in zip(ORDERS, most, strict=True))
    return Finding(
        "5.1.5, figure 5.4, FPM-KL",
        DID,
        "partitions up to the largest N too",
        _tried(orders[0], f"{EITHER}: the thesis states none"),
        f"at most so many times FPM-BR's seconds: {seen}",
        [
            Criterion(f"under {FAILS:.0f} times at every N, nodes {name}",
                      bool(own < FAILS), own=True)
            for name, own in zip(ORDERS, most, strict=True)
        ],
    )  # fmt: skip


def _slower(*orders: Sequence[Row]) -> Finding:
    least = [_times(rows, "fpm-kl").min() for rows in orders]
    seen = ", ".join(f"{own:.4f} ({name})" for name, own in zip(ORDERS, least, strict=True))
    columns = [float(row["fpm-br_volume"]) for row in orders[0]]
    return Finding(
        "5.1.5, figure 5.4, FPM-KL beside FPM-BR",
        DID,
        "FPM-KL's performance is lower, as its volume of communication is not the least",
        _tried(orders[0], EITHER),
        f"at least so many times FPM-BR's seconds: {seen}; volume {2 * LILLE_GRID} on the grid, "
        f"{min(columns):.2f} to {max(columns):.2f} in columns",
        [
            Criterion(f"slower at every N, nodes {name}", bool(own > 1))
            for name, own in zip(ORDERS, least, strict=True)
        ],
    )


def _fourteen() -> list[Finding]:
    """Figure 5.5: 14 nodes, volumes and seconds."""
    kinds = surfaces_of_lille()
    nodes = [kind for kind, count in zip(kinds, FOURTEEN, strict=True) for _ in range(count)]
    found = _tilings(nodes, FOURTEEN_BLOCKS)
    grid, columns = found["fpm-kl"], found["fpm-br"]
    before, after = (_product_seconds(nodes, tiling, GIGABIT) for tiling in (grid, columns))
    fewer, sooner = 1 - columns.volume / grid.volume, 1 - after / before
    did = f"14 nodes that are not named, N = {FOURTEEN_BLOCKS} blocks; FPM-KL and FPM-BR"
    counts = ", ".join(map(str, FOURTEEN))
    tried = f"14 nodes, surfaces emulated: {counts} of Lille's four kinds, our choice; such blocks"
    return [
        Finding(
            "5.1.5, figure 5.5, volume",
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
            "5.1.5, figure 5.5, seconds",
            did,
            f"{SECONDS[1]:.0f} s in place of {SECONDS[0]:.0f} ({SOONER:.1%} less)",
            f"{tried}; messages at 1 Gbit/s",
            f"{after:.1f} s in place of {before:.1f} ({sooner:.1%} less)",
            [
                Criterion("less in columns", sooner > 0),
                Criterion(f"{SOONER:.1%} less, or more than that", sooner >= SOONER),
            ],
            "other nodes",
        ),
    ]


def _tilings(
    nodes: Order, blocks: int, model: Models = lambda node: node.of_squares
) -> dict[str, Tiling]:
    shape, k = (blocks, blocks), len(nodes)
    # One speed each, as a benchmark at an even share finds it.
    even = blocks / k**0.5
    speeds = [Constant(even**2 / node.time(even, even)) for node in nodes]
    return {
        "even": tile(np.ones(k), shape, method="br").tiling,
        "br": tile(speeds, shape, method="br").tiling,
        "fpm-kl": grid_of_surfaces(nodes, shape).tiling,
        "fpm-br": tile([model(node) for node in nodes], shape, method="1.5d", sizes="gpa").tiling,
    }


def _product_seconds(nodes: Order, tiling: Tiling, bytes_per_s: float = BYTES_PER_S) -> float:
    """Return the seconds of a product: in each step the slowest node, and all messages."""
    used = tiling.areas > 0
    sides = zip(tiling.height[used], tiling.width[used], strict=True)
    own = [nodes[i] for i in np.flatnonzero(used).tolist()]
    slowest = max(node.time(float(h), float(w)) for node, (h, w) in zip(own, sides, strict=True))
    return tiling.shape[0] * slowest + sent_seconds(tiling, bytes_per_s, PIVOT)

"""Draws the pictures of docs/partitioner.md, docs/images/partitioner-*.png, with what they show.

python docs/images/partitioner.py
"""

import matplotlib as mpl
import numpy as np
from few_colours import save

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.collections import LineCollection
from matplotlib.tri import Triangulation
from scipy.spatial import cKDTree

from evener.graphs.generating.families import GENERATORS
from evener.graphs.hilbert import hilbert_order
from evener.partitioning.initial.kmeans import along_curve, start_along_curve, unit_box
from evener.partitioning.levels.levels import finest, shrink
from evener.partitioning.multilevel.multilevel import edge_weights, multilevel_blocks
from evener.partitioning.refine import RefineOptions, refined_blocks
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from evener.plans import metrics
from evener.plans.partition import Contract, Partition

SPEEDS = np.repeat([16.0, 1.0], [6, 26])
PALETTE = ["#77aadd", "#ee8866", "#eedd88", "#44bb99", "#ffaabb", "#99ddff", "#bbcc33", "#dddddd"]
LINE = "#262a30"
SHADES = mpl.colors.ListedColormap([LINE, *PALETTE])
TEXT = {"font.size": 9, "axes.titlesize": 10, "font.family": "DejaVu Sans"}
CORNER = (0.0, 0.5)  # of the square that is enlarged, in both directions


class Case:
    """The graph of all pictures, in the curve's order, and what its blocks are to weigh."""

    def __init__(self):
        graph = GENERATORS["delaunay"].make(n=12_000, seed=3)
        self.graph, self.order = graph, hilbert_order(graph.coords)
        self.targets = graph.n * SPEEDS / SPEEDS.sum()
        low, high = np.ceil(0.97 * self.targets), np.floor(1.03 * self.targets)
        self.contract = Contract(self.targets, low, high)
        self.mesh = Triangulation(*graph.coords.T)
        self.points = unit_box(graph.coords, self.order)

    def placed(self, start=None):
        """The blocks of balanced k-means, from given centres or from its own."""
        part, _ = along_curve(self.points, np.empty(0), self.targets, 0.01, 1, start)
        return self.unsorted(part)

    def unsorted(self, part):
        """Blocks along the curve as blocks of the graph's vertices."""
        blocks = np.empty(self.graph.n, np.int32)
        blocks[self.order] = part
        return blocks

    def between(self, part):
        """Who touches whom, and how much is cut and sent."""
        return metrics.quotient(self.graph, Partition(part, SPEEDS.size))

    def cut(self, part):
        """Edges between blocks."""
        return f"{metrics.edge_cut(self.between(part)):,.0f} edges cut"

    def most_sent(self, part):
        """Values that the busiest block sends."""
        return int(metrics.comm_volumes(self.between(part)).max())


def main():
    """Draw all of them."""
    case = Case()
    with plt.rc_context(TEXT):
        for draw in (start, rim, levels, refined, volumes):
            save(draw(case), f"partitioner-{draw.__name__}.png", 64, dpi=100, dither=True)


def start(case):
    """The curve; every point to the nearest centre; every block to its target."""
    figure, (curve, nearest, balanced) = panels(3)
    places = case.graph.coords[case.order][::4]
    lines = LineCollection(np.stack([places[:-1], places[1:]], axis=1), cmap="viridis", lw=0.8)
    lines.set_array(np.linspace(0, 1, len(places) - 1))
    curve.add_collection(lines)
    curve.set(title="along the curve", xlim=(0, 1), ylim=(0, 1))
    centres = start_along_curve(case.points, np.empty(0), case.targets)
    _, own = cKDTree(centres.places).query(case.points.T)
    for axis, part, name in (
        (nearest, case.unsorted(own), "nearest centre"),
        (balanced, case.placed(centres), "with influence"),
    ):
        ratio = np.bincount(part, minlength=SPEEDS.size) / case.targets
        paint(axis, case, part, f"{name}: {ratio.min():.2f} to {ratio.max():.2f} of target")
    return figure


def rim(case):
    """Refined from centres along the curve, and from large blocks at the rim."""
    figure, axes = panels(2)
    along = case.placed(start_along_curve(case.points, np.empty(0), case.targets))
    for axis, begun, name in zip(
        axes, (along, case.placed()), ("along the curve", "large ones at the rim"), strict=True
    ):
        part = refined_blocks(case.graph, begun, case.contract, RefineOptions())
        paint(axis, case, part, f"{name}: {case.most_sent(part)} sent")
    return figure


def levels(case):
    """A corner of the graph, and of two graphs that it is shrunk to."""
    figure, axes = panels(3)
    level = finest(case.graph, case.order, None, edge_weights(case.graph), 1)
    part = case.placed()[case.order]
    places, shade = case.graph.coords[case.order], colours(case, case.placed())
    for axis, growth in zip(axes, (8.0, 8.0, None), strict=True):
        u = np.repeat(np.arange(level.n), np.diff(level.xadj.astype(np.int64)))
        inside = ((places > CORNER[0]) & (places < CORNER[1])).all(axis=1)
        v = level.adjncy.astype(np.int64)
        keep = (u < v) & inside[u] & inside[v]
        ends = np.stack([places[u[keep]], places[v[keep]]], axis=1)
        same = part[u[keep]] == part[v[keep]]
        tints = np.where(same, shade[part[u[keep]]] + 1, 0)
        axis.add_collection(LineCollection(ends, colors=SHADES(tints), lw=np.where(same, 1.1, 0.5)))
        axis.set(title=f"{level.n:,} vertices", xlim=CORNER, ylim=CORNER)
        if growth is not None:
            mean = level.vwgt.sum() / level.n
            shrunk = shrink(level, part, np.full(SPEEDS.size, growth * mean), 1)
            weight = np.bincount(shrunk.coarse_of, level.vwgt)
            places = np.stack(
                [np.bincount(shrunk.coarse_of, level.vwgt * x) / weight for x in places.T], axis=1
            )
            level, part = shrunk.level, shrunk.part
    return figure


def refined(case):
    """The same corner before and after refinement."""
    figure, axes = panels(2)
    done = multilevel_blocks(case.graph, case.contract)
    stages = {"placed": done.start, "refined": done.part}
    for axis, (name, part) in zip(axes, stages.items(), strict=True):
        paint(axis, case, part, f"{name}: {case.cut(part)} in all")
        axis.set(xlim=CORNER, ylim=CORNER)
    return figure


def volumes(case):
    """What every block sends, sorted, by objective; and METIS's."""
    figure, axis = plt.subplots(figsize=(6, 3), layout="constrained")
    request = Request(case.targets, low=case.contract.low, high=case.contract.high)
    parts = {"METIS": partition_with("metis", case.graph, request).part}
    for objective in ("cut", "max_volume"):
        found = multilevel_blocks(case.graph, case.contract, objective=objective)
        parts[objective] = found.part
    looks = zip(("#9aa5b1", "#2f6fb3", "#d98324"), (":", "-", "-"), strict=True)
    for (name, part), (colour, style) in zip(parts.items(), looks, strict=True):
        sent = np.sort(metrics.comm_volumes(case.between(part)))[::-1]
        label = f"{name}: {sent.max()} at most, {sent.sum():,} in all, {case.cut(part)}"
        axis.step(
            np.arange(1, sent.size + 1), sent, color=colour, ls=style, where="mid", label=label
        )
    axis.set(xlabel="blocks, the busiest first", ylabel="values sent", ylim=(0, None))
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False, fontsize=8)
    return figure


def panels(count):
    """Square pictures side by side, without axes."""
    figure, axes = plt.subplots(1, count, figsize=(3.3 * count, 3.55), layout="constrained")
    for axis in axes:
        axis.set_aspect("equal")
        axis.set_axis_off()
    return figure, axes


def paint(axis, case, part, title):
    """Colour the triangles by the block of most of their corners; lines part the blocks."""
    triangles, beside = case.mesh.triangles, case.mesh.neighbors
    corners = part[triangles]
    own = np.where(corners[:, 1] == corners[:, 2], corners[:, 1], corners[:, 0])
    axis.tripcolor(case.mesh, colours(case, part)[own] + 1, cmap=SHADES, vmin=0, vmax=len(PALETTE))
    t, side = np.nonzero((beside >= 0) & (own[beside] != own[:, None]))
    ends = case.graph.coords[np.stack([triangles[t, side], triangles[t, (side + 1) % 3]], axis=1)]
    axis.add_collection(LineCollection(ends, colors=LINE, lw=0.9))
    axis.set_title(title)


def colours(case, part):
    """A colour for each block, unlike those of its neighbours where that can be."""
    between = case.between(part)
    colour = np.full(SPEEDS.size, -1)
    for b in range(SPEEDS.size):
        taken = set(colour[between.other[between.block == b]])
        free = [c for c in range(len(PALETTE)) if c not in taken]
        colour[b] = free[b % len(free)] if free else b % len(PALETTE)
    return colour


if __name__ == "__main__":
    main()

"""Draws docs/images/splitting.png: vertices or edges divided, what is exchanged, who gets most.

python docs/images/splitting.py
"""

import matplotlib.pyplot as plt
import numpy as np
from few_colours import save

import evener as ev
from evener.graphs.generating.delaunay import delaunay
from evener.graphs.generating.grid import grid
from evener.graphs.generating.random_graphs import barabasi_albert, rmat
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from evener.plans.counts import counted_blocks
from evener.plans.partition import Partition

GRAPHS = {
    "triangle mesh": lambda: delaunay(20000, seed=5),
    "3-D grid": lambda: grid((30, 30, 30)),
    "preferential\nattachment": lambda: barabasi_albert(16000, 1, 8),
    "R-MAT": lambda: rmat(14, 1),
}
K, MANY = 32, (8, 16, 32, 64, 128, 256, 512)
VERTICES, EDGES, INK = "#d98a2b", "#4477aa", "#262a30"
TEXT = {"font.size": 9, "axes.titlesize": 10, "font.family": "DejaVu Sans"}


def by_vertices(graph, k, tools=("metis",)):
    """Values exchanged and the largest block of arcs / target, where vertices weigh their arcs.

    Of the partitioner that has least to exchange.
    """
    weighted = graph.with_(vwgt=np.maximum(graph.degrees, 1))
    found = []
    for tool in tools:
        request = Request(np.full(k, weighted.total_weight / k), epsilon=0.03)
        part = partition_with(tool, weighted, request).part
        arcs = np.bincount(part, graph.degrees, k)
        counted = counted_blocks(graph, Partition(part, k), np.ones((graph.n, 1)))
        found.append((int(counted.volumes.sum()), arcs.max() / arcs.mean()))
    return min(found)


def by_edges(graph, k):
    """Values exchanged and the largest block / target, where edges are divided."""
    plan = ev.split(graph, k)
    return 2 * plan.metrics.copies, plan.relative_loads.max()


def main():
    """Draw values exchanged of all graphs, and the largest block of the one with most hubs."""
    graphs = {name: make() for name, make in GRAPHS.items()}
    with plt.rc_context(TEXT):
        figure, (left, right) = plt.subplots(
            1, 2, figsize=(7.6, 3.0), layout="constrained", width_ratios=(4, 3)
        )
        draw_exchange(left, graphs)
        draw_balance(right, graphs["R-MAT"])
        save(figure, "splitting.png")


def draw_exchange(axes, graphs):
    """Values exchanged in an iteration per vertex, two bars a graph."""
    for i, graph in enumerate(graphs.values()):
        found = by_vertices(graph, K, ("metis", "evener")), by_edges(graph, K)
        heights = [exchanged / graph.n for exchanged, _ in found]
        for shift, height, colour in zip((-0.2, 0.2), heights, (VERTICES, EDGES), strict=True):
            axes.bar(i + shift, height, 0.38, color=colour)
            axes.text(i + shift, height * 1.05, f"{height:.2g}", ha="center", fontsize=8)
    axes.set_yscale("log")
    axes.set_ylim(top=20)
    axes.set_xticks(range(len(graphs)), graphs)
    axes.set_title(f"Values exchanged in an iteration, per vertex; {K} blocks")
    axes.spines[["top", "right"]].set_visible(False)


def draw_balance(axes, graph):
    """Largest block of arcs or edges / target, over the number of blocks."""
    for how, colour, name in ((by_vertices, VERTICES, "vertices divided"),
                              (by_edges, EDGES, "edges divided")):  # fmt: skip
        most = [how(graph, k)[1] for k in MANY]
        axes.plot(MANY, most, color=colour, marker="o", markersize=3, label=name)
    axes.set_xscale("log", base=2)
    axes.set_xticks(MANY, MANY)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("blocks")
    axes.set_title("R-MAT: largest block / target")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    main()

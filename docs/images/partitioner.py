"""Draws docs/images/partitioner.png: the blocks after k-means, and after refinement.

python docs/images/partitioner.py
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.tri import Triangulation

from evener import metrics
from evener.generating.families import GENERATORS
from evener.partitioning.kmeans import kmeans_blocks
from evener.partitioning.multilevel import multilevel_blocks
from evener.partitions import Contract, Partition

SPEEDS = np.repeat([16.0, 1.0], [6, 26])
PALETTE = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb", "#ee8866"]


def main():
    """Draw both stages side by side."""
    graph = GENERATORS["delaunay"].make(n=12_000, seed=3)
    targets = graph.n * SPEEDS / SPEEDS.sum()
    contract = Contract(targets, np.ceil(0.97 * targets), np.floor(1.03 * targets))
    stages = {
        "after k-means": kmeans_blocks(graph.coords, None, targets),
        "after refinement": multilevel_blocks(graph, contract),
    }
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.7), layout="constrained")
    mesh = Triangulation(*graph.coords.T)
    for axis, (name, part) in zip(axes, stages.items(), strict=True):
        between = metrics.quotient(graph, Partition(part, SPEEDS.size))
        colour = colours(between, SPEEDS.size)
        cells = colour[part[mesh.triangles]]
        inner = (part[mesh.triangles] == part[mesh.triangles[:, :1]]).all(axis=1)
        shades = mpl.colors.ListedColormap(["#222222", *PALETTE])
        axis.tripcolor(mesh, np.where(inner, cells[:, 0] + 1, 0), cmap=shades, vmin=0, vmax=8)
        axis.set_title(f"{name}: {metrics.edge_cut(between):,.0f} edges cut")
        axis.set_aspect("equal")
        axis.set_axis_off()
    figure.savefig(Path(__file__).with_suffix(".png"), dpi=100, bbox_inches="tight")


def colours(between, k):
    """A colour for each block, unlike those of its neighbours where that can be."""
    colour = np.full(k, -1)
    for b in range(k):
        taken = set(colour[between.other[between.block == b]])
        free = [c for c in range(len(PALETTE)) if c not in taken]
        colour[b] = free[b % len(free)] if free else b % len(PALETTE)
    return colour


if __name__ == "__main__":
    main()

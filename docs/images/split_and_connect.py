"""Draws docs/images/split-and-connect.png: a graph, its clones, and its edges as vertices.

python docs/images/split_and_connect.py
"""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
from few_colours import save

import evener as ev

PLACES = np.array([[0.0, 1.0], [0.0, 0.0], [1.0, 0.5], [2.1, 1.0], [2.3, 0.5], [2.1, 0.0]])
EDGES = ev.EdgeList(6, [0, 0, 1, 2, 2, 2], [1, 2, 2, 3, 4, 5])  # a triangle and a star
PART = ev.EdgePartition([0, 0, 0, 1, 1, 1], 2)
COLOURS, INK, SOFT = ("#4477aa", "#ee6677"), "#262a30", "#8a9099"
NEAR = 0.27  # distance of clones from the place of their vertex
TEXT = {"font.size": 9, "axes.titlesize": 10, "font.family": "DejaVu Sans"}


def main():
    """Draw three panels side by side."""
    copies = ev.edge_metrics(EDGES, PART).copies
    with plt.rc_context(TEXT):
        figure, axes = plt.subplots(1, 3, figsize=(7.6, 1.6), layout="constrained")
        draw_graph(axes[0], f"Edges in two blocks: {copies} copy")
        draw_clones(axes[1], "Clones, connected by paths")
        draw_contracted(axes[2], "Edges as vertices")
        for one in axes:
            one.set_xlim(-0.1, 2.4)
            one.set_ylim(-0.12, 1.12)
            one.set_aspect("equal")
            one.set_axis_off()
        save(figure, "split-and-connect.png")


def draw_graph(axes, title):
    """Draw vertices, and edges in the colours of their blocks."""
    for e in range(EDGES.m):
        line(axes, PLACES[EDGES.tails[e]], PLACES[EDGES.heads[e]], COLOURS[PART.part[e]], 2.2)
    axes.plot(*PLACES.T, "o", color=INK, markersize=6)
    axes.set_title(title)


def draw_clones(axes, title):
    """Draw two clones an edge: joined by a heavy edge; those of a vertex by a path."""
    for e in range(EDGES.m):
        u, v = EDGES.tails[e], EDGES.heads[e]
        line(axes, clone(u, e), clone(v, e), COLOURS[PART.part[e]], 3.2)
    for e, f, v in paths():
        line(axes, clone(v, e), clone(v, f), INK, 1.0, cut=PART.part[e] != PART.part[f])
    for v in range(EDGES.n):
        for e in listed(v):
            axes.plot(*clone(v, e), "o", color=COLOURS[PART.part[e]], markersize=5)
    axes.set_title(title)


def draw_contracted(axes, title):
    """Draw a vertex for each edge, joined by what is left: the paths."""
    middle = (PLACES[EDGES.tails] + PLACES[EDGES.heads]) / 2
    for e, f, _ in paths():
        line(axes, middle[e], middle[f], INK, 1.0, cut=PART.part[e] != PART.part[f])
    for e in range(EDGES.m):
        axes.plot(*middle[e], "o", color=COLOURS[PART.part[e]], markersize=8)
    axes.set_title(title)


def listed(v):
    """The edges at vertex v in the order of its path: by the other end."""
    offsets, edges = EDGES.incidence
    return edges[offsets[v] : offsets[v + 1]].tolist()


def paths():
    """Every two edges that follow each other at a vertex, and the vertex."""
    return [(e, f, v) for v in range(EDGES.n) for e, f in pairwise(listed(v))]


def clone(v, e):
    """Place of the clone of vertex v that stands for edge e: towards the other end."""
    other = PLACES[EDGES.tails[e] + EDGES.heads[e] - v]
    way = other - PLACES[v]
    return PLACES[v] + NEAR * way / np.hypot(*way)


def line(axes, start, end, colour, width, *, cut=False):
    """Draw a line; dashed and soft where a block ends there."""
    style = {"color": SOFT, "linestyle": (0, (2, 2))} if cut else {"color": colour}
    axes.plot(*np.array([start, end]).T, linewidth=width, zorder=0, **style)


if __name__ == "__main__":
    main()

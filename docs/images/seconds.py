"""Draws docs/images/seconds.png: one mesh by METIS at the best sizes, and by seconds.

python docs/images/seconds.py
"""

import matplotlib as mpl
import numpy as np
from few_colours import save

import evener as ev
from evener.graphs.generating.delaunay import delaunay
from evener.planning.evaluate import evaluate
from evener.planning.makespan.baselines import METIS_TOOLS, enforced_and_mapped, metis_blocks
from evener.planning.options import PlanOptions
from evener.planning.steps import terms_of
from evener.plans.partition import Partition
from evener.sizing.contracts import contract_for_seconds

mpl.use("Agg")
import matplotlib.pyplot as plt

POINTS, SEED = 20000, 5
BLOCKS = ("#4477aa", "#66ccee", "#228833", "#ccbb44", "#ee6677", "#aa3377", "#bbbbbb", "#dd8844",
          "#88ccaa", "#9977cc")  # fmt: skip
COMPUTES, TALKS, WAITS, INK = "#a9c6e8", "#d98a2b", "#d8d8d8", "#262a30"
TEXT = {"font.size": 9, "axes.titlesize": 10, "font.family": "DejaVu Sans"}


def machine():
    """Two GPUs and four cores, in two nodes: a message takes as long as a few thousand rows."""
    nodes = [("gpu0", "n0", 8e8)] + [(f"cpu{i}", "n0", 1e8) for i in (0, 1)]
    nodes += [("gpu1", "n1", 8e8)] + [(f"cpu{i}", "n1", 1e8) for i in (2, 3)]
    devices = tuple(ev.Device(name, speed, at=at) for name, at, speed in nodes)
    levels = (ev.Level("network", ev.Link(2e-6, 4e-9)), ev.Level("node", ev.Link(5e-7, 1e-9)))
    return ev.Platform(devices, levels)


def main():
    """Draw both plans: blocks above, seconds of the devices below, on one scale."""
    graph, platform, options = delaunay(POINTS, seed=SEED), machine(), PlanOptions()
    plan = ev.plan(graph, platform, options)
    part, metis = rival(graph, platform, options)
    pairs = [("METIS, the same sizes", part, metis),
             ("evener plan, by seconds", plan.partition, plan.evaluation)]  # fmt: skip
    with plt.rc_context(TEXT):
        figure, axes = plt.subplots(
            2, 2, figsize=(7.6, 5.6), layout="constrained", height_ratios=(3, 2)
        )
        most = max(judged.prediction.makespan for _, _, judged in pairs)
        for column, (title, blocks, judged) in enumerate(pairs):
            draw_blocks(axes[0, column], graph, platform, blocks, title, judged)
            draw_seconds(axes[1, column], platform, judged, most)
        handles, labels = axes[1, 0].get_legend_handles_labels()
        figure.legend(
            handles, labels, frameon=False, fontsize=8, ncols=3, loc="outside lower center"
        )
        save(figure, "seconds.png")


def rival(graph, platform, options):
    """The better of METIS's two methods, enforced and mapped, and how it is judged."""
    terms, contract = terms_of(graph, platform, options), contract_for_seconds(graph, platform)
    found = []
    for tool in METIS_TOOLS:
        blocks = metis_blocks(graph, terms, options, tool).part
        part = Partition(enforced_and_mapped(graph, blocks, terms, options), platform.k)
        found.append((part, evaluate(graph, part, platform, contract)))
    return min(found, key=lambda one: one[1].prediction.makespan)


def draw_blocks(axes, graph, platform, blocks, title, judged):
    """Vertices in the colours of their devices, a name on each block."""
    colours = np.array([mpl.colors.to_rgb(colour) for colour in BLOCKS])
    x, y = graph.coords[:, 0], graph.coords[:, 1]
    axes.scatter(x, y, s=1.6, c=colours[blocks.part], linewidths=0)
    for b, name in enumerate(platform.names):
        own = np.flatnonzero(blocks.part == b)
        if own.size:
            middle = graph.coords[own].mean(axis=0)
            near = own[((graph.coords[own] - middle) ** 2).sum(axis=1).argmin()]
            box = {"boxstyle": "round,pad=0.15", "facecolor": INK, "linewidth": 0}
            axes.text(x[near], y[near], name, ha="center", va="center", fontsize=8,
                      color="white", bbox=box)  # fmt: skip
    axes.set_title(
        f"{title}: {1e6 * judged.prediction.makespan:.1f} µs, cut {judged.edge_cut:,.0f}"
    )
    axes.set_aspect("equal")
    axes.set_axis_off()


def draw_seconds(axes, platform, judged, most):
    """Computing and exchanging stacked, a bar a device, and the bound."""
    prediction, at = judged.prediction, np.arange(platform.k)
    compute, talk = 1e6 * prediction.compute, 1e6 * prediction.communicate
    axes.bar(at, compute, color=COMPUTES, label="computes")
    axes.bar(at, talk, bottom=compute, color=TALKS, label="exchanges")
    wait = 1e6 * prediction.delay
    axes.bar(at, wait, bottom=compute + talk, color=WAITS, label="waits for partners")
    axes.axhline(1e6 * prediction.bound, color=INK, linewidth=0.9, linestyle=":",
                 label="lower bound")  # fmt: skip
    for b in np.flatnonzero(judged.certificate.vertices == 0):
        axes.text(b, 0.02e6 * most, "unused", ha="center", va="bottom", fontsize=8, rotation=90)
    axes.set_xticks(at, platform.names)
    axes.set_ylim(0, 1.05e6 * most)
    axes.set_ylabel("µs per iteration")
    axes.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    main()

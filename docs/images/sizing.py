"""Draws the picture of docs/sizing.md: lines through the origin, and what sizes lose.

python docs/images/sizing.py
"""

from pathlib import Path

import numpy as np
from few_colours import save_styled
from matplotlib.figure import Figure

from evener.platforms.models.examples import curve_set, emulated_speeds
from evener.platforms.models.fitting import fit_device
from evener.sizing.dynamic import measured_sizes
from evener.sizing.solving import solve_sizes

FOLDER = Path(__file__).parent
COLOURS = ("#1b6ca8", "#d1495b", "#2e8b57", "#8d5a97")
LOADS = np.linspace(1000, 14000, 53).astype(int)


def main():
    """Write it."""
    figure = Figure(figsize=(9.6, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    draw_lines(left)
    draw_losses(right)
    save_styled(figure, "sizing.png")


def draw_lines(axes):
    """The four servers' curves, and the lines that divide two loads."""
    curves = curve_set("cluster2")
    models = [curve.model for curve in curves]
    loads = np.linspace(1, 8000, 1200)
    for curve, colour in zip(curves, COLOURS, strict=True):
        axes.plot(loads, curve.model.speed(loads), color=colour, label=curve.name)
    for n in (6000, 13_000):
        found = solve_sizes(models, n)
        axes.plot([0, 8000], [0, 8000 / found.makespan], color="0.4", lw=0.9, ls="--")
        at = found.sizes.astype(float)
        speeds = [model.speed(size) for model, size in zip(models, at, strict=True)]
        axes.scatter(at, speeds, color="k", s=16, zorder=3)
        axes.annotate(f"{n:,} rows", (1.03 * at.max(), 1.04 * max(speeds)), fontsize=8)
    axes.set(xlabel="load (rows)", ylabel="speed (rows/s)", xlim=(0, 8000), ylim=(0, 60_000),
             title="All points on a line take the same time")  # fmt: skip
    axes.legend(frameon=False, fontsize=8)


def draw_losses(axes):
    """Makespan by the least: sizes from the true curves, from few samples of them, by measuring."""
    truth = [curve.model for curve in curve_set("cluster2")]
    few = [fit_device(device) for device in emulated_speeds("cluster2", 24, noise=0.06)]

    def makespan(sizes):
        pairs = zip(truth, sizes.astype(float), strict=True)
        return max(model.time(size) for model, size in pairs)

    def measured(n):
        search = measured_sizes(
            lambda sizes: [m.time(float(d)) for m, d in zip(truth, sizes, strict=True)], n, 4
        )
        return search.best.sizes

    ways = {
        "constant (CPM)": lambda n: solve_sizes(truth, n, "constant").sizes,
        "exact, on 24 noisy samples": lambda n: solve_sizes(few, n).sizes,
        "measured (DPA)": measured,
    }
    least = np.array([solve_sizes(truth, int(n)).makespan for n in LOADS])
    for (name, sizes), colour in zip(ways.items(), COLOURS, strict=False):
        ratios = np.array([makespan(sizes(int(n))) for n in LOADS]) / least
        axes.plot(LOADS, ratios, color=colour, label=name)
    axes.set(xlabel="rows in all", ylabel="makespan by the least", yscale="log",
             title="What sizes lose at a cliff")  # fmt: skip
    axes.set_yticks([1, 2, 5, 10, 20, 40], labels=["1", "2", "5", "10", "20", "40"])
    axes.minorticks_off()
    axes.legend(frameon=False, fontsize=8)


if __name__ == "__main__":
    main()

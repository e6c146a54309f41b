"""Draws docs/images/truth.png: predicted against measured seconds of an iteration.

python docs/images/truth.py [FILE]
"""

import json
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from few_colours import save

mpl.use("Agg")
import matplotlib.pyplot as plt

FOLDER = Path(__file__).parent
RESULTS = FOLDER.parent.parent / "benchmarks" / "results" / "truth.jsonl"
COLOURS = ("#4477aa", "#228833", "#ccbb44", "#ee6677")
GREY, BAND = "#8a9099", "#e9ecf0"
ASKED = 8  # %, of the median
TEXT = {"font.size": 9, "axes.titlesize": 10, "font.family": "DejaVu Sans"}


def main():
    """Draw every run of the cases that are judged, and how large their errors are."""
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else RESULTS
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    judged = [line for line in lines if line["judged"]]
    with plt.rc_context(TEXT):
        figure, (runs, errors) = plt.subplots(1, 2, figsize=(8.4, 3.7), layout="constrained")
        scatter(runs, judged)
        sorted_errors(errors, judged)
        for axes in (runs, errors):
            axes.grid(visible=True, which="major", color="#e3e6ea", linewidth=0.6)
            axes.set_axisbelow(True)
            axes.spines[["top", "right"]].set_visible(False)
        save(figure, "truth.png", 200, dpi=150, dither=True)


def scatter(axes, lines):
    """A point a run; the line where prediction and measurement are the same."""
    every = [
        1e3 * run[key]
        for line in lines
        for run in line["runs"]
        for key in ("predicted", "measured")
    ]
    ends = np.array([0.9 * min(every), 1.1 * max(every)])
    axes.fill_between(
        ends, ends * (1 - ASKED / 100), ends * (1 + ASKED / 100), color=BAND, linewidth=0
    )
    axes.plot(ends, ends, color=GREY, linewidth=0.8)
    for line, colour in zip(lines, COLOURS, strict=False):
        for partition, mark in (("planned", "o"), ("equal", "^")):
            own = [run for run in line["runs"] if run["partition"] == partition]
            x, y = ([1e3 * run[key] for run in own] for key in ("predicted", "measured"))
            axes.plot(x, y, mark, color=colour, markersize=4, markeredgewidth=0)
        axes.plot([], [], "o", color=colour, label=line["case"])
    axes.plot([], [], "o", color=GREY, label="the plan", markersize=3.5)
    axes.plot([], [], "^", color=GREY, label="equal blocks", markersize=3.5)
    axes.set(xscale="log", yscale="log", xlim=ends, ylim=ends)
    axes.set(
        xlabel="predicted [ms]", ylabel="measured [ms]", title="iterations; within 8 % is grey"
    )
    ticks = [t for t in (10, 20, 30, 50, 100, 200, 300, 500, 1000) if ends[0] <= t <= ends[1]]
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
        axis.set_minor_locator(mpl.ticker.NullLocator())
    axes.legend(frameon=False, fontsize=8)


def sorted_errors(axes, lines):
    """How many runs have at most an error; dashed, how far a run is from itself measured again."""
    most = 1.0
    for line, colour in zip(lines, COLOURS, strict=False):
        for key, style in (("predicted", "-"), ("again", ":")):
            off = np.array([abs(run[key] / run["measured"] - 1) for run in line["runs"]])
            share = 100 * (np.arange(off.size) + 1) / off.size
            axes.plot(share, np.sort(100 * off), style, color=colour, linewidth=1.4)
            most = max(most, np.quantile(100 * off, 0.95))
    axes.plot([], [], "-", color=GREY, label="prediction")
    axes.plot([], [], ":", color=GREY, label="the same run again")
    axes.plot([50], [8], "k+", [90], [18], "k+", markersize=9)
    axes.annotate("asked", (90, 18), (-30, 3), textcoords="offset points", fontsize=8)
    axes.set(xlim=(0, 100), ylim=(0, max(1.1 * most, 20)))
    axes.set(xlabel="runs with that error or less [%]", title="error [%]")
    axes.legend(frameon=False, loc="upper left")


if __name__ == "__main__":
    main()

"""Draws docs/images/partitioner-scale.png: what size costs, as measured.

python docs/images/scale.py
"""

import json
from pathlib import Path

import matplotlib as mpl
import numpy as np
from few_colours import save

mpl.use("Agg")
import matplotlib.pyplot as plt

FOLDER = Path(__file__).parent
RESULTS = FOLDER.parent.parent / "benchmarks" / "results" / "partitioner_scale.jsonl"
COLOURS = {8: "#4477aa", 96: "#228833", 1024: "#ccbb44", 4096: "#ee6677"}
TEXT = {"font.size": 9, "axes.titlesize": 10, "font.family": "DejaVu Sans"}


def main():
    """Draw CPU time and memory against the number of vertices, a line for each number of blocks."""
    lines = [json.loads(line) for line in RESULTS.read_text().splitlines()]
    lines = [line for line in lines if line["part"] == "growth"]
    with plt.rc_context(TEXT):
        figure, (time, memory) = plt.subplots(1, 2, figsize=(8.4, 3.4), layout="constrained")
        for k, colour in COLOURS.items():
            own = sorted((line for line in lines if line["k"] == k), key=lambda line: line["n"])
            n = [line["n"] for line in own]
            style = {"color": colour, "marker": "o", "markersize": 3, "label": f"{k:,} blocks"}
            time.plot(n, [line["cpu_s"] for line in own], **style)
            memory.plot(n, [line["peak_MB"] / 1024 for line in own], **style)
        linear(time, lines)
        for axes, ticks in ((time, (0.1, 1, 10)), (memory, (0.25, 0.5, 1, 2))):
            axes.set_yscale("log")
            axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        time.set(title="CPU time [s]")
        memory.set(title="largest memory of the process [GiB]")
        for axes in (time, memory):
            axes.set(xscale="log", xlabel="vertices")
            axes.set_xticks(sorted({line["n"] for line in lines}))
            axes.xaxis.set_major_formatter(lambda n, _: f"$2^{{{round(np.log2(n))}}}$")
            axes.xaxis.set_minor_locator(mpl.ticker.NullLocator())
            axes.yaxis.set_minor_locator(mpl.ticker.NullLocator())
            axes.grid(visible=True, which="major", color="#e3e6ea", linewidth=0.6)
            axes.spines[["top", "right"]].set_visible(False)
        time.legend(frameon=False)
        save(figure, "partitioner-scale.png", 64, dpi=150, dither=True)


def linear(axes, lines):
    """The slope of a cost in proportion to the number of vertices, beside the lines."""
    most = max(line["n"] for line in lines)
    slowest = max(line["cpu_s"] for line in lines if line["n"] == most)
    n = np.array([most / 256, most])
    axes.plot(n, 2.2 * slowest * n / most, color="#8a9099", linestyle=":", label="in proportion")


if __name__ == "__main__":
    main()

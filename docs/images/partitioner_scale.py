"""Draws docs/images/partitioner_scale.png: time and memory of our partitioner by graph and blocks.

python docs/images/partitioner_scale.py

From benchmarks/results/partitioner_scale.jsonl.
"""

import json
from collections import defaultdict
from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
RESULTS = HERE.parents[1] / "benchmarks" / "results" / "partitioner_scale.jsonl"
COLOURS = {8: "#4477aa", 96: "#228833", 1024: "#ccbb44", 4096: "#ee6677"}


def main():
    """One line for each number of blocks: CPU time of a vertex, and memory of a vertex."""
    lines = [json.loads(line) for line in RESULTS.read_text().splitlines()]
    by_k = defaultdict(list)
    for line in lines:
        if line["part"] == "growth":
            by_k[line["k"]].append((line["n"], line["cpu_s"], line["peak_MB"]))
    figure, (time, memory) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for k, own in sorted(by_k.items()):
        n, seconds, peak = np.array(sorted(own)).T
        style = {"marker": "o", "color": COLOURS[k], "label": f"{k:,} blocks"}
        time.plot(n, 1e6 * seconds / n / np.log2(k), **style)
        memory.plot(n, peak / 1024, **style)
    n = np.array([2.0**16, 2.0**24])
    memory.plot(n, 48 * n / 2**30, "--", color="#888888", label="the graph itself")
    time.set(xlabel="vertices", xscale="log", ylim=(0, None))
    time.set_title("CPU microseconds for each vertex and doubling of blocks", fontsize=10)
    memory.set(xlabel="vertices", xscale="log", yscale="log")
    memory.set_title("largest memory of the process, GiB", fontsize=10)
    for axis in (time, memory):
        axis.set_xticks([2.0**power for power in range(16, 25, 2)])
        axis.set_xticklabels([f"$2^{{{power}}}$" for power in range(16, 25, 2)])
        axis.minorticks_off()
        axis.spines[["top", "right"]].set_visible(False)
        axis.legend(frameon=False, fontsize=8)
    figure.savefig(Path(__file__).with_suffix(".png"), dpi=100)


if __name__ == "__main__":
    main()

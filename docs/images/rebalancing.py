"""Draws the pictures of docs/rebalancing.md: rules beside the best in hindsight, and a run.

python docs/images/rebalancing.py
"""

import json
import tempfile
from pathlib import Path

import numpy as np
from few_colours import save_styled
from matplotlib.figure import Figure
from report import photograph

from evener.rebalancing.decision_log import read_decisions
from evener.rebalancing.row_rebalancer import RowRebalancer
from evener.reporting.decisions import write_decisions

FOLDER = Path(__file__).parent
RESULTS = FOLDER.parents[1] / "benchmarks" / "results" / "rebalancing.jsonl"
SHOWN = ("regret", "never", "every 1000", "threshold 10 %, cool-down 200",
         "threshold 50 %, cool-down 200", "threshold 10 %", "saving x horizon")  # fmt: skip
WIDTH, HEIGHT = 1128, 970  # pixels: up to the end of the charts
COLOURS = {"cheap": "#66ccee", "middling": "#4477aa", "dear": "#22335c"}


def main():
    """Write both."""
    lines = [json.loads(line) for line in RESULTS.read_text().splitlines()]
    figure = Figure(figsize=(8.6, 4.4), layout="constrained")
    draw_rules(figure.subplots(), lines)
    save_styled(figure, "rebalancing.png")
    draw_run()


def draw_rules(axes, lines):
    """A point a drift, seed and price; a bar at the mean."""
    rng = np.random.default_rng(1)
    for row, rule in enumerate(reversed(SHOWN)):
        ratios = np.array([line["rules"][rule]["ratio"] for line in lines])
        for cost, colour in COLOURS.items():
            own = ratios[[line["cost"] == cost for line in lines]]
            height = row + rng.uniform(-0.25, 0.25, own.size)
            label = f"moving is {cost}" if row == 0 else None
            axes.scatter(own, height, s=14, color=colour, alpha=0.8, label=label)
        axes.plot([ratios.mean()] * 2, [row - 0.38, row + 0.38], color="#ee6677", lw=2.5)
    axes.set(xscale="log", xlabel="all seconds by those of the best in hindsight (bar: mean)")
    axes.set_yticks(range(len(SHOWN)), labels=[
        "regret (Evener)" if rule == "regret" else rule for rule in reversed(SHOWN)])  # fmt: skip
    axes.set_xticks([1, 1.35, 2, 5, 10, 20, 40], labels=["1", "1.35", "2", "5", "10", "20", "40"])
    axes.minorticks_off()
    axes.grid(axis="x", color="0.9")
    axes.set_axisbelow(True)
    axes.legend(fontsize=8, loc="upper right")


def draw_run():
    """The head of the page on a run of seven ranks: a spike, a step, a ramp."""
    rng = np.random.default_rng(3)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "decisions.jsonl"
        rows = RowRebalancer([1000] * 7, rebuild_seconds=5e-2, log=path)
        for i in range(400):
            slow = np.exp(rng.normal(0, 0.04, 7))
            slow[5] *= 2 if 40 <= i < 44 else 1
            slow[3] *= 2.2 if 90 <= i < 240 else 1
            slow[0] *= 1 + np.clip((i - 280) / 60, 0, 1)
            if rows.observe(rows.sizes * slow * 1e-5) is not None:
                rows.moved(5.2e-2)
        rows.close()
        page = path.with_suffix(".html")
        write_decisions(page, read_decisions(path))
        photograph(page, FOLDER / "rebalancing-report.png", WIDTH, HEIGHT)


if __name__ == "__main__":
    main()

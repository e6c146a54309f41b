"""Half-perimeters of tilings to the bound 2 sum(sqrt(area)), over random speeds.

    python benchmarks/tiling.py [--table] [-o FILE]

Speeds are uniform in (0, 1), log-normal (sigma 1), or powers of two from 1 to 16. For each kind and
number of devices many machines are divided: before anything is rounded (`columns`: BR, `cuts`:
guillotine, `grid`: KL) and in whole blocks of a matrix of 1,024 x 1,024. Each line is one kind and
number: mean, median, 95th percentile and worst ratio, and CPU milliseconds of one whole call.
`thesis` is figure 5.5 of [Cla14] in kind: 14 nodes of four sorts.
"""

import time
from pathlib import Path

import numpy as np
from records import answer, markdown, parser

import evener as ev
from evener.plans.tiling import half_perimeter_bound
from evener.sizing.tiling.cuts import (
    MAX_DEVICES,
    best_columns,
    columns_half_perimeter,
    good_cuts,
    grid_columns,
)

RESULTS = Path(__file__).parent / "results" / "tiling.jsonl"
INSTANCE_SEED = 2026
COUNTS = (2, 3, 5, 8, 12, 16, 24, 32, 50, 70, 101, 150, 200, 500, 1000)
KINDS = {
    "uniform": lambda rng, p: 1 - rng.random(p),
    "log-normal": lambda rng, p: rng.lognormal(0, 1, p),
    "powers of two": lambda rng, p: 2.0 ** rng.integers(0, 5, p),
}
SIDE = 1024  # blocks
THESIS = [6.0] * 3 + [5.0] * 4 + [3.0] * 3 + [2.0] * 4


def main():
    made = parser(__doc__, RESULTS)
    made.add_argument("--counts", type=int, nargs="*", default=COUNTS, help="of devices")
    made.when_small(counts=[3, 101])
    answer(made.parse_args(), lambda args: tiled(args.counts), table)


def tiled(counts):
    for kind, draw in KINDS.items():
        for p in counts:
            rng = np.random.default_rng([INSTANCE_SEED, p])
            runs = 200 if p <= 12 else 50 if p <= 101 else 20
            machines = [draw(rng, p) for _ in range(runs)]
            yield {"kind": kind, "p": p, "runs": runs} | measured(machines)
    yield {"kind": "thesis", "p": len(THESIS)} | thesis()


def measured(machines):
    ratios = {"columns": [], "cuts": [], "grid": []}
    for speeds in machines:
        bound = half_perimeter_bound(speeds / speeds.sum())
        for name, columns in (("columns", best_columns(speeds, (1, 1))),
                              ("grid", grid_columns(speeds.size))):  # fmt: skip
            ratios[name].append(columns_half_perimeter(speeds, columns, (1, 1)) / bound)
        if speeds.size <= MAX_DEVICES:
            value = good_cuts(speeds, (1, 1), np.arange(speeds.size))[1]
            ratios["cuts"].append(value / bound)
    found = {name: summary(values) for name, values in ratios.items() if values}
    if "cuts" in found:
        found["cuts_worse"] = sum(
            cut > column * (1 + 1e-9)
            for cut, column in zip(ratios["cuts"], ratios["columns"], strict=True)
        )
    start = time.process_time()
    whole = [ev.tile(speeds, (SIDE, SIDE), method="br") for speeds in machines[:20]]
    found["cpu_ms"] = round((time.process_time() - start) / len(whole) * 1e3, 3)
    found["whole"] = summary([tiled.ratio for tiled in whole])
    found["imbalance"] = summary([tiled.imbalance for tiled in whole])
    return found


def summary(values):
    quantiles = np.quantile(values, [0.5, 0.95, 1.0])
    return [round(float(value), 5) for value in (np.mean(values), *quantiles)]


def thesis():
    tiled = {name: ev.tile(THESIS, (840, 840), method=name) for name in ("kl", "br", "guillotine")}
    return {name: round(one.tiling.volume, 4) for name, one in tiled.items()}


def table(lines):
    """Mean and worst ratio by number of devices, over all kinds of speeds."""
    rows = [("devices", "columns, mean", "95 %", "worst", "cuts, mean", "worst", "grid, mean",
             "whole blocks", "largest area to target", "CPU ms")]  # fmt: skip
    for p in dict.fromkeys(line["p"] for line in lines if "runs" in line):
        own = [line for line in lines if line["p"] == p and "runs" in line]

        def cell(key, place, together, own=own):
            values = [line[key][place] for line in own if key in line]
            return f"{together(values):.4f}" if values else ""

        def mean(values):
            return sum(values) / len(values)

        row = [cell("columns", 0, mean), cell("columns", 2, max), cell("columns", 3, max)]
        row += [cell("cuts", 0, mean), cell("cuts", 3, max), cell("grid", 0, mean)]
        row += [cell("whole", 0, mean), f"{mean([line['imbalance'][0] for line in own]):+.2%}"]
        rows.append((f"{p:,}", *row, f"{mean([line['cpu_ms'] for line in own]):.1f}"))
    return markdown(rows)


if __name__ == "__main__":
    main()

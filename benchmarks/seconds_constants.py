"""What each constant of the search for least predicted seconds is worth: plans with other values.

    python benchmarks/seconds_constants.py [--seeds 7] [--only NAME,...]
    python benchmarks/seconds_constants.py --table      # what the result file says

The constants of evener.planning, one at a time, lower and higher than they are; plans with the
preset "default" of two meshes for machines of seconds.py, without METIS, whose plans depend on none
of them. Each value is one JSON line: `seconds`, the geometric mean over all plans of the predicted
seconds to those with the present constants, `best` and `worst` of these ratios, `cpu` that of
Evener's CPU time. "noise" is what other seeds change with the present constants: a smaller change
says nothing. The size of the coarse graph depends on its constants where the graph has some 50,000
vertices or more (--vertices).
"""

import importlib
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from records import answer, markdown, parser, words
from seconds_cases import machine

from evener.graphs.generating.delaunay import delaunay
from evener.graphs.generating.grid import grid
from evener.planning.makespan import baselines
from evener.planning.makespan.search import solve_seconds
from evener.planning.options import PlanOptions

RESULTS = Path(__file__).parent / "results" / "seconds_constants.jsonl"
# Module of evener.planning: its constants, each with the values that are tried.
TRIED = {
    "makespan.search": {
        "MIN_COARSE_RUNS": (2, 8),
        "DEVICES_OVER_RUNS": (128, 2048),
        "VERTICES_PER_RUN": (1 << 11, 1 << 15),
        "MAX_PROJECTED": (1, 4),
        "PROJECTED_WITHIN": (1.005, 1.08),
        "BASELINE_NEAR": (1.0, 1.2),
    },
    "makespan.coarse_search": {
        "VERTICES_PER_DEVICE": (30, 120),
        "MIN_VERTICES": (3000, 12_000),
        "MIN_SHRINKAGE": (4, 16),
        "MAX_CLUSTER": (1.25, 2.0),
        "STUCK": (0.9, 0.99),
        "PROBE_BLOCKS": (4, 16),
        "REFINED_VALUES": (0.7, 1.0),
        "EPSILON": (0.01, 0.1),
        "MIN_RETRY_GAIN": (0.001, 0.02),
        "MAX_IDLE_RETRIES": (1, 6),
        "EXPENSIVE": (1.5, 4.0),
        "SETS_BEFORE_PLAIN": (0, 4),
    },
    "makespan.improvements": {"MIN_GAIN": (0.001, 0.02)},
    "makespan.size_rounds": {
        "FIRST_STEP": (0.5, 1.0),
        "STEP_DECAY": (0.6, 1.0),
        "MIN_GAIN": (0.0005, 0.01),
    },
    "device_sets.estimate": {"ASTRAY": (0.2, 0.8)},
    "device_sets.exchange_laws": {"FURTHER_PER_THINNESS": (1.0, 4.0), "MAX_FURTHER": (1.0, 6.0)},
}
CELLS = (  # mesh, machine, kernel
    ("delaunay", "gpu4", "light"),
    ("cube", "topo1", "spmv"),
    ("cube", "mix22", "light"),
    ("delaunay", "topo1f", "spmm8"),
)


def main():
    answer(arguments(), measured, table)


def arguments():
    made = parser(__doc__, RESULTS)
    made.add_argument("--seeds", type=words, default=["7"])
    made.add_argument("--vertices", type=int, default=8_000, help="of each mesh, about")
    made.add_argument("--only", type=words, default=[], help="constants, of all")
    made.when_small(seeds=["7"], vertices=2_000, only=["MAX_PROJECTED"])
    return made.parse_args()


def measured(args):
    baselines.METIS_TOOLS = {}
    side = round(args.vertices ** (1 / 3))
    meshes = {"delaunay": delaunay(args.vertices, seed=1), "cube": grid([side] * 3)}
    cells = [
        (meshes[mesh], machine(name, meshes[mesh], kernel), int(seed))
        for mesh, name, kernel in CELLS
        for seed in args.seeds
    ]
    planned(cells[:1])  # loads kernels
    usual = planned(cells)
    other = [(graph, platform, seed + 100) for graph, platform, seed in cells]
    yield line("", "noise", "other seeds", planned(other), usual)
    for module, constants in TRIED.items():
        home = importlib.import_module(f"evener.planning.{module}")
        for name, values in constants.items():
            before = getattr(home, name)
            for value in values if not args.only or name in args.only else ():
                setattr(home, name, value)
                try:
                    found = planned(cells)
                finally:
                    setattr(home, name, before)
                yield line(module, name, value, found, usual) | {"present": before}


def planned(cells):
    """Predicted seconds, and CPU seconds, of the plan of every cell."""
    found = []
    for graph, platform, seed in cells:
        began = time.process_time()
        options = PlanOptions(objective="seconds", seed=seed, threads=1)
        seconds = solve_seconds(graph, platform, options).best.seconds
        found.append((seconds, time.process_time() - began))
    return np.array(found)


def line(module, name, value, found, usual):
    ratios = found / usual
    seconds, cpu = np.exp(np.log(ratios).mean(axis=0)).round(4).tolist()
    least, most = ratios[:, 0].min().round(3).item(), ratios[:, 0].max().round(3).item()
    made = {"module": module, "constant": name, "value": value}
    return made | {"seconds": seconds, "best": least, "worst": most, "cpu": cpu}


def table(lines):
    """A row a constant, with what a lower and what a higher value make of seconds and CPU time."""
    by_constant = defaultdict(list)
    for one in lines:
        by_constant[one["module"], one["constant"]].append(one)
    head = ["constant", "is", "tried: seconds (best to worst), CPU", ""]
    rows = []
    for (module, name), tried in by_constant.items():
        called = f"`{name}` of `{module}`" if module else name
        rows.append([called, tried[0].get("present", ""), *map(told, tried)])
    return markdown([head, *(row + [""] * (len(head) - len(row)) for row in rows)])


def told(one):
    span = f"{one['best']:.3f} to {one['worst']:.3f}"
    return f"{one['value']}: {one['seconds']:.3f} ({span}), {one['cpu']:.2f}"


if __name__ == "__main__":
    main()

"""What other values of the partitioners' constants set by hand would give.

    python benchmarks/constants.py [--constants initial.kmeans:SETTLED,...] [--seeds 3] [--table]

Each constant takes a few values, the present one among them, on generated graphs. A child process
sets it before any module takes it over, with a folder of its own for compiled code where it is a
kernel's, divides the graph once to compile, and once more to be timed. JSON lines: `constant`,
`value`, `present`, `graph`, `tool`, `seed`, `cut` and `cpu_s`.
"""

import argparse
import ast
import importlib
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np
from records import answer, geometric_mean, markdown, parser, words

RESULTS = Path(__file__).parent / "results" / "constants.jsonl"
HOME = "evener.partitioning."
K, FAST_BLOCKS, FAST_SPEED = 24, 4, 8.0  # blocks, of which some are larger by this factor
EPSILON, INSTANCE_SEED = 0.03, 5
VERTICES, SMALL_VERTICES = 150_000, 3_000
# Tool, and kind of graph, for the constants of a module.
CASES = {
    "refinement.fm": ("evener", "plane"),
    "refinement.fm_kernels": ("evener", "plane"),
    "label_propagation.cycles": ("evener", "power law"),
    "label_propagation.propagation": ("evener", "power law"),
    "label_propagation.move_kernels": ("evener", "power law"),
    "label_propagation.draining_kernels": ("evener", "power law"),
    "initial.bisection_levels_kernels": ("evener", "plane"),
    "initial.embedding": ("evener", "plane without coordinates"),
    "initial.geometric_kernels": ("rcb", "plane"),
    "initial.kmeans": ("kmeans", "plane"),
}
# The other values to try of each.
VALUES = {
    "refinement.fm:MOST_LOOKS": (8, 128),
    "refinement.fm:GROUPS": (2, 8),
    "refinement.fm_kernels:HUB": (64, 1024),
    "refinement.fm_kernels:MOST_IDLE": (5, 80),
    "refinement.fm_kernels:MOST_MOVES": (1 << 12, 1 << 18),
    "label_propagation.cycles:SWEEP_OVERLOAD": (1.05, 1.5),
    "label_propagation.cycles:BOLDNESS": (0.1, 0.5),
    "label_propagation.cycles:LOOKED_AT": (4.0, 64.0),
    "label_propagation.cycles:MOST_SLACK": (1, 1000),
    "label_propagation.cycles:STRIDES": (64, 1 << 20),
    "label_propagation.cycles:PATIENCE": (1, 6),
    "label_propagation.cycles:AFTER_LEAPS": (1, 4),
    "label_propagation.cycles:COARSEST": (500, 2000),
    "label_propagation.cycles:PER_BLOCK": (8, 30),
    "label_propagation.cycles:GROWTH": (3.0, 12.0),
    "label_propagation.cycles:CHOICES": (1, 4),
    "label_propagation.cycles:MANY_EDGES": (10, 100),
    "label_propagation.cycles:OVERWEIGHT": (3.0, 30.0),
    "label_propagation.propagation:CORE_ROUNDS": (2, 8),
    "label_propagation.propagation:PROMISING_CORE": (1.1, 1.5),
    "label_propagation.propagation:PROMISING_HALVES": (1.04, 1.2),
    "label_propagation.propagation:MOST_CUT": (0.2, 1.0),
    "label_propagation.propagation:FEW_NEIGHBOURS": (2.0, 5.0),
    "label_propagation.propagation:LAST": (1, 4),
    "label_propagation.propagation:BISECTED": (0.005, 0.05),
    "label_propagation.move_kernels:ENOUGH": (3.0, 20.0),
    "label_propagation.draining_kernels:LOOKS": (2, 8),
    "initial.bisection_levels_kernels:ENOUGH": (20, 80),
    "initial.bisection_levels_kernels:HEAVIEST": (1.2, 3.0),
    "initial.bisection_levels_kernels:ALONE": (0.05, 0.3),
    "initial.bisection_levels_kernels:MANY": (4, 64),
    "initial.bisection_levels_kernels:OFF_COST": (3, 30),
    "initial.embedding:LANDMARKS": (16, 64),
    "initial.embedding:WEAK": (0.4, 0.8),
    "initial.embedding:FLAT": (0.15, 0.6),
    "initial.embedding:TURNS": (8, 128),
    "initial.embedding:SMOOTHINGS": (1, 16),
    "initial.geometric_kernels:BINS": (256, 4096),
    "initial.geometric_kernels:SHORT": (512, 8192),
    "initial.geometric_kernels:ROUNDS": (2, 8),
    "initial.kmeans:FULL_ROUNDS": (1, 6),
    "initial.kmeans:FEWEST_ROUNDS": (5, 30),
    "initial.kmeans:SETTLED": (0.001, 0.016),
    "initial.kmeans:LARGEST_STEP": (0.05, 0.2),
    "initial.kmeans:SPARSEST": (16, 256),
    "initial.kmeans:PROGRESS": (0.8, 0.97),
    "initial.kmeans:LARGE_TARGET": (2.0, 6.0),
    "initial.kmeans:RIM_SAMPLE": (1 << 12, 1 << 16),
}


def main():
    made = argparse.ArgumentParser(add_help=False)
    made.add_argument("--child", nargs=4, metavar=("CONSTANT", "VALUE", "VERTICES", "SEED"))
    asked, _ = made.parse_known_args()
    if asked.child:
        print(json.dumps(child(*asked.child)))
    else:
        answer(arguments(), measured, table)


def arguments():
    made = parser(__doc__, RESULTS)
    made.add_argument("--constants", type=words, default=list(VALUES), help="MODULE:NAME,...")
    made.add_argument("--vertices", type=int, default=VERTICES)
    made.add_argument("--seeds", type=int, default=3)
    little = ["initial.kmeans:FULL_ROUNDS", "initial.geometric_kernels:BINS"]
    made.when_small(constants=little, vertices=SMALL_VERTICES, seeds=1)
    args = made.parse_args()
    if unknown := set(args.constants) - set(VALUES):
        made.error(f"no such constant: {', '.join(sorted(unknown))}")
    return args


def measured(args):
    for constant in args.constants:
        module, _, name = constant.partition(":")
        present = getattr(importlib.import_module(HOME + module), name)
        for value in (present, *VALUES[constant]):
            with tempfile.TemporaryDirectory() as cache:
                for seed in range(1, args.seeds + 1):
                    figures = in_child(constant, value, args.vertices, seed, cache)
                    line = {"constant": constant, "value": value, "present": value == present}
                    yield line | figures


def in_child(constant, value, vertices, seed, cache):
    """The figures of one value; `cache`: a folder for the code of kernels compiled with it."""
    command = [sys.executable, __file__, "--child", constant, repr(value), str(vertices), str(seed)]
    kernels = constant.partition(":")[0].endswith("_kernels")
    environment = os.environ | ({"NUMBA_CACHE_DIR": cache} if kernels else {})
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def child(constant, value, vertices, seed):
    """Set the constant, then import what uses it; divide the graph twice, and time the second."""
    module, _, name = constant.partition(":")
    setattr(importlib.import_module(HOME + module), name, ast.literal_eval(value))
    from evener.partitioning.registry import partition_with
    from evener.partitioning.requests import Request
    from evener.plans import metrics
    from evener.plans.partition import Partition

    tool, kind = CASES[module]
    graph = graph_of(kind, int(vertices))
    speed = np.ones(K)
    speed[:FAST_BLOCKS] = FAST_SPEED
    request = Request(graph.n * speed / speed.sum(), EPSILON, int(seed))
    for _ in range(2):
        result = partition_with(tool, graph, request)
    between = metrics.quotient(graph, Partition(result.part, K))
    figures = {"cut": int(metrics.edge_cut(between)), "cpu_s": round(result.cpu_seconds, 4)}
    return {"graph": kind, "n": graph.n, "tool": tool, "seed": int(seed)} | figures


def graph_of(kind, n):
    from evener.graphs.generating.delaunay import delaunay
    from evener.graphs.generating.random_graphs import barabasi_albert

    if kind == "power law":
        return barabasi_albert(n, INSTANCE_SEED)
    graph = delaunay(n, INSTANCE_SEED)
    return graph if kind == "plane" else graph.with_(coords=None)


def table(lines):
    """A row a value: cut and CPU over those of the present value, geometric means over seeds."""
    own = defaultdict(dict)
    for line in lines:
        own[line["constant"], line["value"]][line["seed"]] = line
    present = {line["constant"]: line["value"] for line in lines if line["present"]}
    rows = [("constant", "present", "value", "cut", "CPU")]
    for (constant, value), runs in own.items():
        base = own[constant, present[constant]]
        if value != present[constant]:
            ratios = [ratio(runs, base, key) for key in ("cut", "cpu_s")]
            rows.append((constant, present[constant], value, *ratios))
    return markdown(rows)


def ratio(runs, base, key):
    quotients = [max(runs[seed][key], 1e-4) / max(base[seed][key], 1e-4) for seed in runs]
    return f"{geometric_mean(quotients):.4f}"


if __name__ == "__main__":
    main()

"""Seconds that policies take to place vertices: PG with 10 million on 64 devices in 1.5 s.

    python benchmarks/policies.py [--vertices 10_000_000] [--scale 20]

PG (least load before placing, with a heap) on a grid of so many vertices, and every policy on an
R-MAT graph of 2^scale vertices; each the median of the runs. Eight machines of six CPUs and two
GPUs. Writes one JSON line a policy to results/policies.jsonl; ends with 1 where PG on the grid took
longer than `limit_s`.
"""

import statistics
import sys
import time
from pathlib import Path

import numpy as np
from records import markdown, parser, read, write

from evener.graphs.generating.grid import grid
from evener.graphs.generating.random_graphs import rmat
from evener.partitioning.policies.families import NAMES, policy_part
from evener.platforms.platform import Device, Level, Platform

RESULTS = Path(__file__).parent / "results" / "policies.jsonl"
LIMIT = 1.5  # s, of C-PG on the grid
SEED = 20_260
CPUS, GPUS, MACHINES = 6, 2, 8
GPU_SPEED = 20.0  # that of a CPU is 1


def machines():
    """The platform on which vertices are placed."""
    devices = [
        Device(f"m{i}.{kind}{j}", speed, kind=kind, at=f"m{i}")
        for i in range(MACHINES)
        for kind, speed, count in (("cpu", 1.0, CPUS), ("cuda", GPU_SPEED, GPUS))
        for j in range(count)
    ]
    return Platform(tuple(devices), (Level("cluster"), Level("machine")))


def measured(args):
    """Yield a line for each graph and policy."""
    platform = machines()
    small = grid((30, 30))
    for policy in NAMES:
        policy_part(small, platform, policy, seed=SEED)  # loads compiled code
    side = round(args.vertices**0.5)
    yield line("grid", grid((side, side)), platform, "C-PG", args.runs) | {"limit_s": LIMIT}
    graph = rmat(args.scale, SEED)
    for policy in NAMES:
        yield line(f"R-MAT {args.scale}", graph, platform, policy, args.runs)


def line(name, graph, platform, policy, runs):
    """Place the vertices so often; return the median of the seconds."""
    spent = []
    for _ in range(runs):
        begin = time.perf_counter()
        part = policy_part(graph, platform, policy, seed=SEED)
        spent.append(time.perf_counter() - begin)
    loads = np.bincount(part, np.diff(graph.xadj), platform.k)
    return {
        "graph": name, "n": graph.n, "m": graph.m, "policy": policy, "k": platform.k,
        "s": round(statistics.median(spent), 3), "empty": int((loads == 0).sum()),
    }  # fmt: skip


def table(lines):
    """A row a policy."""
    rows = [("graph", "vertices", "edges", "policy", "seconds", "asked")]
    for one in lines:
        asked = f"{one['limit_s']:.1f}" if "limit_s" in one else ""
        counts = [f"{one[key]:,}" for key in ("n", "m")]
        rows.append((one["graph"], *counts, one["policy"], f"{one['s']:.2f}", asked))
    return markdown(rows)


def main():
    made = parser(__doc__, RESULTS)
    made.add_argument("--vertices", type=int, default=10_000_000)
    made.add_argument("--scale", type=int, default=20)
    made.add_argument("--runs", type=int, default=3)
    made.when_small(vertices=10_000, scale=10, runs=1)
    args = made.parse_args()
    if not args.table:
        write(args.output, measured(args))
    lines = read(args.output)
    print(table(lines))
    sys.exit(int(any(one["s"] > one.get("limit_s", np.inf) for one in lines)))


if __name__ == "__main__":
    main()

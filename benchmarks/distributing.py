"""Seconds of ev.distribute: 20 million edges over 8 devices under 3 s on two cores.

    python benchmarks/distributing.py [--edges 20_000_000] [--devices 8]

Graphs: a triangulated grid in stripes of equal and of very unequal size, and over 1,000 devices; an
R-MAT graph in runs of equal arcs; the grid with vertices at random, where nearly all are ghosts of
nearly all others. Each by one thread and by two, the least of the runs, taken by turns. Writes
one JSON line an instance to results/distributing.jsonl; ends with 1 where two threads take longer
than `limit_s`.
"""

import sys
import time
from pathlib import Path

import numpy as np
from reading import triangulated_grid
from records import markdown, parser, read, write

from evener.graphs.generating.random_graphs import rmat
from evener.plans.partition import Partition
from evener.running.distributing import distribute, local_graph

RESULTS = Path(__file__).parent / "results" / "distributing.jsonl"
LIMIT = 3.0  # s, for devices of equal size
SEED = 20_260
UNEQUAL = 0.8  # share of the first device


def stripes(graph, shares):
    """Blocks of consecutive vertices with these shares of the arcs."""
    ends = np.cumsum(shares)[:-1] / np.sum(shares) * graph.xadj[-1]
    return Partition(np.searchsorted(ends, graph.xadj[:-1], "right"), len(shares))


def instances(edges, k):
    """Yield name, graph, partition and the limit [s], if there is one."""
    grid = triangulated_grid(edges)
    unequal = [UNEQUAL, *[(1 - UNEQUAL) / (k - 1)] * (k - 1)]
    scattered = np.random.default_rng(SEED).integers(0, k, grid.n)
    yield "grid", grid, stripes(grid, np.ones(k)), LIMIT
    yield "grid, unequal", grid, stripes(grid, unequal), LIMIT
    yield "grid, many devices", grid, stripes(grid, np.ones(min(1000, grid.n))), None
    yield "grid, at random", grid, Partition(scattered, k), None
    del grid
    graph = rmat(max(round(np.log2(edges / 16)), 4), SEED)
    yield "R-MAT", graph, stripes(graph, np.ones(k)), LIMIT


def seconds(work):
    """How long a call takes, and what it returns."""
    begin = time.perf_counter()
    made = work()
    return time.perf_counter() - begin, made


def measured(args):
    """Yield a line for each instance."""
    small = triangulated_grid(200)
    distribute(small, stripes(small, np.ones(3)), threads=2)  # loads compiled code
    for name, graph, partition, limit in instances(args.edges, args.devices):
        least = {1: np.inf, 2: np.inf}
        for _ in range(args.runs):
            for threads in (1, 2):
                spent, parts = seconds(
                    lambda t=threads, g=graph, p=partition: distribute(g, p, threads=t)
                )
                least[threads] = min(least[threads], spent)
        ghosts, held = sum(p.ghosts.size for p in parts), sum(p.nbytes for p in parts)
        del parts
        alone, _ = seconds(lambda g=graph, p=partition: local_graph(g, p, 0, threads=1))
        line = {
            "instance": name, "n": graph.n, "m": graph.m, "k": partition.k, "ghosts": ghosts,
            "s": {str(threads): round(spent, 3) for threads, spent in least.items()},
            "first_alone_s": round(alone, 3), "bytes": held,
        }  # fmt: skip
        yield line | ({"limit_s": limit} if limit else {})


def table(lines):
    """A row an instance."""
    rows = [("graph", "edges", "devices", "ghosts", "1 thread", "2 threads", "first alone")]
    for line in lines:
        spent = [f"{line['s'][t]:.2f} s" for t in ("1", "2")]
        counts = [f"{line[key]:,}" for key in ("m", "k", "ghosts")]
        rows.append((line["instance"], *counts, *spent, f"{line['first_alone_s']:.2f} s"))
    return markdown(rows)


def main():
    made = parser(__doc__, RESULTS)
    made.add_argument("--edges", type=int, default=20_000_000)
    made.add_argument("--devices", type=int, default=8)
    made.add_argument("--runs", type=int, default=3)
    made.when_small(edges=10_000, runs=1)
    args = made.parse_args()
    if not args.table:
        write(args.output, measured(args))
    lines = read(args.output)
    print(table(lines))
    sys.exit(int(any(line["s"]["2"] > line.get("limit_s", np.inf) for line in lines)))


if __name__ == "__main__":
    main()

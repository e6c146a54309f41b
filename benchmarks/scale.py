"""What size costs: target sizes of a million devices, all metrics of ten million edges, the memory
of checking fifty million edges, and `fits` after reading.

    python benchmarks/scale.py [--edges 50_000_000]

Writes one JSON line a measurement to results/scale.jsonl and prints their table. CPU seconds are
medians of three runs, the first, which loads compiled code, left out. Memory is the peak of a
process of its own beside the arrays that the graph keeps.
"""

import statistics
import time
from pathlib import Path

import numpy as np
from records import Arguments, alone, markdown, write

from evener.graphs.generating.grid import grid
from evener.graphs.graph import Graph
from evener.partitioning.initial.geometric import rcb_blocks
from evener.planning.evaluate import evaluate
from evener.planning.plan_file import peak_bytes
from evener.plans.partition import Partition
from evener.platforms.examples import topo1
from evener.sizing.contracts import contract_for
from evener.sizing.memory_capped import target_sizes

RESULTS = Path(__file__).parent / "results" / "scale.jsonl"
RUNS = 3


def main():
    made = Arguments(__doc__, RESULTS)
    made.add_argument("--edges", type=int, default=50_000_000, help="of the graph checked")
    made.add_argument("--devices", type=int, default=1_000_000, help="whose sizes are computed")
    made.add_argument("--side", type=int, default=2237, help="of the grid that is evaluated")
    made.when_small(edges=50_000, devices=1000, side=100)
    args = made.parse_args()
    metrics = metrics_of_a_grid(args.side)
    lines = [sizes_of_many(args.devices), *metrics, memory_of_checking(args.edges)]
    print(table(write(args.output, lines)))


def cpu_seconds(call):
    call()
    taken = []
    for _ in range(RUNS):
        start = time.process_time()
        call()
        taken.append(time.process_time() - start)
    return round(statistics.median(taken), 3)


def sizes_of_many(k):
    rng = np.random.default_rng(1)
    n = 10_000 * k
    speeds = rng.uniform(1, 100, k)
    memory = rng.uniform(0.5, 20, k) * n / k
    seconds = cpu_seconds(lambda: target_sizes(speeds, n, memory_units=memory))
    return {"what": "target_sizes, devices as arrays", "devices": k, "cpu_s": seconds}


def metrics_of_a_grid(side):
    graph, k = grid((side, side)), 96
    platform = topo1(k, 8, 16.0)
    contract, _ = contract_for(graph, platform)
    part = rcb_blocks(graph.coords, np.ones(graph.n), contract.targets)
    partition = Partition(part, k)
    seconds = cpu_seconds(lambda: evaluate(graph, partition, platform, contract))
    yield {"what": "all metrics", "edges": graph.m, "k": k, "cpu_s": seconds}
    seconds = cpu_seconds(lambda: contract_for(graph, platform))
    yield {"what": "fits, after reading", "edges": graph.m, "k": k, "cpu_s": seconds}


def memory_of_checking(edges):
    arrays, beside, seconds = alone(_check, edges)
    return {"what": "Graph, memory beside its arrays", "edges": edges, "arrays_MB": arrays,
            "beside_MB": beside, "cpu_s": seconds}  # fmt: skip


def _check(edges):
    """A ring in which each vertex sees its five successors, a graph that needs no sorting."""
    reach = 5
    n = edges // reach
    small = Graph(*_ring(100, reach))  # loads compiled code
    xadj, adjncy = _ring(n, reach)
    before = peak_bytes()
    start = time.process_time()
    graph = Graph(xadj, adjncy)
    seconds = time.process_time() - start
    assert graph.m == edges
    assert small.m == 100 * reach
    beside = round((peak_bytes() - before) / 2**20)
    return round((xadj.nbytes + adjncy.nbytes) / 1e6), beside, round(seconds, 3)


def _ring(n, reach):
    xadj = np.arange(n + 1, dtype=np.int64) * (2 * reach)
    steps = np.r_[-reach:0, 1 : reach + 1].astype(np.int32)
    adjncy = np.empty((n, 2 * reach), np.int32)
    for start in range(0, n, 1 << 20):  # in pieces, so that making it is not the peak
        rows = np.arange(start, min(start + (1 << 20), n), dtype=np.int32)
        adjncy[rows] = np.sort((rows[:, None] + steps) % n, axis=1)
    return xadj, adjncy.ravel()


def table(lines):
    """A row a measurement."""
    rows = [("what", "size", "CPU s")]
    for line in lines:
        sizes = [(key, f"{value:,}") for key, value in line.items() if key not in ("what", "cpu_s")]
        size = ", ".join(
            f"{key[:-3]} {value} MB" if key.endswith("_MB") else f"{value} {key}"
            for key, value in sizes
            if key != "k"
        )
        rows.append((line["what"], size, f"{line['cpu_s']:.2f}"))
    return markdown(rows)


if __name__ == "__main__":
    main()

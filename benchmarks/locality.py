"""What a better order of vertices saves: products y = A x, conjugate gradients, cache misses.

    python benchmarks/locality.py [--graphs shuffled-delaunay20,rmat20] [--blocks delaunay18]

delaunayN: a Delaunay mesh of 2^N vertices along the Hilbert curve; rmatN: an R-MAT graph of 2^N
vertices and 16 edges each; cubeN: a grid of N^3 vertices; shuffled-...: its vertices numbered at
random, by a fixed seed. Weights are random float64. `plain` is the product of application spmv in
the order given, one thread; `ordered` the same after locality_order; `asked` whether is_bad_order
finds the given order bad. They take turns; CPU seconds are medians. search: CPU seconds for looking
at the order, making another and bringing the arcs into it; break_even: products after which they
have paid for themselves. misses: lines of 64 bytes that a product fetches, of x and of all else, in
a cache of 1 MiB and 16 ways (papers.spac.memory). For graphs of --blocks also
`blocked`: the product by blocks of entries that split-and-connect (`fast`) makes, as few as stage
half a cache at most, and what making them took. Writes a JSON line a graph to
results/locality.jsonl.
"""

import time
from functools import partial
from pathlib import Path

import numpy as np
from records import answer, markdown, parser, words
from scipy.sparse import csr_array
from spmv import symmetric

from evener.graphs.edge_list import EdgeList
from evener.graphs.generating.delaunay import delaunay
from evener.graphs.generating.grid import grid
from evener.graphs.generating.random_graphs import rmat
from evener.graphs.graph import Graph
from evener.planning.split import SplitOptions, split
from evener.plans.edge_partition import EdgePartition
from evener.plans.partition import Partition
from evener.running.apps import rows_kernels
from evener.running.apps.rows import NONE, MatrixRows, cut, within_rows
from evener.running.distributing import local_graph
from evener.running.locality.ordering import is_bad_order, lines_read, locality_order, renumbered
from evener.running.locality.staging import BlockProduct, StagedBlocks, fewest_blocks
from papers.spac.memory import Cache

RESULTS = Path(__file__).parent / "results" / "locality.jsonl"
SEED = 2026
HALF_A_CACHE = 1 << 19  # bytes, of 1 MiB
GRAPHS = ["delaunay18", "delaunay20", "cube100", "shuffled-delaunay18", "shuffled-delaunay20",
          "shuffled-cube100", "shuffled-rmat16", "rmat18", "rmat20", "shuffled-rmat18",
          "shuffled-rmat20"]  # fmt: skip


def main():
    made = parser(__doc__, RESULTS)
    made.add_argument("--graphs", type=words, default=GRAPHS)
    made.add_argument("--blocks", type=words, default=["shuffled-delaunay18", "shuffled-rmat16"])
    made.add_argument("--rounds", type=int, default=15)
    made.when_small(graphs=["shuffled-delaunay10", "rmat8"], blocks=["rmat8"], rounds=2)
    answer(made.parse_args(), measured, table)


def measured(args):
    for name in args.graphs:
        yield {"graph": name, **compared(part_of(name), args.rounds, name in args.blocks)}


def graph_of(name):
    kind = name.rstrip("0123456789")
    size = int(name.removeprefix(kind))
    if kind == "delaunay":
        return delaunay(1 << size, seed=SEED)
    return grid((size,) * 3) if kind == "cube" else rmat(size, SEED)


def shuffled(graph):
    numbers = np.random.default_rng(SEED).permutation(graph.n)
    tails = np.repeat(np.arange(graph.n), np.diff(graph.xadj))
    return Graph.from_edges(graph.n, numbers[tails], numbers[graph.adjncy])


def part_of(name):
    """Return the part of a device that has the whole graph."""
    base = name.removeprefix("shuffled-")
    graph = graph_of(base)
    graph = graph if base == name else shuffled(graph)
    weights = np.random.default_rng(SEED).random(graph.adjncy.size)
    graph = graph.with_(adjwgt=symmetric(graph, weights))
    return local_graph(graph, Partition(np.zeros(graph.n, np.int32), 1), 0, want="out")


def product(part, x):
    """Return what multiplies by one thread, as application spmv does, and where y is."""
    rows = MatrixRows.of(part.out)
    cuts = cut(rows)
    y, tickets = np.empty(part.n_owned), np.zeros(1, np.int64)
    carried, within = np.zeros(cuts.first_rows.size - 1), within_rows(rows, cuts)

    def multiply():
        tickets[0] = 0
        rows_kernels.multiply(0, 1, tickets, cuts, rows, NONE, x, y, carried)
        np.add.at(y, cuts.first_rows[within], carried[within])
        return y

    return multiply


def blocked(part):
    """Return blocks of a matrix's entries, and the CPU seconds that making them took."""
    offsets, ends, weights = part.out
    n = part.n_owned
    edges = EdgeList.of_matrix(csr_array((weights, ends.astype(int), offsets.astype(int)), (n, n)))
    few = EdgeList(8, np.arange(4), np.arange(4, 8))
    split(few, 2, SplitOptions("spac", "fast"))  # kernels are brought from files
    began = time.process_time()

    def make(k):
        partition = EdgePartition.of(np.zeros(edges.m, int), 1)
        if k > 1:
            partition = split(edges, k, SplitOptions("spac", "fast")).partition
        return StagedBlocks.of_matrix(edges, partition, n)

    blocks = fewest_blocks(make, -(-8 * 2 * n // HALF_A_CACHE), HALF_A_CACHE, 8, 8)
    return blocks, time.process_time() - began


def compared(part, rounds, with_blocks):
    x = np.random.default_rng(1).random(part.n_owned)
    order = locality_order(part)
    renumbered(part, order)  # compiled now
    began = time.thread_time()
    is_bad = is_bad_order(part)
    looked = time.thread_time() - began
    other = renumbered(part, locality_order(part))
    search = time.thread_time() - began
    calls = {"plain": product(part, x), "ordered": product(other, x[order])}
    assert np.allclose(calls["plain"]()[order], calls["ordered"](), rtol=1e-10)
    misses = {"plain": Cache().misses_of_product(part), "ordered": Cache().misses_of_product(other)}
    more = {}
    if with_blocks:
        blocks, making = blocked(part)
        calls["blocked"] = partial(BlockProduct(blocks, part.out.weights), x)
        assert np.allclose(calls["plain"](), calls["blocked"](), rtol=1e-10)
        misses["blocked"] = Cache().misses_of_blocks(blocks)
        more = {"blocks": blocks.k, "loads": blocks.loads, "making_ms": round(1e3 * making, 1)}
    seconds = taking_turns(calls, rounds)
    saved = seconds["plain"] - seconds["ordered"]
    for name, found in misses.items():
        more |= {f"{name}_misses_x": found.x, f"{name}_misses": found.x + found.other}
    return {
        "rows": part.n_owned, "entries": int(part.out.ends.size), "asked": is_bad,
        **{f"{name}_ms": round(1e3 * found, 3) for name, found in seconds.items()},
        "speedup": round(seconds["plain"] / seconds["ordered"], 3),
        "lines": round(lines_read(part), 3), "ordered_lines": round(lines_read(other), 3),
        "looking_ms": round(1e3 * looked, 2), "search_ms": round(1e3 * search, 1),
        "break_even": round(search / saved, 1) if saved > 0 else None,
        **more,
    }  # fmt: skip


def taking_turns(calls, rounds):
    """Return the median CPU seconds of each call, by name."""
    seconds = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            began = time.thread_time()
            call()
            seconds[name].append(time.thread_time() - began)
    return {name: float(np.median(found)) for name, found in seconds.items()}


def table(lines):
    head = ["graph", "plain (ms)", "ordered (ms)", "plain / ordered", "bad order?",
            "lines per arc", "then", "misses", "then", "search (ms)",
            "break-even (products)"]  # fmt: skip
    rows = [
        [line["graph"], line["plain_ms"], line["ordered_ms"], line["speedup"],
         "yes" if line["asked"] else "no", line["lines"], line["ordered_lines"],
         line["plain_misses"], line["ordered_misses"], line["search_ms"], line["break_even"]]
        for line in lines
    ]  # fmt: skip
    blocks = [
        "graph",
        "blocks",
        "loads",
        "blocked (ms)",
        "plain / blocked",
        "misses",
        "making (ms)",
    ]
    blocked_rows = [
        [line["graph"], line["blocks"], line["loads"], line["blocked_ms"],
         round(line["plain_ms"] / line["blocked_ms"], 3), line["blocked_misses"], line["making_ms"]]
        for line in lines if "blocks" in line
    ]  # fmt: skip
    return markdown([head, *rows]) + "\n\n" + markdown([blocks, *blocked_rows])


if __name__ == "__main__":
    main()

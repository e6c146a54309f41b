"""What a better order of vertices saves: products y = A x, conjugate gradients, cache misses.

    python benchmarks/locality.py [--graphs shuffled-delaunay20,rmat20] [--rounds 15]

delaunayN: a Delaunay mesh of 2^N vertices along the Hilbert curve; rmatN: an R-MAT graph of 2^N
vertices and 16 edges each; cubeN: a grid of N^3 vertices; shuffled-...: its vertices numbered at
random, by a fixed seed. Weights are random float64. `plain` is the product of application spmv in
the order given, one thread; `ordered` the same after locality_order; `asked` whether is_bad_order
finds the given order bad. They take turns; CPU seconds are medians. search: CPU seconds for looking
at the order, making another and bringing the arcs into it; break_even: products after which they
have paid for themselves. Writes a JSON line a graph to results/locality.jsonl.
"""

import time
from pathlib import Path

import numpy as np
from records import answer, markdown, parser, words
from spmv import symmetric

from evener.graphs.generating.delaunay import delaunay
from evener.graphs.generating.grid import grid
from evener.graphs.generating.random_graphs import rmat
from evener.graphs.graph import Graph
from evener.plans.partition import Partition
from evener.running.apps import rows_kernels
from evener.running.apps.rows import NONE, MatrixRows, cut, within_rows
from evener.running.distributing import local_graph
from evener.running.locality.ordering import is_bad_order, lines_read, locality_order, renumbered

RESULTS = Path(__file__).parent / "results" / "locality.jsonl"
SEED = 2026
GRAPHS = ["delaunay18", "delaunay20", "cube100", "shuffled-delaunay18", "shuffled-delaunay20",
          "shuffled-cube100", "rmat18", "rmat20", "shuffled-rmat18", "shuffled-rmat20"]  # fmt: skip


def main():
    made = parser(__doc__, RESULTS)
    made.add_argument("--graphs", type=words, default=GRAPHS)
    made.add_argument("--rounds", type=int, default=15)
    made.when_small(graphs=["shuffled-delaunay10", "rmat8"], rounds=2)
    answer(made.parse_args(), measured, table)


def measured(args):
    for name in args.graphs:
        yield {"graph": name, **compared(part_of(name), args.rounds)}


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


def compared(part, rounds):
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
    seconds = taking_turns(calls, rounds)
    saved = seconds["plain"] - seconds["ordered"]
    return {
        "rows": part.n_owned, "entries": int(part.out.ends.size), "asked": is_bad,
        **{f"{name}_ms": round(1e3 * found, 3) for name, found in seconds.items()},
        "speedup": round(seconds["plain"] / seconds["ordered"], 3),
        "lines": round(lines_read(part), 3), "ordered_lines": round(lines_read(other), 3),
        "looking_ms": round(1e3 * looked, 2), "search_ms": round(1e3 * search, 1),
        "break_even": round(search / saved, 1) if saved > 0 else None,
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
            "lines per arc", "then", "search (ms)", "break-even (products)"]  # fmt: skip
    rows = [
        [line["graph"], line["plain_ms"], line["ordered_ms"], line["speedup"],
         "yes" if line["asked"] else "no", line["lines"], line["ordered_lines"],
         line["search_ms"], line["break_even"]]
        for line in lines
    ]  # fmt: skip
    return markdown([head, *rows])


if __name__ == "__main__":
    main()

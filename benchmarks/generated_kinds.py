"""How like the graphs of adaptive simulations the generated ones are.

    EVENER_DATA=FOLDER python benchmarks/generated_kinds.py

trace-00008 and bubbles-00010, small graphs of the series to which hugetrace and hugebubbles belong,
beside `trace-dual` and `bubbles-dual` of the same size: edges a vertex, spread of the distances to
the nearest vertex, and cuts of some tools over that of k-means, 32 equal blocks, one seed.
"""

import os
from pathlib import Path

import numpy as np
from records import answer, markdown, parser
from scipy.spatial import cKDTree

from evener import io
from evener.graphs.generating.adaptive import bubbles_dual, trace_dual
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from evener.plans import metrics
from evener.plans.partition import Partition

RESULTS = Path(__file__).parent / "results" / "generated_kinds.jsonl"
KINDS = {"trace-00008": trace_dual, "bubbles-00010": bubbles_dual}
TOOLS = ("georef", "metis", "rcb")
BLOCKS, SEED = 32, 20_260


def described(name, graph):
    """Return the line of a graph."""
    apart = cKDTree(graph.coords).query(graph.coords, k=2)[0][:, 1]
    finest, coarsest = np.quantile(apart, [0.05, 0.95])
    cuts = {}
    for tool in ("kmeans", *TOOLS):
        part = partition_with(tool, graph, Request(np.ones(BLOCKS), seed=SEED)).part
        cuts[tool] = metrics.edge_cut(metrics.quotient(graph, Partition(part, BLOCKS)))
    return {
        "graph": name, "n": graph.n, "m": graph.m, "spread": float(coarsest / finest),
        "cut": cuts["kmeans"], **{tool: cuts[tool] / cuts["kmeans"] for tool in TOOLS},
    }  # fmt: skip


def measured(_):
    """Describe each graph and one generated of its size."""
    for name, make in KINDS.items():
        graph = io.read(Path(os.environ["EVENER_DATA"]) / "graphs" / f"{name}.graph.zst").graph
        yield described(name, graph)
        yield described(f"{make.__name__.replace('_', '-')}", make(graph.n // 2, SEED))


def table(lines):
    """A row a graph."""
    head = (
        "graph",
        "vertices",
        "edges a vertex",
        "spacings, 95 over 5 %",
        "cut of k-means",
        *TOOLS,
    )
    rows = [
        (x["graph"], f"{x['n']:,}", f"{x['m'] / x['n']:.2f}", f"{x['spread']:.1f}",
         f"{x['cut']:,.0f}", *(f"{x[tool]:.2f}" for tool in TOOLS))
        for x in lines
    ]  # fmt: skip
    return markdown([head, *rows])


if __name__ == "__main__":
    answer(parser(__doc__, RESULTS).parse_args(), measured, table)

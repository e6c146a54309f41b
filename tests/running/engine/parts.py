"""Parts of graphs for the engine, and random graphs to run on."""

import numpy as np

from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.plans.partition import Partition
from evener.running.distributing import distribute
from evener.running.engine import VertexProgram

# A file with a program; tests that run it share its machine code, which takes seconds to make.
LARGEST_FILE = """
def init(vertex):
    return vertex


def apply(old, combined):
    return max(old, combined)


combine = "max"
dtype = "int64"
"""

# Programs of two schedules: on a line, vertex v gets 101 v if `apply` is called once for each arc.
ADDING = [
    VertexProgram(
        init=lambda vertex, infinity: 0.0 if vertex == 0 else infinity,
        along=lambda payload: payload + 1,
        apply=lambda old, combined: min(old, combined + 100),
        combine="min", dtype="float64", name=name, **more,
    )
    for name, more in [("frontier", {}), ("bucket", {"priority": lambda value: value // 500})]
]  # fmt: skip


def whole(graph):
    """Return the part of a device that owns every vertex."""
    return parts(graph, np.zeros(graph.n, np.int32), 1)[0]


def parts(graph, blocks, k):
    """Return the parts of k devices."""
    return distribute(graph, Partition(blocks, k), want="both", threads=1)


def random_graph(n, arcs, seed=0, directed=False, weights=None):
    """Return a random graph; weights: the largest integer weight of an arc."""
    draw = np.random.default_rng(seed)
    ends = draw.integers(0, max(n, 1), (2, arcs if n > 1 else 0))
    weighing = None if weights is None else draw.integers(1, weights + 1, ends.shape[1])
    if directed:
        return DirectedGraph.from_arcs(n, *ends, weights=weighing)
    return Graph.from_edges(n, *ends, weights=weighing)


def line(n):
    """Return a line of n vertices, from 0 to n - 1."""
    return Graph.from_edges(n, np.arange(n - 1), np.arange(1, n))


def loop(n, **more):
    """Return a cycle of n vertices; for n = 1 a vertex alone, for n = 2 an edge."""
    return Graph.from_edges(n, np.arange(n), (np.arange(n) + 1) % n, **more)

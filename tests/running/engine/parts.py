"""Parts of graphs for the engine, and random graphs to run on."""

import numpy as np

from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.plans.partition import Partition
from evener.running.distributing import distribute

# A file with a program; tests that run it share its machine code, which takes seconds to make.
LARGEST_FILE = """
def init(vertex):
    return vertex


def apply(old, combined):
    return max(old, combined)


combine = "max"
dtype = "int64"
"""


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


def loop(n, **more):
    """Return a cycle of n vertices; for n = 1 a vertex alone, for n = 2 an edge."""
    return Graph.from_edges(n, np.arange(n), (np.arange(n) + 1) % n, **more)

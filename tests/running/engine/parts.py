"""Parts of graphs for the engine: one device holds all; and random graphs to run on."""

from types import SimpleNamespace

import numpy as np

from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph


def whole(graph):
    """Return the part of a device that owns every vertex."""
    out = local_arcs(graph.arcs_out())
    into = out if isinstance(graph, Graph) else local_arcs(graph.arcs_in())
    n = graph.n
    return SimpleNamespace(
        n_global=n, n_owned=n, n_local=n, n_interior=n, owned=np.arange(n),
        ghosts=np.empty(0, np.int64), out=out, into=into,
        degrees=np.diff(graph.arcs_out().xadj).astype(np.uint32),
    )  # fmt: skip


def local_arcs(arcs):
    ends = arcs.adjncy.astype(np.uint32)
    return SimpleNamespace(offsets=arcs.xadj.astype(np.uint32), ends=ends, weights=arcs.adjwgt)


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

"""The graph of clusters, told to all ranks in as few bytes as it needs: every edge once."""

from __future__ import annotations

from typing import Any

import numpy as np

from evener.graphs.graph import Graph
from evener.running.comm import Comm
from evener.sliced.contraction import UpperEdges, lists_of
from evener.sliced.narrow import narrow


def told_graph(comm: Comm, graph: Graph | None) -> Graph:
    """Return the graph that process 0 has, at others without its coordinates. All call.

    Its lists are ascending, and without loops.
    """
    told = comm.bcast(None if graph is None or comm.size == 1 else _parts(graph))
    if graph is not None:
        return graph
    assert told is not None
    counts, higher, weights, vwgt, types = told
    starts = np.zeros(counts.size + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    edges = UpperEdges(0, starts, higher, weights.astype(types[1]))
    del told, counts, higher, weights, starts
    listed = [edges]
    del edges
    n = vwgt.size
    xadj, adjncy, adjwgt = lists_of(listed, n)
    return Graph.trusted(xadj, adjncy, vwgt.astype(types[0]), adjwgt)


def _parts(graph: Graph) -> tuple[Any, ...]:
    """Return how many higher neighbours each vertex has, these, their weights, and the rest."""
    vwgt, adjwgt = graph.weights(), graph.edge_weights()
    types = vwgt.dtype.str, adjwgt.dtype.str
    own = np.repeat(np.arange(graph.n, dtype=np.int32), graph.degrees)
    is_upper = graph.adjncy > own
    counts = np.bincount(own[is_upper], minlength=graph.n)
    del own
    return narrow(counts), graph.adjncy[is_upper], narrow(adjwgt[is_upper]), narrow(vwgt), types

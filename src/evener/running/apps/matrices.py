"""The matrix of a graph, with which SciPy verifies programs."""

from __future__ import annotations

from typing import Any

import numpy as np

from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph


def matrix_of(
    graph: Graph | DirectedGraph, *, weighted: bool, dtype: type[np.generic] = np.float64
) -> Any:
    """Return a csr_array (n, n) with an entry for each arc u v in row u and column v.

    Entries are weights if `weighted` and the graph has any, else 1.
    """
    from scipy.sparse import csr_array

    xadj, adjncy, weights = graph.arcs_out()
    n = xadj.size - 1
    entries = np.ones(adjncy.size) if weights is None or not weighted else weights
    return csr_array((entries.astype(dtype), adjncy, xadj), shape=(n, n))

"""Barabási-Albert graphs: power laws from preferential attachment [BA99]_."""

from __future__ import annotations

import numpy as np

from evener.generating.checking import at_least, between, check_memory, random_source
from evener.graphs import Graph

BYTES_AN_EDGE = 40  # at the peak: measured


def barabasi_albert(n: int, seed: int, degree: int = 8) -> Graph:
    """Return a graph of n vertices and degree * (n - degree) edges; 1 <= degree < n.

    Each vertex from `degree` on joins that many different earlier ones, drawn with a probability
    in proportion to how many neighbours they have.
    """
    from evener.generating import barabasi_albert_kernels as kernels

    at_least(n, 2, "n")
    between(degree, 1, n - 1, "degree")
    check_memory(degree * (n - degree), BYTES_AN_EDGE, "edges")
    ends = np.empty(2 * degree * (n - degree), np.int32)
    start = random_source(seed).integers(2**63, dtype=np.uint64)
    kernels.attach(n, degree, start, np.zeros(n, np.int32), ends)
    return Graph.from_edges(n, ends[0::2], ends[1::2])

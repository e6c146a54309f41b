"""Whether a graph is made of clusters, as its hierarchy tells: those are no meshes.

In a mesh of d dimensions, groups of s vertices have borders that fall as s^(-1/d): wherever the
graph is shrunk, the weight of the edges left falls with a power of 1/3 to 1/2 of the number of
vertices left. Inside a random cluster it hardly falls; once groups are whole clusters, steeply.
Our multilevel FM then places blocks across clusters, and label propagation cuts less.
"""

from __future__ import annotations

import numpy as np

from evener.partitioning.hierarchies import Hierarchy
from evener.partitioning.levels import Level

# Powers seen: meshes in 2-D and 3-D 0.28 to 0.6 in the first two steps, and up to 0.9 later;
# random clusters 0.12 to 0.25 first; cliques and clusters of tens of vertices above 1 later.
SLOW, STEEP = 0.27, 1.0
FIRST = 2  # steps of shrinking that are looked at for a slow fall


def has_clusters(hierarchy: Hierarchy) -> bool:
    """Return whether edges left fall otherwise than in a mesh where the graph was shrunk."""
    levels = [level for level, _ in hierarchy.above] + [hierarchy.coarsest]
    if len(levels) <= FIRST:
        return False
    sizes = np.log([level.n for level in levels])
    weights = [_weight(level) for level in levels]
    if weights[0] == 0:
        return False
    left = np.log(np.maximum(weights, np.finfo(np.float64).tiny))
    slow = left[0] - left[FIRST] < SLOW * (sizes[0] - sizes[FIRST])
    steep = np.diff(left)[1:] < STEEP * np.diff(sizes)[1:]
    return bool(slow or steep.any())


def _weight(level: Level) -> float:
    """Return the weight of all edges, counted from both ends."""
    return float(level.adjwgt.sum() if level.adjwgt.size else level.adjncy.size)

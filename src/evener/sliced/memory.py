"""The memory that a graph in slices takes while it is divided, and groups of blocks for less.

Constants are measured peaks of resident memory (VmHWM) on meshes of 4 to 33 million vertices, of 6
neighbours each, rounded up.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from evener.errors import InfeasibleError
from evener.sliced.rows import N_SLICES
from evener.wording import memory as memory_text

IMPORTS = 160e6  # bytes: Python, libraries and kernels, before any graph
A_VERTEX = 5.0  # bytes: its cluster, later its block
CERTIFIED = 4.3  # bytes a vertex more, where connected pieces are counted
A_SLICE_ARC = 28.0  # bytes an adjacency entry of the slice that is shrunk
SMALL_CLUSTER = 230.0  # bytes a cluster of the small graph while it is divided
KEPT_CLUSTER = 130.0  # bytes a cluster afterwards
SINGLE = 12.5  # bytes a single vertex: its number, its block, its place in its group
ROW, ROW_ARC = 12.5, 4.2  # bytes of its row, and of each adjacency entry
IN_GROUP = 340.0  # bytes a vertex of the graph of a group while it is refined
LARGEST_GROUP = 1.4  # times the mean
OF_HEAVIEST = 0.75  # of the vertices that a cluster may have: the mean, at least
FOR_CLUSTERS = 0.6  # share of the memory left by vertices: borders need theirs later
MOST_IN_CLUSTER = 256.0  # vertices of a cluster at most, where memory is short
LEAST_SINGLE = 0.02  # share of all vertices that are near borders, at least
LABELS = 17.0  # bytes a vertex of the graph, where clusters are made by labels
WHOLE_ARC = 100.0  # bytes an entry of a graph of uneven degrees that one process divides
MOST_WHOLE, MOST_SMALL = 1 << 21, 1 << 23  # entries of such a graph, and of a graph of clusters
MOST_GROUPS = 16  # times the least number, before rows are read for each group anew


class BorderMemory(NamedTuple):
    """How borders are refined within a memory: groups of blocks, and whether all rows are kept."""

    groups: int
    keep: bool


def least_bytes(n: int, arcs: int) -> float:
    """Return about how much memory a process needs at least for a graph of n vertices [B]."""
    slices = A_SLICE_ARC * arcs / N_SLICES
    clusters = n / (OF_HEAVIEST * MOST_IN_CLUSTER)
    singles = LEAST_SINGLE * n
    later = KEPT_CLUSTER * clusters + SINGLE * singles + IN_GROUP * singles / MOST_GROUPS
    peak = max(slices, SMALL_CLUSTER * clusters, later, CERTIFIED * n + slices / 2)
    return IMPORTS + A_VERTEX * n + peak


def vertices_in_cluster(memory: float, n: int, wished: float) -> float:
    """Return how many vertices a cluster may have, `wished` or more, within `memory` [B]."""
    free = max(memory - IMPORTS - A_VERTEX * n, 1.0)
    least = SMALL_CLUSTER * n / (OF_HEAVIEST * FOR_CLUSTERS * free)
    return min(max(wished, least), max(wished, MOST_IN_CLUSTER))


def most_whole(memory: float, n: int) -> float:
    """Return how many entries a graph of n vertices and uneven degrees may have that one process
    divides as a whole, within `memory` [B].
    """
    return min(MOST_WHOLE, (memory - IMPORTS - A_VERTEX * n) / WHOLE_ARC)


def most_small(memory: float, n: int) -> float:
    """Return how many entries a graph of clusters made by labels may have within `memory` [B]."""
    return min(MOST_SMALL, (memory - IMPORTS - LABELS * n) / WHOLE_ARC)


def border_memory(
    memory: float, n: int, clusters: int, singles: int, arcs: int, k: int, least: int
) -> BorderMemory:
    """Return how many groups of blocks, `least` or more, keep a process within `memory` [B].

    singles: vertices near borders; arcs: of the graph; k: blocks. Raises InfeasibleError with the
    least memory that would do.
    """
    most = max(k // 2, 1)
    rows = ROW + ROW_ARC * arcs / max(n, 1)
    free = memory - (IMPORTS + A_VERTEX * n + KEPT_CLUSTER * clusters + SINGLE * singles)
    graphs = IN_GROUP * LARGEST_GROUP * (singles + clusters)
    kept = free - rows * singles
    if kept > 0 and graphs / kept <= min(MOST_GROUPS * least, most):
        return BorderMemory(min(max(least, math.ceil(graphs / kept)), most), keep=True)
    graphs += rows * LARGEST_GROUP * singles
    if free > 0 and graphs / free <= most:
        return BorderMemory(max(least, math.ceil(graphs / free)), keep=False)
    needed = memory_text(memory - free + graphs / most)
    raise InfeasibleError(
        f"the borders of these blocks need {needed} of memory, of which {memory_text(memory)} may "
        "be used",
        hint="A larger --memory, or fewer devices.",
    )

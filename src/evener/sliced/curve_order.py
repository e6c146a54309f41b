"""Renumber a distributed graph along a space-filling curve.

If vertices are numbered without regard to space, few edges lie inside slices. In graphs with
coordinates, neighbours are mostly near each other in space, so near each other on a Hilbert curve.
Positions along the curve come from a sample sort: each rank sorts a part of the curve.
"""

from __future__ import annotations

from functools import reduce

import numpy as np
import numpy.typing as npt

from evener.arrays import IntVector
from evener.graphs.graph_checks import index_type
from evener.graphs.hilbert import keys_in_box, within_range
from evener.running.comm import Comm
from evener.sliced import clusters_kernels as kernels
from evener.sliced.distributed import DistributedGraph
from evener.sliced.gathering import exchanged, sent_to
from evener.sliced.rows import SlicedGraph

Keys = npt.NDArray[np.uint64]
# Share of arcs inside slices below which vertices are numbered anew along a curve: in orders that
# come from meshes and curves it is above 0.9, in random ones 1 / 64.
LEAST_LOCALITY = 0.5
SAMPLES = 64  # keys of each rank, from which the bounds of all are chosen


def in_slices_order(graph: DistributedGraph) -> DistributedGraph:
    """Return the graph, renumbered along a curve if few edges lie inside slices. Collective."""
    if graph.dimension and locality(graph) < LEAST_LOCALITY:
        return along_curve(graph)
    return graph


def along_curve(graph: DistributedGraph) -> DistributedGraph:
    """Return the graph with its vertices numbered along the Hilbert curve. Collective.

    Numbers do not depend on the number of ranks: vertices are sorted by key, then by number in
    `graph`. The new graph's `back` returns values to the callers of `from_local`. The graph needs
    coordinates.
    """
    numbers = np.empty(graph.n_local, index_type(graph.n))
    numbers[: graph.n_own] = positions(graph.comm, _keys(graph))
    graph.fill(numbers)
    return graph.renumbered(numbers)


def positions(comm: Comm, keys: Keys) -> IntVector:
    """Return each key's position among all ranks' keys; equal keys by rank, then by index."""
    order = np.argsort(keys, kind="stable")
    listed = keys[order]
    counts = _shares(comm, listed)
    got, came = exchanged(comm, listed, counts)
    # What comes is by rank, so a stable sort keeps the order of equal keys.
    there = np.argsort(got, kind="stable")
    sizes = comm.allgather(got.size)
    before = sum(sizes[: comm.rank])
    place = np.empty(got.size, index_type(sum(sizes)))
    place[there] = before + np.arange(got.size)
    found = np.empty(keys.size, np.int64)
    found[order] = sent_to(comm, place, came, counts)
    return found


def _shares(comm: Comm, listed: Keys) -> IntVector:
    """Return how many of this rank's ascending keys go to each rank, each of which sorts a part.

    If a key occurs more often than one rank should sort, several consecutive ranks share it.
    """
    step = max(listed.size // SAMPLES, 1)
    own = [(int(listed[i]), comm.rank, i, step) for i in range(step // 2, listed.size, step)]
    samples = sorted(sample for of in comm.allgather(own) for sample in of)
    ends = np.full(comm.size + 1, listed.size)
    ends[0] = 0
    if samples:
        weights = np.cumsum([weight for *_, weight in samples])
        bounds = np.searchsorted(weights, np.arange(1, comm.size) * weights[-1] / comm.size)
        ends[1:-1] = [_before(listed, comm.rank, *samples[b][:3]) for b in bounds]
    shares: IntVector = ends[1:] - ends[:-1]
    return shares


def _before(listed: Keys, rank: int, key: int, owner: int, place: int) -> int:
    """Return how many of a rank's ascending keys precede the key at `place` of rank `owner`."""
    if rank == owner:
        return place
    return int(np.searchsorted(listed, np.uint64(key), side="right" if rank < owner else "left"))


def _keys(graph: DistributedGraph) -> Keys:
    """Return the key (n_own,) of each own vertex: its position on the curve in the bounding box."""
    points = np.concatenate([graph.points(i) for i in graph.own_slices] or [np.empty((0, 2))])
    nothing = np.full(graph.dimension, np.inf), np.full(graph.dimension, -np.inf)
    boxes = graph.comm.allgather((points.min(0), points.max(0)) if len(points) else nothing)
    low, high = reduce(np.minimum, (b for b, _ in boxes)), reduce(np.maximum, (t for _, t in boxes))
    if not graph.n:
        return np.empty(0, np.uint64)
    largest = float(max(high.max(), -low.min()))
    low, high, points = (within_range(one, largest) for one in (low, high, points))
    return keys_in_box(points, low, high)


def locality(graph: SlicedGraph) -> float:
    """Return the share of the graph's arcs whose two ends are in one slice; 1 without arcs.

    Collective. Reads every slice once.
    """
    inside = sum(int(kernels.arcs_inside(graph.rows(i))) for i in graph.own_slices)
    return sum(graph.comm.allgather(inside)) / graph.arcs if graph.arcs else 1.0

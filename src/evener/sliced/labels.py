"""Clusters across slices by label propagation, with bounded weights: for social networks.

Every vertex begins as its own cluster. Single vertices request to join the neighbouring cluster to
which they have the strongest connection; vertices with few edges request first, because hubs would
otherwise fill the clusters. Slices are assigned to phases: those of one phase all see the clusters
as they were when the phase began, and their requests are granted in the order of the slices. So
clusters do not depend on which process holds a slice, and none exceeds the bound. Finally, vertices
that are still single, such as leaves of hubs, are grouped with others that want the same cluster.
The source of the method is [MSS17]_.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import Part
from evener.sliced import labels_kernels as kernels
from evener.sliced.narrow import narrow
from evener.sliced.rows import N_SLICES, Changed, SlicedGraph, SliceRows

PHASES = 8  # of a round
ROUNDS = 3
MANY_EDGES = 30  # vertices with as many or more ask last, in any order


class LabelClusters(NamedTuple):
    """Clusters made by label propagation.

    of (n_local,) int32: the cluster of each own vertex and ghost, below `n_clusters`.
    inside: share of the total edge weight whose two ends are in one cluster.
    """

    of: Part
    n_clusters: int
    inside: float


class _Asked(NamedTuple):
    """Requests of a slice: rows, requested clusters, and the rows' weights, (0,) if all are 1."""

    rows: Part
    clusters: Part
    weights: npt.NDArray[np.float32]


def clusters_by_labels(graph: SlicedGraph, heaviest: float) -> LabelClusters:
    """Return clusters across slices of weight <= `heaviest` [units], or of one vertex. Collective.

    Each process needs 13 bytes per vertex of the graph meanwhile.
    """
    labels = _Labels(graph, heaviest)
    for turn in range(ROUNDS + 1):
        for phase in range(PHASES):
            labels.act(range(phase, N_SLICES, PHASES), pairs=turn == ROUNDS)
    return labels.numbered()


class _Labels:
    """State of the clustering; for `labels` see the kernels."""

    def __init__(self, graph: SlicedGraph, heaviest: float) -> None:
        self.graph, self.heaviest = graph, np.float32(heaviest)
        self.begin = int(graph.ends[graph.own_slices.start])
        of = np.empty(graph.n_local, np.int32)
        of[: graph.n_own] = np.arange(self.begin, self.begin + graph.n_own, dtype=np.int32)
        graph.fill(of)
        self.labels = kernels.Labels(
            of, _weights(graph), np.zeros(graph.n, np.int8), np.zeros(graph.n, np.float32),
            np.full(graph.n, -1, np.int32),
        )  # fmt: skip

    def act(self, slices: Sequence[int], *, pairs: bool) -> None:
        """Run one phase: collect the requests of its slices, and grant them within the bound.

        pairs: whether vertices that want the same cluster may join each other.
        """
        graph = self.graph
        of_slices = {i: self._ask(graph.rows(i), pairs) for i in slices if i in graph.own_slices}
        everyone = {i: one for some in graph.comm.allgather(of_slices) for i, one in some.items()}
        changed = np.zeros(graph.n_own, np.bool_)
        for i in slices:
            rows, clusters, weights = everyone[i]
            askers = rows.astype(np.int64) + graph.ends[i]
            granted = np.empty(rows.size, np.bool_)
            kernels.grant(
                askers, clusters.astype(np.int64), weights.astype(np.float32), self.labels,
                self.heaviest, granted,
            )  # fmt: skip
            if i in graph.own_slices:
                self.labels.of[askers[granted] - self.begin] = clusters[granted]
                changed[askers[granted] - self.begin] = True
        graph.fill(self.labels.of, Changed(changed, slices))

    def _ask(self, rows: SliceRows, pairs: bool) -> _Asked:
        """Return the requests of the rows of a slice."""
        degrees = np.minimum(np.diff(rows.xadj), MANY_EDGES)
        order = np.argsort(degrees, kind="stable")
        asking, asked = np.empty(order.size, np.int32), np.empty(order.size, np.int32)
        count = kernels.ask(
            rows, self.begin, order, self.labels, self.heaviest, pairs, asking, asked
        )  # fmt: skip
        asking, asked = asking[:count], asked[:count]
        weights = rows.vwgt[asking] if rows.vwgt.size else rows.vwgt
        return _Asked(narrow(asking), narrow(asked), weights.astype(np.float32))

    def numbered(self) -> LabelClusters:
        """Return the clusters, renumbered without gaps."""
        graph, of, numbers = self.graph, self.labels.of, self.labels.last
        count = int(kernels.number(self.labels.state, numbers))
        kernels.rename(of, numbers)
        own = [kernels.weight_inside(graph.rows(i), of) for i in graph.own_slices]
        found = [one for some in graph.comm.allgather(own) for one in some]
        inside, total = (float(sum(column)) for column in zip(*found, strict=True))
        return LabelClusters(of, count, inside / total if total > 0 else 1.0)


def _weights(graph: SlicedGraph) -> npt.NDArray[np.float32]:
    """Return the weights (n,) of all vertices of the graph, on every process."""
    own = [graph.weights(i).astype(np.float32) for i in graph.own_slices]
    of_ranks = graph.comm.allgather([narrow(one) for one in own])
    found = [one for some in of_ranks for one in some if one.size]
    return np.concatenate(found, dtype=np.float32) if found else np.ones(graph.n, np.float32)

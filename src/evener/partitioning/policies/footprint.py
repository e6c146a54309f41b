"""Footprint: the bytes that a block needs on its device, messages counted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.partitioning.policies import greedy_kernels as kernels

AnyGraph = Graph | DirectedGraph


@dataclass(frozen=True)
class Footprint:
    """Bytes that a device keeps [B].

    vertex: of each vertex it owns: offset of its list, value, and what it sends its neighbours.
    arc: of each arc that leaves these. outbox: of each vertex elsewhere that it has a message for;
    inbox: of each message that it receives for a vertex of its own. Defaults are those of PageRank
    with 4-byte numbers: 4 + 4 + 4, 4, 4 + 4 (which vertex, what) and the same.
    """

    vertex: float = 12.0
    arc: float = 4.0
    outbox: float = 8.0
    inbox: float = 8.0

    def of_blocks(self, graph: AnyGraph, part: npt.NDArray[np.int32], k: int) -> FloatArray:
        """Return (k,) the bytes of each block, messages counted exactly [B].

        A block sends one message to each vertex elsewhere that an arc of its own reaches, and
        receives one for each of its vertices from each block with an arc to it.
        """
        arcs = graph.arcs_out()
        sent, received = np.zeros(k, np.int64), np.zeros(k, np.int64)
        seen = np.full(graph.n, -1, np.int64)
        order = np.argsort(part, kind="stable")
        kernels.count_messages(arcs.xadj, arcs.adjncy, part, order, seen, sent, received)
        vertices = np.bincount(part, minlength=k)
        edges = np.bincount(part, weights=np.diff(arcs.xadj), minlength=k)
        return np.asarray(
            self.vertex * vertices + self.arc * edges + self.outbox * sent + self.inbox * received
        )

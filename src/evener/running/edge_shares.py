"""Each device's part of a graph whose edges are divided: its edges, their masters and mirrors.

Edges are divided, vertices are copied; see edge_copies. A part is a LocalGraph, whose own vertices
are the masters and whose ghosts are the mirrors, so that a Halo sends values from masters to
mirrors (`exchange`) and from mirrors to masters (`reduce`). First are the masters without mirrors,
its interior vertices, then the other masters, both by rising global number; then mirrors, by the
device of their master, then number.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import IntArray, IntVector
from evener.errors import InputError, one_of
from evener.graphs.directed import DirectedGraph
from evener.graphs.edge_list import EdgeList
from evener.graphs.graph import Graph
from evener.plans.edge_partition import EdgePartition
from evener.plans.edge_plan import EdgePlan
from evener.running import edge_shares_kernels as kernels
from evener.running.edge_copies import Copies, by_device, copies_of
from evener.running.local_graphs import UNSIGNED, LocalArcs, LocalGraph, signed, unsigned
from evener.wording import plural

KINDS = ("graph", "arcs", "matrix")  # kinds of edges, as in EdgePlan.of
NO_WEIGHTS = np.empty(0)


class DealtEdges(NamedTuple):
    """A graph's edges, sorted by the device that an edge partition assigns them to.

    edges: numbers of all edges, sorted by device, then by number; starts (k + 1,): where the edges
    of each device begin. listed: ends and weights of edges. both_ways: whether an edge stands for
    two arcs. degrees (n,): number of arcs that leave each vertex.
    """

    edges: IntArray
    starts: IntVector
    listed: EdgeList
    both_ways: bool
    degrees: npt.NDArray[Any]

    def of(self, device: int) -> IntArray:
        """Return the numbers of a device's edges."""
        return self.edges[self.starts[device] : self.starts[device + 1]]


class DividedEdges(NamedTuple):
    """An edge partition, and the edges that it divides.

    of: "graph" for edges u < v, sorted by u, then v; "arcs" for arcs u -> v, sorted by u, then v;
    "matrix" for entries, as arcs from row to column. edges: the divided edges; needed if they are
    not exactly those of the graph, for example if a file repeats edges, and always for a matrix,
    where an arc without an entry belongs to the entry on the other side of the diagonal.
    """

    partition: EdgePartition
    of: str = "graph"
    edges: EdgeList | None = None

    @classmethod
    def by(cls, divided: DividedEdges | EdgePlan) -> DividedEdges:
        """Return the edges and partition of a plan; a DividedEdges is returned unchanged."""
        return cls(divided.partition, divided.of) if isinstance(divided, EdgePlan) else divided


def edge_shares(
    graph: Graph | DirectedGraph,
    divided: DividedEdges | EdgePlan,
    devices: Iterable[int] | None = None,
) -> dict[int, LocalGraph]:
    """Return the parts of the given devices (all k by default) by device number.

    divided: a plan of the graph's edges or arcs, or DividedEdges with another partition. An arc is
    on the device of its edge, or of the first such edge if the edge is repeated. Raises InputError
    if the partition has another number of edges, if an arc is not among its edges, or if a device
    does not exist.
    """
    divided = DividedEdges.by(divided)
    k, n = divided.partition.k, graph.n
    wanted = range(k) if devices is None else list(devices)
    for device in wanted:
        if not 0 <= device < k:
            raise InputError(
                f"device {device} does not exist: edges are divided over {plural(k, 'device')}"
            )
    listed, part = dealt_edges(graph, divided)
    copies = copies_of(listed, part)
    arcs = graph.arcs_out()
    degrees = np.diff(arcs.xadj).astype(signed(arcs.adjncy.size))
    both_ways = listed.m < arcs.adjncy.size
    dealt = DealtEdges(*by_device(part), listed, both_ways, degrees)
    position = np.zeros(n, unsigned(n))
    return {device: _share(device, dealt, copies, position) for device in wanted}


def has_other_edges(graph: Graph | DirectedGraph, divided: DividedEdges) -> bool:
    """Whether the partition divides more or fewer edges than the graph has."""
    arcs = (graph.undirected() if divided.of == "graph" else graph).arcs_out().adjncy.size
    return divided.partition.m != (arcs // 2 if divided.of == "graph" else arcs)


def dealt_edges(
    graph: Graph | DirectedGraph, divided: DividedEdges
) -> tuple[EdgeList, EdgePartition]:
    """Return the graph's edges with weights, and the block of each edge.

    If edges are divided, each edge of an undirected graph is listed once and stands for both its
    arcs; otherwise each arc is listed. Raises InputError like `edge_shares`.
    """
    partition, of, edges = divided
    one_of("kind of edges", of, KINDS)
    weighted = graph.arcs_out().adjwgt is not None
    is_once = of == "graph" and isinstance(graph, Graph)
    if is_once:
        assert isinstance(graph, Graph)
        listed = EdgeList.of_graph(graph, weighted=weighted)
    else:
        listed = EdgeList.of_arcs(graph, weighted=weighted)
    if edges is None and of == "matrix":
        raise InputError("the edges are needed to find the block of each entry of the matrix")
    if edges is None and (is_once or of == "arcs"):
        return listed, partition.checked_for(listed)
    known = EdgeList.of_graph(graph.undirected()) if edges is None else edges
    return listed, _blocks_of(listed, known, partition.checked_for(known), of)


def _blocks_of(
    listed: EdgeList, known: EdgeList, partition: EdgePartition, of: str
) -> EdgePartition:
    """Return the blocks of `listed` edges, given those of `known` edges sorted by their ends."""
    n, tails, heads = np.int64(max(known.n, 1)), listed.tails, listed.heads
    if of == "graph":
        tails, heads = np.minimum(tails, heads), np.maximum(tails, heads)
    keys, wanted = known.tails * n + known.heads, tails * n + heads
    at = _found(keys, wanted)
    if of == "matrix":
        at = np.where(at < 0, _found(keys, heads * n + tails), at)
    if (at < 0).any():
        raise InputError("the graph has edges that are in no block of the partition")
    return EdgePartition(partition.part[at], partition.k)


def _found(keys: IntVector, wanted: IntVector) -> IntVector:
    """Return the first index of each wanted number in sorted keys, or -1 if it is not there."""
    at = np.searchsorted(keys, wanted)
    is_there = np.append(keys, -1)[at] == wanted
    return np.where(is_there, at, -1)


def _share(
    device: int, dealt: DealtEdges, copies: Copies, position: npt.NDArray[Any]
) -> LocalGraph:
    """Return one device's part; position (n,) is work space."""
    k, n = copies.k, copies.master.size
    sent = {q: copies.between(device, q) for q in range(k)}
    masters = np.flatnonzero(copies.master == device)
    is_shared = np.zeros(n, np.bool_)
    is_shared[np.concatenate(list(sent.values()))] = True
    interior, shared = masters[~is_shared[masters]], masters[is_shared[masters]]
    numbers = np.concatenate([interior, shared, copies.mirrors[device]])
    if numbers.size >= UNSIGNED:
        raise InputError(f"device {device} has 2^32 or more masters and mirrors")
    position[numbers] = np.arange(numbers.size, dtype=position.dtype)
    sends = {q: position[own].astype(np.uint32) for q, own in sent.items() if own.size}
    out, into = _local_arcs(device, dealt, position, numbers.size)
    return LocalGraph(
        device, k, n, interior.size, masters.size, numbers, copies.starts[device],
        dealt.degrees[numbers], out, into, sends, divides_edges=True,
    )  # fmt: skip


def _local_arcs(
    device: int, dealt: DealtEdges, position: npt.NDArray[Any], n_local: int
) -> tuple[LocalArcs, LocalArcs]:
    """Return the arcs among a device's edges by tail and by head."""
    tails, heads = dealt.listed.tails, dealt.listed.heads
    out = _arcs(device, dealt, (tails, heads), position, n_local)
    if dealt.both_ways:
        return out, out
    return out, _arcs(device, dealt, (heads, tails), position, n_local)


def _arcs(
    device: int,
    dealt: DealtEdges,
    ends: tuple[IntArray, IntArray],
    position: npt.NDArray[Any],
    n_local: int,
) -> LocalArcs:
    """Return a device's arcs from ends[0] to ends[1] as adjacency lists of the vertices ends[0]."""
    given = dealt.of(device), *ends, dealt.both_ways, position
    offsets = np.zeros(n_local + 1, np.int64)
    kernels.list_offsets(*given, offsets)
    count = int(offsets[-1])
    found, whole = np.empty(count, np.uint32), dealt.listed.weights
    weights = None if whole is None else np.empty(count, whole.dtype)
    both = (NO_WEIGHTS, NO_WEIGHTS) if whole is None else (whole, weights)
    kernels.list_arcs(*given, both[0], offsets[:-1].copy(), found, both[1])
    return LocalArcs(offsets.astype(unsigned(count)), found, weights)

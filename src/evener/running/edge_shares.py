"""EdgeShare: one device's edges, and the vertices that they touch: masters and mirrors.

Edges are divided, vertices are copied ([Gonzalez12]_, sections 4 and 5). The copy of a vertex on
the device with most of its edges is its master (of equally many, the device of the lowest number);
those on other devices are its mirrors. Vertices without an edge have a master alone; devices get
them in proportion to their edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import IntArray, IntVector
from evener.errors import InputError, one_of
from evener.graphs.directed import DirectedGraph
from evener.graphs.edge_list import EdgeList
from evener.graphs.graph import Graph
from evener.plans.edge_partition import EdgePartition
from evener.running import edge_shares_kernels as kernels
from evener.running.local_graphs import UNSIGNED, LocalArcs, LocalGraph, signed, unsigned
from evener.wording import plural

KINDS = ("graph", "arcs")  # what the edges are, as EdgePlan.of
NO_WEIGHTS = np.empty(0)


@dataclass(frozen=True, eq=False)
class EdgeShare:
    """The part of a graph that one device of an edge partition computes.

    Local numbers: masters first, by rising global number, then mirrors by the device of their
    master, then number. exchanged: a LocalGraph without arcs whose own vertices are the masters and
    whose ghosts are the mirrors, so that a Halo brings values from masters to mirrors (`exchange`)
    and from mirrors to masters (`reduce`). computed: a LocalGraph of the same numbers in which
    masters and mirrors are own vertices, with the device's arcs. n_edges: of this device.
    """

    exchanged: LocalGraph
    computed: LocalGraph
    n_edges: int

    @property
    def n_masters(self) -> int:
        """Number of vertices whose master is here."""
        return self.exchanged.n_owned

    @property
    def n_mirrors(self) -> int:
        """Number of vertices whose master is on another device."""
        return self.exchanged.n_local - self.exchanged.n_owned

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays; numbers and degrees count once."""
        both = self.exchanged, self.computed
        arrays = [self.computed.numbers, self.computed.degrees, *self.exchanged.sends.values()]
        arrays += [part.ghost_starts for part in both]
        arcs = {id(one): one.nbytes for one in (self.computed.out, self.computed.into) if one}
        return sum(array.nbytes for array in arrays) + sum(arcs.values())


class Dealt(NamedTuple):
    """A graph's edges as an edge partition deals them to devices.

    edges: numbers of all edges by device, then number; starts (k + 1,): where those of each device
    begin. tails, heads (m,): ends of an edge by its number; weights (m,) or empty. both_ways:
    whether an edge is two arcs. degrees (n,): arcs leaving each vertex.
    """

    edges: IntArray
    starts: IntVector
    tails: IntArray
    heads: IntArray
    weights: npt.NDArray[Any]
    both_ways: bool
    degrees: npt.NDArray[Any]

    @property
    def k(self) -> int:
        """Number of devices."""
        return self.starts.size - 1

    def of(self, device: int) -> IntArray:
        """Return the numbers of a device's edges."""
        return self.edges[self.starts[device] : self.starts[device + 1]]


def edge_shares(
    graph: Graph | DirectedGraph,
    partition: EdgePartition,
    *,
    of: str = "graph",
    devices: Iterable[int] | None = None,
) -> dict[int, EdgeShare]:
    """Return the shares of these devices, all k by default, by number.

    of: what the partition divides: "graph", edges u < v by u, then v (of a directed graph those of
    `undirected()`, each with its arcs); "arcs", u -> v by u, then v. Raises InputError for a
    partition of another number of edges, and for a device that is not there.
    """
    dealt = _dealt(graph, partition, of)
    wanted = range(dealt.k) if devices is None else list(devices)
    for device in wanted:
        if not 0 <= device < dealt.k:
            raise InputError(f"device {device} has no edges: there are {plural(dealt.k, 'device')}")
    copies = _copies(dealt, graph.n)
    position = np.zeros(graph.n, unsigned(graph.n))
    return {device: _share(device, dealt, copies, position) for device in wanted}


class Copies(NamedTuple):
    """Where vertices are: master (n,) a device each; mirrors of each device, and their beginnings.

    mirrors[d] are by the master's device, then number; those of device q are from starts[d][q] to
    starts[d][q + 1] - 1.
    """

    master: npt.NDArray[np.int32]
    mirrors: list[IntVector]
    starts: list[IntVector]

    def between(self, device: int, at: int) -> IntVector:
        """Return the vertices with their master on `device` and a mirror on `at`, rising."""
        first, end = self.starts[at][device : device + 2]
        return self.mirrors[at][first:end]


def _dealt(graph: Graph | DirectedGraph, partition: EdgePartition, of: str) -> Dealt:
    """Return a graph's edges by device. Raises InputError for a partition of other edges."""
    one_of("kind of edges", of, KINDS)
    arcs = graph.arcs_out()
    weighted = arcs.adjwgt is not None
    part, both_ways = partition.part, False
    if of == "arcs":
        listed = EdgeList.of_arcs(graph, weighted=weighted)
        partition.checked_for(listed)
    elif isinstance(graph, DirectedGraph):
        listed = EdgeList.of_arcs(graph, weighted=weighted)
        part = _of_arcs(listed, EdgeList.of_graph(graph.undirected()), partition)
    else:
        listed, both_ways = EdgeList.of_graph(graph, weighted=weighted), True
        partition.checked_for(listed)
    starts = np.zeros(partition.k + 1, np.int64)
    np.cumsum(np.bincount(part, minlength=partition.k), out=starts[1:])
    edges = np.argsort(part, kind="stable").astype(listed.tails.dtype, copy=False)
    degrees = np.diff(arcs.xadj).astype(signed(arcs.adjncy.size))
    weights = NO_WEIGHTS if listed.weights is None else listed.weights
    return Dealt(edges, starts, listed.tails, listed.heads, weights, both_ways, degrees)


def _of_arcs(arcs: EdgeList, edges: EdgeList, partition: EdgePartition) -> npt.NDArray[np.int32]:
    """Return the block of each arc of a directed graph: that of the edge between its ends."""
    partition.checked_for(edges)
    n = np.int64(max(edges.n, 1))
    low, high = np.minimum(arcs.tails, arcs.heads), np.maximum(arcs.tails, arcs.heads)
    at = np.searchsorted(edges.tails * n + edges.heads, low * n + high)
    return partition.part[at]


def _copies(dealt: Dealt, n: int) -> Copies:
    """Return where the copies of all vertices are."""
    counts, most = np.zeros(n, np.int32), np.zeros(n, np.int32)
    master = np.full(n, -1, np.int32)
    longest = int(np.diff(dealt.starts).max(initial=0))
    found, touched = np.empty(min(2 * longest, n), np.int64), []
    for device in range(dealt.k):
        own = dealt.of(device)
        count = kernels.touch(
            device, own, dealt.tails, dealt.heads, counts, most, master, found
        )  # fmt: skip
        touched.append(np.sort(found[:count]))
    alone = np.flatnonzero(master < 0)
    master[alone] = _spread(alone.size, dealt.starts)
    copies = Copies(master, [], [])
    for device, own in enumerate(touched):
        own = own[master[own] != device]
        owners = master[own]
        order = np.argsort(owners, kind="stable")
        starts = np.searchsorted(owners[order], np.arange(dealt.k + 1))
        copies.mirrors.append(own[order])
        copies.starts.append(starts.astype(np.int64))
    return copies


def _spread(count: int, starts: IntVector) -> npt.NDArray[np.int32]:
    """Return a device for each of so many vertices, in runs in proportion to devices' edges."""
    ends = starts[1:] if starts[-1] else np.arange(1, starts.size)
    last = (ends / ends[-1] * count).round().astype(np.int64)
    return np.searchsorted(last, np.arange(count), side="right").astype(np.int32)


def _share(
    device: int, dealt: Dealt, copies: Copies, position: npt.NDArray[Any]
) -> EdgeShare:
    """Return one device's share; position (n,): to work in."""
    k, n = dealt.k, copies.master.size
    masters = np.flatnonzero(copies.master == device)
    numbers = np.concatenate([masters, copies.mirrors[device]])
    if numbers.size >= UNSIGNED:
        raise InputError(f"device {device} has 2^32 masters and mirrors or more")
    position[numbers] = np.arange(numbers.size, dtype=position.dtype)
    sent = {q: copies.between(device, q) for q in range(k)}
    sends = {q: position[own].astype(np.uint32) for q, own in sent.items() if own.size}
    degrees = dealt.degrees[numbers]
    m, h = masters.size, numbers.size
    exchanged = LocalGraph(device, k, n, m, m, numbers, copies.starts[device], degrees, None, None, sends)
    out, into = _local_arcs(device, dealt, position, h)
    nowhere = np.zeros(k + 1, np.int64)
    computed = LocalGraph(device, k, n, h, h, numbers, nowhere, degrees, out, into)
    return EdgeShare(exchanged, computed, int(dealt.of(device).size))


def _local_arcs(
    device: int, dealt: Dealt, position: npt.NDArray[Any], n_local: int
) -> tuple[LocalArcs, LocalArcs]:
    """Return the arcs that leave and reach the vertices of a device, among its edges."""
    out = _listed(device, dealt, (dealt.tails, dealt.heads), position, n_local)
    if dealt.both_ways:
        return out, out
    return out, _listed(device, dealt, (dealt.heads, dealt.tails), position, n_local)


def _listed(
    device: int,
    dealt: Dealt,
    ends: tuple[IntArray, IntArray],
    position: npt.NDArray[Any],
    n_local: int,
) -> LocalArcs:
    """Return a device's arcs from the first of two ends to the second, by the first."""
    given = dealt.of(device), *ends, dealt.both_ways, position
    offsets = np.zeros(n_local + 1, np.int64)
    kernels.list_offsets(*given, offsets)
    count = int(offsets[-1])
    found = np.empty(count, np.uint32)
    weights = np.empty(count if dealt.weights.size else 0, dealt.weights.dtype)
    kernels.list_arcs(*given, dealt.weights, offsets[:-1].copy(), found, weights)
    return LocalArcs(offsets.astype(unsigned(count)), found, weights if weights.size else None)


def mirror_counts(shares: Mapping[int, EdgeShare]) -> int:
    """Return the mirrors on these devices: of all, the copies that EdgeMetrics counts."""
    return sum(share.n_mirrors for share in shares.values())

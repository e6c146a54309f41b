"""Divides a graph among devices: each device's own vertices, ghosts, arcs and messages."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeAlias, cast, get_args

import numpy as np

from evener.errors import InputError, one_of
from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.graphs.lists import Arcs
from evener.io.accept import GraphLike, as_graph_or_arcs
from evener.plans.partition import Partition
from evener.plans.plan import Plan
from evener.running import distributing_kernels as kernels
from evener.running.building import Lists, boundary_of, numbering_of, parts_of, with_ghosts
from evener.running.local_graphs import (
    LocalArcs,
    LocalGraph,
    LocalNumbers,
    Want,
    signed,
    unsigned,
)
from evener.running.local_numbers import numbers_of
from evener.threads import cores
from evener.wording import plural

INDEX, NUMBER = 4, 8  # bytes of a local number and of a global number
Divided: TypeAlias = Plan | Partition | str | os.PathLike[str]  # text: the path of a plan's file


def distribute(
    graph: GraphLike,
    divided: Divided,
    *,
    want: Want = "out",
    threads: int | None = None,
) -> list[LocalGraph]:
    """Return the LocalGraphs of all k devices of a plan, or of the k blocks of a partition.

    want: which arcs of a directed graph the parts contain: "out" for arcs that leave owned
    vertices, "into" for arcs that reach them, or "both". Ghosts are the other ends of these arcs.
    threads: by default, the number of cores. Raises InputError if the partition has another number
    of vertices than the graph.
    """
    taken, partition = _taken(graph, divided)
    return _distributed(_lists(taken, want, alone=False), partition, threads or cores())


def local_graph(
    graph: GraphLike,
    divided: Divided,
    rank: int,
    *,
    want: Want = "out",
    threads: int | None = None,
) -> LocalGraph:
    """Return only the LocalGraph of device `rank`; arguments as for `distribute`.

    Raises InputError also if there is no block for this rank.
    """
    taken, partition = _taken(graph, divided)
    return local_part(_lists(taken, want, alone=True), partition, rank, threads or cores())


class PartSize(NamedTuple):
    """Sizes of a device's part of a graph.

    ghost_counts: other device -> number of ghosts here that it owns. sent_counts: other device ->
    number of own vertices that are ghosts there. arcs: number of arcs in each list of the part.
    n_boundary: number of own vertices with an arc from or to another block. has_out: whether one of
    the lists contains the arcs that leave vertices. ranges: other devices to which vertices with
    consecutive local numbers are sent, so that a halo needs no list of them.
    """

    k: int
    n_owned: int
    n_ghosts: int
    arcs: tuple[int, ...]
    ghost_counts: dict[int, int]
    sent_counts: dict[int, int]
    n_boundary: int
    has_out: bool = True
    ranges: frozenset[int] = frozenset()

    @property
    def n_local(self) -> int:
        """Number of own vertices plus ghosts."""
        return self.n_owned + self.n_ghosts

    def nbytes(self, n_arcs: int, weight: int = 0) -> int:
        """Return what LocalGraph.nbytes would be.

        n_arcs: number of arcs of the whole graph. weight [B]: size of an arc's weight, 0 without
        weights.
        """
        degree = np.dtype(signed(n_arcs)).itemsize
        vertex = NUMBER + degree if self.k != 1 else 0 if self.has_out else degree
        vertices = self.n_local * vertex + (self.k + 1) * NUMBER
        arcs = sum(
            (self.n_owned + 1) * np.dtype(unsigned(count)).itemsize + count * (INDEX + weight)
            for count in self.arcs
        )
        return vertices + arcs + sum(self.sent_counts.values()) * INDEX


def size_of(local: LocalGraph) -> PartSize:
    """Return the sizes of an existing part."""
    arcs = {id(one): one.ends.size for one in (local.out, local.into) if one is not None}
    ghosts = {q: last - first for q, (first, last) in local.receives.items()}
    sent = {q: int(numbers.size) for q, numbers in local.sends.items()}
    n_boundary = local.n_owned - local.n_interior
    counts = tuple(arcs.values())
    has_out = local.out is not None
    ranges = frozenset(q for q, own in local.sends.items() if isinstance(numbers_of(own), slice))
    return PartSize(
        local.k, local.n_owned, local.n_ghosts, counts, ghosts, sent, n_boundary, has_out, ranges
    )


def part_sizes(
    graph: GraphLike,
    divided: Divided,
    *,
    want: Want = "out",
    threads: int | None = None,
) -> list[PartSize]:
    """Return the sizes of each device's part without building the parts.

    The arguments and errors are those of `distribute`.
    """
    taken, partition = _taken(graph, divided)
    lists, k, threads = _lists(taken, want, alone=False), partition.k, threads or cores()
    numbering = numbering_of(partition, boundary_of(lists, partition.part, -1, threads), threads)
    sizes: list[PartSize] = []
    ranges: list[set[int]] = [set() for _ in range(k)]
    for batch in with_ghosts(lists, numbering, range(k), threads):
        for built in batch:
            counts = np.diff(built.ghost_starts)
            ghosts = {q: int(counts[q]) for q in np.flatnonzero(counts).tolist()}
            arcs = tuple(int(offsets[-1]) for offsets in built.offsets.values())
            m = int(built.owned.size)
            n_ghosts, n_boundary = sum(ghosts.values()), m - built.n_interior
            has_out = "out" in lists.wanted
            for q in ghosts:
                first, end = built.ghost_starts[q : q + 2] + m
                if isinstance(numbers_of(numbering.position[built.numbers[first:end]]), slice):
                    ranges[q].add(len(sizes))
            sizes.append(PartSize(k, m, n_ghosts, arcs, ghosts, {}, n_boundary, has_out))
    for rank, size in enumerate(sizes):
        for q, count in size.ghost_counts.items():
            sizes[q].sent_counts[rank] = count
    return [size._replace(ranges=frozenset(own)) for size, own in zip(sizes, ranges, strict=True)]


def local_part(lists: Lists, partition: Partition, rank: int, threads: int) -> LocalGraph:
    """Return the LocalGraph of one block, from lists of outgoing and of incoming arcs.

    Raises InputError if there is no block for this rank.
    """
    if not 0 <= rank < partition.k:
        raise InputError(
            f"rank {rank} has no block: the partition has {plural(partition.k, 'block')}"
        )
    if partition.k == 1:
        return _whole(lists)
    boundary = boundary_of(lists, partition.part, rank, threads)
    numbering = numbering_of(partition, boundary, threads)
    local = next(parts_of(lists, numbering, [rank], threads))
    return replace(local, sends=_sends_of(lists, local, partition))


def _distributed(lists: Lists, partition: Partition, threads: int) -> list[LocalGraph]:
    """Return the LocalGraphs of all blocks."""
    if partition.k == 1:
        return [_whole(lists)]
    boundary = boundary_of(lists, partition.part, -1, threads)
    numbering = numbering_of(partition, boundary, threads)
    locals_ = list(parts_of(lists, numbering, range(partition.k), threads))
    for local in locals_:  # what this device receives is what the others send
        positions = numbering.position[local.ghosts]
        for q in np.flatnonzero(np.diff(local.ghost_starts)).tolist():
            own = positions[local.ghost_starts[q] : local.ghost_starts[q + 1]]
            numbers = (own - numbering.starts[q]).astype(np.uint32)
            cast(dict[int, LocalNumbers], locals_[q].sends)[local.rank] = numbers
    return locals_


def _taken(graph: GraphLike, divided: Divided) -> tuple[Graph | DirectedGraph, Partition]:
    """Convert the arguments of public functions to a graph and a partition of it."""
    taken = as_graph_or_arcs(graph)
    if isinstance(divided, str | os.PathLike):
        from evener.io.plans.plan import read_plan

        divided = read_plan(Path(divided))
    partition = divided.partition if isinstance(divided, Plan) else divided
    return taken, partition.checked_for(taken.n)


def _lists(graph: Graph | DirectedGraph, want: Want, *, alone: bool) -> Lists:
    """Return a graph's adjacency lists.

    alone: whether the lists are for a single device, which also needs the arcs into its vertices.
    """
    one_of("choice of arcs", want, get_args(Want))
    out = graph.arcs_out()
    if graph.symmetric:
        return Lists(out, out, want)
    return Lists(out, graph.arcs_in() if alone or want != "out" else None, want)


def _whole(lists: Lists) -> LocalGraph:
    """Return the only part of an undivided graph: the graph's own arrays, in narrower dtypes."""
    n = lists.out.xadj.size - 1
    made = {name: _narrowed(arcs) for name, arcs in lists.wanted.items()}
    if not lists.is_directed:
        made["into"] = made["out"]
    degrees = np.empty(0, np.int32)
    if "out" not in made:
        degrees = np.diff(lists.out.xadj).astype(signed(lists.out.adjncy.size))
    return LocalGraph(
        0, 1, n, n, n, np.empty(0, np.int64), np.zeros(2, np.int64), degrees,
        made.get("out"), made.get("into"),
    )  # fmt: skip


def _narrowed(arcs: Arcs) -> LocalArcs:
    ends = arcs.adjncy
    short = ends.view(np.uint32) if ends.dtype == np.int32 else ends.astype(np.uint32)
    return LocalArcs(arcs.xadj.astype(unsigned(ends.size)), short, arcs.adjwgt)


def _sends_of(lists: Lists, local: LocalGraph, partition: Partition) -> dict[int, LocalNumbers]:
    """Return the vertices that one device sends to each other device.

    They are found from the arcs that make the device's vertices ghosts on other devices.
    """
    assert lists.into is not None
    # If the others have the arcs that leave their vertices, those reach this device's vertices.
    seen = {"out": [lists.into], "into": [lists.out], "both": [lists.into, lists.out]}[lists.want]
    first, more = seen[0], seen[1] if lists.is_directed and len(seen) > 1 else None
    none = np.empty(0, np.int64)
    given = (
        first.xadj, first.adjncy, none if more is None else more.xadj,
        first.adjncy[:0] if more is None else more.adjncy, partition.part, local.owned,
        local.n_interior,
    )  # fmt: skip
    starts, last_sent = np.zeros(local.k + 1, np.int64), np.full(local.k, -1)
    kernels.list_sends(*given, last_sent, starts[1:], np.empty(0, np.uint32))
    np.cumsum(starts, out=starts)
    sent = np.empty(int(starts[-1]), np.uint32)
    if sent.size:
        kernels.list_sends(*given, np.full(local.k, -1), starts[:-1].copy(), sent)
    others = np.flatnonzero(np.diff(starts)).tolist()
    return {q: sent[starts[q] : starts[q + 1]] for q in others}

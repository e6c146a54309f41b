"""Bytes that a run on blocks of edges allocates on each device, counted before anything is made."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evener.graphs.edge_list import EdgeList
from evener.plans.edge_partition import EdgePartition
from evener.running.distributing import INDEX, NUMBER, PartSize
from evener.running.edge_copies import Copies
from evener.running.engine.program import VertexProgram
from evener.running.engine.solver import Solver
from evener.running.fitting import (
    GraphSize,
    Held,
    RunBytes,
    engine_bytes,
    halo_bytes,
    list_bytes,
    sparse_bytes,
)
from evener.running.local_graphs import signed, unsigned


def bytes_on_edges(
    edges: EdgeList,
    partition: EdgePartition,
    copies: Copies,
    program: VertexProgram | Solver,
    n_arcs: int,
    *,
    cores: Sequence[int] | None = None,
) -> list[RunBytes]:
    """Return what a run of a program allocates on each device, until it has exchanged all it does.

    edges, partition: as of `dealt_edges`; copies: of their vertices. n_arcs: of the graph; twice
    the edges where these are dealt with both arcs. cores: of each device, one by default.
    """
    weight = 0 if edges.weights is None else edges.weights.dtype.itemsize
    both_ways = edges.m < n_arcs
    graph = GraphSize(edges.n, n_arcs, both_ways, weight)
    counts = np.bincount(partition.part, minlength=partition.k)
    own = cores or [1] * partition.k
    return [
        _bytes_of_share(_size(device, copies, int(counts[device]), graph), graph, program, count)
        for device, count in enumerate(own)
    ]


def _size(device: int, copies: Copies, n_edges: int, graph: GraphSize) -> PartSize:
    """Return how large a share is, its masters as own vertices, its mirrors as ghosts."""
    k = copies.k
    mirrors = {q: int(count) for q, count in enumerate(np.diff(copies.starts[device])) if count}
    sent = {q: int(own.size) for q in range(k) if (own := copies.between(device, q)).size}
    n_mirrors = sum(mirrors.values())
    masters = int(copies.vertices[device]) - n_mirrors
    arcs = (2 * n_edges,) if graph.symmetric else (n_edges, n_edges)
    return PartSize(k, masters, n_mirrors, arcs, mirrors, sent, masters)


def _bytes_of_share(
    size: PartSize, graph: GraphSize, program: VertexProgram | Solver, cores: int
) -> RunBytes:
    """Return what a device allocates: EdgeShare, what computes, and what exchanges."""
    whole = size._replace(n_owned=size.n_local, n_ghosts=0)  # all are computed
    kind = np.dtype("f8" if isinstance(program, Solver) else program.dtype)
    mirrored = sum(size.sent_counts.values())
    if isinstance(program, Solver):
        weighs = graph.weight > 0
        arrays = program.bytes_held(size.n_local, size.n_local, size.arcs[0], weighs)
    else:
        arrays = engine_bytes(whole._replace(k=1), graph, program, cores)
    if isinstance(program, Solver) or program.schedule == "dense":
        arrays += size.n_local * kind.itemsize  # sums
        halo = halo_bytes(size, [Held(kind, exchanged=True, reduced=True)])
    else:
        # What either end of a copy knows of the other, and the numbers of both ends.
        arrays += (size.n_ghosts + mirrored) * (kind.itemsize + INDEX)
        halo = list_bytes(size) + sparse_bytes(size, kind.itemsize)
        turned = size._replace(ghost_counts=size.sent_counts, sent_counts=size.ghost_counts)
        halo += sparse_bytes(turned, kind.itemsize)
        if program.schedule == "frontier":
            arrays += size.n_local  # flags
    return RunBytes(_share_bytes(size, graph), arrays, halo)


def _share_bytes(size: PartSize, graph: GraphSize) -> int:
    """Return EdgeShare.nbytes."""
    degree = np.dtype(signed(graph.arcs)).itemsize
    vertices = size.n_local * (NUMBER + degree) + 2 * (size.k + 1) * NUMBER
    offsets = sum((size.n_local + 1) * np.dtype(unsigned(count)).itemsize for count in size.arcs)
    arcs = sum(size.arcs) * (INDEX + graph.weight)
    return vertices + offsets + arcs + INDEX * sum(size.sent_counts.values())

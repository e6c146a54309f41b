"""Bytes that a run allocates on each device, computed before anything is allocated.

There are three sums: the part of the graph, as in LocalGraph.nbytes; arrays over its vertices; and
the buffers for exchanging them, as in Halo.nbytes (a Halo stores no list of numbers if they are
consecutive). They are allocated by LocalGraph, `work_of`, Engine, SuperstepLoop, Halo and
SparseReduce, on GPUs by the engines in engine/cuda_*.py. Devices of one computer share memory for
exchanges (engine/near.py) in place of Halo and SparseReduce; it is not counted.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.graphs.directed import DirectedGraph
from evener.graphs.edge_list import EdgeList
from evener.graphs.graph import Graph
from evener.io.accept import GraphLike, as_graph_or_arcs
from evener.plans.edge_partition import EdgePartition
from evener.plans.partition import Partition
from evener.plans.plan import Plan
from evener.running.distributing import INDEX, NUMBER, PartSize, part_sizes
from evener.running.edge_copies import Copies
from evener.running.engine.atomics_kernels import CONTROL_SIZE, SYNC_SIZE
from evener.running.engine.program import Solver, VertexProgram
from evener.running.engine.work import LocalSizes, work_bytes
from evener.running.local_graphs import Want
from evener.running.on_device import wanted_arcs
from evener.running.slicing import RankParts
from evener.running.sparse import room

_NUMPY_INDEX = np.dtype(np.intp).itemsize


class Held(NamedTuple):
    """An array of a run over own vertices and ghosts: its dtype and number of columns.

    exchanged: whether ghosts get their owners' values. reduced: whether owners combine the values
    of their ghosts. ghosts: whether the array has entries for ghosts.
    """

    dtype: npt.DTypeLike
    columns: int = 1
    exchanged: bool = False
    reduced: bool = False
    ghosts: bool = True

    @property
    def row(self) -> int:
        """Bytes per vertex."""
        return int(np.dtype(self.dtype).itemsize) * self.columns


class RunBytes(NamedTuple):
    """Bytes on one device: its part of the graph, its arrays, and the buffers of its exchanges."""

    graph: int
    arrays: int
    halo: int

    @property
    def total(self) -> int:
        """Sum of the three."""
        return sum(self)


def bytes_of_run(
    graph: GraphLike,
    divided: Plan | Partition | str | os.PathLike[str],
    arrays: Sequence[Held] = (),
    *,
    want: Want = "out",
    threads: int | None = None,
) -> list[RunBytes]:
    """Return the bytes that a run with these arrays allocates on each device of a plan.

    divided: a plan, its file, or a partition. The other arguments and the errors are those of
    `distribute`. No array as large as a part is allocated.
    """
    taken = as_graph_or_arcs(graph)
    weight = 0 if taken.adjwgt is None else taken.adjwgt.dtype.itemsize
    sizes = part_sizes(taken, divided, want=want, threads=threads)
    return [bytes_on_device(size, arrays, taken.adjncy.size, weight) for size in sizes]


def bytes_of_program(
    graph: Graph | DirectedGraph | RankParts,
    divided: Plan | Partition | str | os.PathLike[str],
    program: VertexProgram | Solver,
    *,
    cores: Sequence[int] | None = None,
) -> list[RunBytes]:
    """Return the bytes that a run of a program allocates on each device, all exchanges included.

    graph: the graph, or the parts of it that ranks have read. cores: number for each device, by
    default 1; 0 for a CUDA device, for which the bytes in its own memory are counted. Other
    arguments as for `bytes_of_run`. For searches, the buffers for supersteps that pull are always
    counted, even if no superstep pulls. Devices count as separate computers. Vertex programs whose
    devices share memory usually need less for exchanges; dense ones on directed graphs may need up
    to a value and a number per ghost more.
    """
    if isinstance(graph, RankParts):
        sizes = graph.sizes
    else:
        sizes = part_sizes(graph, divided, want=wanted_arcs(program))
    whole, own = _size_of_graph(graph), cores or [1] * len(sizes)
    found = [
        _bytes_of_part(size, whole, program, count) for size, count in zip(sizes, own, strict=True)
    ]
    if isinstance(graph, RankParts) or not isinstance(divided, Plan | Partition):
        return found
    exactly = program.bytes_on_devices if isinstance(program, Solver) else None
    partition = divided.partition if isinstance(divided, Plan) else divided
    arrays = None if exactly is None else exactly(graph, partition)
    if arrays is None:
        return found
    return [one._replace(arrays=n_bytes) for one, n_bytes in zip(found, arrays, strict=True)]


class GraphSize(NamedTuple):
    """Size of a whole graph; weight [B]: size of an arc's weight, 0 without weights."""

    n: int
    arcs: int
    symmetric: bool
    weight: int


def _size_of_graph(graph: Graph | DirectedGraph | RankParts) -> GraphSize:
    if isinstance(graph, RankParts):
        return GraphSize(graph.n, graph.n_arcs, graph.symmetric, NUMBER * graph.facts.weighted)
    weight = 0 if graph.adjwgt is None else graph.adjwgt.dtype.itemsize
    return GraphSize(graph.n, graph.adjncy.size, graph.symmetric, weight)


def _bytes_of_part(
    size: PartSize, graph: GraphSize, program: VertexProgram | Solver, cores: int
) -> RunBytes:
    """Return the bytes that a device allocates: LocalGraph, Engine or solver, and Halo."""
    if cores == 0 and not isinstance(program, Solver):
        return _cuda_bytes(size, graph, program)
    if isinstance(program, Solver):
        kinds: tuple[str, ...] = (program.exchanged,)
        arrays = program.bytes_held(size.n_owned, size.n_local, size.arcs[-1], graph.weight > 0)
    else:
        exchanged = {"dense": (program.dtype,), "frontier": (program.dtype, "u1")}
        kinds = exchanged.get(program.schedule, ())
        arrays = engine_bytes(size, graph, program, cores)
    held = [Held(kind, exchanged=True) for kind in kinds]
    halo = halo_bytes(size, held) or list_bytes(size)
    if not isinstance(program, Solver) and program.schedule != "dense":
        halo += sparse_bytes(size, np.dtype(program.dtype).itemsize)
    return RunBytes(size.nbytes(graph.arcs, graph.weight), arrays, halo)


def _cuda_bytes(size: PartSize, graph: GraphSize, program: VertexProgram) -> RunBytes:
    """Return the bytes that CudaEngine allocates on its device, without messages."""
    from evener.running.engine.cuda_engine import device_bytes

    sizes = LocalSizes(graph.n, size.n_owned, size.n_local, 0, not graph.symmetric)
    most = max(size.sent_counts.values(), default=0)
    alone = size._replace(k=-1, sent_counts={})  # without lists of messages and starts of ghosts
    part = alone.nbytes(graph.arcs, (graph.weight or 1) if program.is_weighted else 0)
    return RunBytes(part, device_bytes(program, sizes, size.arcs, most), 0)


def engine_bytes(size: PartSize, graph: GraphSize, program: VertexProgram, cores: int) -> int:
    """Return the bytes that Engine and SuperstepLoop allocate, without the part and the halo."""
    sizes = LocalSizes(graph.n, size.n_owned, size.n_local, 0, not graph.symmetric)
    arrays = work_bytes(program, sizes, size.arcs[-1], cores)
    arrays += size.n_local * np.dtype(program.dtype).itemsize  # values
    if program.schedule == "frontier" and size.k > 1:
        arrays += size.n_local  # flags
    if program.schedule != "dense" and size.k > 1:
        arrays += size.n_ghosts * (INDEX + np.dtype(program.dtype).itemsize)  # ghosts that changed
    if program.is_weighted and not graph.weight:
        arrays += sum(size.arcs)  # weights of 1, a byte each
    return arrays + NUMBER * (CONTROL_SIZE + SYNC_SIZE)


def bytes_on_device(
    size: PartSize, arrays: Sequence[Held], n_arcs: int, weight: int = 0
) -> RunBytes:
    """Return the bytes that a run allocates on a device, given the size of its part.

    n_arcs: number of arcs of the whole graph. weight [B]: size of an arc's weight, 0 without
    weights.
    """
    rows = sum(held.row * (size.n_local if held.ghosts else size.n_owned) for held in arrays)
    return RunBytes(size.nbytes(n_arcs, weight), rows, halo_bytes(size, arrays))


def halo_bytes(size: PartSize, arrays: Sequence[Held]) -> int:
    """Return what Halo.nbytes would be.

    There is one set of buffers per dtype and number of columns for exchanges, and another one for
    reductions.
    """
    sent, ghosts = sum(size.sent_counts.values()), size.n_ghosts
    kinds = {(np.dtype(held.dtype), held.columns): held.row for held in arrays if held.exchanged}
    sums = {(np.dtype(held.dtype), held.columns): held.row for held in arrays if held.reduced}
    most = max(size.sent_counts.values(), default=0)
    buffers = sum(kinds.values()) * (sent + ghosts) + sum(sums.values()) * (sent + ghosts + most)
    return buffers + (list_bytes(size) if kinds or sums else 0)


def list_bytes(size: PartSize) -> int:
    """Return the bytes of the lists of numbers sent; consecutive numbers need no list."""
    listed = {q: count for q, count in size.sent_counts.items() if q not in size.ranges}
    return _NUMPY_INDEX * sum(count for count in listed.values() if count < size.n_boundary)


def sparse_bytes(size: PartSize, item: int) -> int:
    """Return what SparseReduce.nbytes would be: space for all ghosts, here and elsewhere."""
    counts = [*size.ghost_counts.values(), *size.sent_counts.values()]
    most = max(size.sent_counts.values(), default=0)
    return sum(room(count, item) for count in counts) + INDEX * most


def bytes_on_edges(
    edges: EdgeList,
    partition: EdgePartition,
    copies: Copies,
    program: VertexProgram | Solver,
    n_arcs: int,
    *,
    cores: Sequence[int] | None = None,
) -> list[RunBytes]:
    """Return the bytes that a run of a program on edges allocates on each device.

    edges, partition: as returned by `dealt_edges`; copies: of their vertices. n_arcs: number of
    arcs of the graph; twice the number of edges if an edge stands for two arcs. cores: number for
    each device, by default 1. All exchanges are counted.
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
    """Return the size of a device's part of divided edges.

    Masters count as own vertices, those with mirrors as boundary vertices; mirrors as ghosts.
    """
    k = copies.k
    mirrors = {q: int(count) for q, count in enumerate(np.diff(copies.starts[device])) if count}
    sent = {q: int(own.size) for q in range(k) if (own := copies.between(device, q)).size}
    n_mirrors = sum(mirrors.values())
    masters = int(copies.vertices[device]) - n_mirrors
    arcs = (2 * n_edges,) if graph.symmetric else (n_edges, n_edges)
    lists = [np.empty(0, np.int64), *(copies.between(device, q) for q in sent)]
    shared = int(np.unique(np.concatenate(lists)).size)
    return PartSize(k, masters, n_mirrors, arcs, mirrors, sent, shared)


def _bytes_of_share(
    size: PartSize, graph: GraphSize, program: VertexProgram | Solver, cores: int
) -> RunBytes:
    """Return the bytes that a device allocates: LocalGraph, Engine or solver, and exchanges."""
    whole = size._replace(n_owned=size.n_local, n_ghosts=0)  # the device computes on all its copies
    kind = np.dtype("f8" if isinstance(program, Solver) else program.dtype)
    part = whole.nbytes(graph.arcs, graph.weight)
    reduced = [Held(kind, exchanged=True, reduced=True)]
    if isinstance(program, Solver):
        weighs = graph.weight > 0
        arrays = program.bytes_held(size.n_local, size.n_local, size.arcs[0], weighs)
        arrays += size.n_boundary * kind.itemsize  # factors of rows whose sums are reduced
        return RunBytes(part, arrays, halo_bytes(size, reduced))
    arrays = engine_bytes(whole._replace(k=1), graph, program, cores)
    if program.schedule == "dense":
        arrays += size.n_local * kind.itemsize  # sums
        return RunBytes(part, arrays, halo_bytes(size, reduced))
    # What each end of a copy knows about the other end, and the numbers of both.
    arrays += (size.n_ghosts + sum(size.sent_counts.values())) * (kind.itemsize + INDEX)
    halo = list_bytes(size) + sparse_bytes(size, kind.itemsize)
    turned = size._replace(ghost_counts=size.sent_counts, sent_counts=size.ghost_counts)
    halo += sparse_bytes(turned, kind.itemsize)
    if program.schedule == "frontier":
        arrays += size.n_local  # flags
    return RunBytes(part, arrays, halo)

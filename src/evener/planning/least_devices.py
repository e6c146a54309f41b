"""Plans by the bytes that a program allocates; finds the fewest equal devices that it fits on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from evener.errors import InfeasibleError
from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.planning.in_memory import plan
from evener.plans.partition import Partition
from evener.plans.workload import WORKLOADS
from evener.platforms.platform import Platform
from evener.running.engine.program import Solver, VertexProgram
from evener.running.fitting import RunBytes, bytes_of_program

MOST = 1024  # devices tried
TRIES = 4  # plans, each with the bytes of the last one's ghosts
# Bytes of a vertex over those of an arc: 8 for its number, 4 to 8 each for degree, offset, value
# and payload, against 4 for an arc's end.
VERTEX = 7


class PlannedBytes(NamedTuple):
    """The bytes that a run allocates on each device of a plan, and those that the plan assumed.

    per_vertex, per_edge [B]: assumed per vertex, and per edge at each of its ends, with ghosts
    spread over all; as --bytes-per-vertex and --bytes-per-edge of `evener plan`.
    """

    needed: list[RunBytes]
    per_vertex: float
    per_edge: float


def planned_by_bytes(
    graph: Graph | DirectedGraph,
    program: VertexProgram | Solver,
    platform: Platform,
    cores: Sequence[int],
) -> PlannedBytes:
    """Plan a graph by the bytes that a program needs; return what a run of it allocates.

    Ghosts are known only once there are blocks: if the bytes with ghosts exceed a device's memory,
    the graph is planned again with more bytes for every vertex and edge. If that is infeasible,
    memory is ignored.
    """
    # Several devices store numbers and degrees of their vertices, a single device does not.
    all_on_first = Partition(np.zeros(graph.n, np.int32), platform.k)
    whole = bytes_of_program(graph, all_on_first, program, cores=cores)[0].total
    edges = graph.undirected()
    arcs = max(edges.adjncy.size, 1)
    per_edge = min(4.0 + (0 if graph.adjwgt is None else graph.adjwgt.dtype.itemsize), whole / arcs)
    per_vertex = (whole - per_edge * arcs) / max(graph.n, 1)
    slack, needed = 1.0, list[RunBytes]()
    for _ in range(TRIES):
        own = edges.with_(bytes_per_vertex=slack * per_vertex, bytes_per_edge=slack * per_edge)
        try:
            blocks = _planned(own, platform)
        except InfeasibleError:
            break
        needed = bytes_of_program(graph, blocks, program, cores=cores)
        over = max(one.total / has for one, has in zip(needed, platform.memories, strict=True))
        if over <= 1:
            return PlannedBytes(needed, slack * per_vertex, slack * per_edge)
        slack *= 1.01 * over
    if not needed:
        free = tuple(replace(one, memory=None) for one in platform.devices)
        blocks = _planned(edges, replace(platform, devices=free))
        needed = bytes_of_program(graph, blocks, program, cores=cores)
    return PlannedBytes(needed, slack * per_vertex, slack * per_edge)


def _planned(graph: Graph, platform: Platform) -> Partition:
    workload = WORKLOADS["pagerank"]  # by the work on vertices and arcs
    return plan(graph, platform, preset="fast", workload=workload).partition


def least_devices(
    graph: Graph | DirectedGraph, program: VertexProgram | Solver, memory: float, cores: int = 1
) -> int | None:
    """Return how many devices with this memory [B] are needed; None if more than MOST are.

    Blocks of equal bytes are made for each number tried. The first number is the bytes of the whole
    graph on one device / memory, as fewer devices cannot suffice; numbers then grow by the excess
    on the fullest device, and finally bisection finds the smallest number that suffices.
    """
    alone = _fullest(graph, program, 1, cores)
    if alone <= memory:
        return 1
    most = min(MOST, graph.n)
    too_few, count = 1, math.ceil(alone / memory)
    while count <= most:
        needed = _fullest(graph, program, count, cores)
        if needed <= memory:
            break
        too_few, count = count, max(count + 1, int(count * needed / memory))
    else:
        return None
    too_few = max(too_few, math.ceil(alone / memory) - 1)
    while count - too_few > 1:
        middle = (too_few + count) // 2
        if _fullest(graph, program, middle, cores) <= memory:
            count = middle
        else:
            too_few = middle
    return count


def _fullest(
    graph: Graph | DirectedGraph, program: VertexProgram | Solver, k: int, cores: int
) -> int:
    """Return the bytes on the fullest of k devices with blocks of about equal bytes."""
    partition = Partition(np.zeros(graph.n, np.int32), 1) if k == 1 else _divided(graph, k)
    return max(one.total for one in bytes_of_program(graph, partition, program, cores=[cores] * k))


def _divided(graph: Graph | DirectedGraph, k: int) -> Partition:
    """Divide the graph into k blocks; the weight of a vertex is its degree plus VERTEX."""
    edges = graph.undirected()
    weighted = replace(edges, vwgt=edges.degrees.astype(np.int64) + VERTEX)
    return plan(weighted, k, preset="fast", objective="cut").partition

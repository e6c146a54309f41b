"""Plans by the bytes that a program allocates, and on how few equal devices it fits."""

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
from evener.running.engine.program import VertexProgram
from evener.running.engine.solver import Solver
from evener.running.fitting import RunBytes, bytes_of_program

MOST = 1024  # devices tried
TRIES = 4  # plans, each with the bytes of the last one's ghosts
# Bytes of a vertex over those of an arc: 8 for its number, 4 to 8 each for degree, offset, value
# and payload, against 4 for an arc's end.
VERTEX = 7


class PlannedBytes(NamedTuple):
    """What a run allocates on each device of a plan, and the bytes that the plan counted.

    per_vertex, per_edge [B]: of a vertex, and of an edge at each of its ends, ghosts spread over
    all; as --bytes-per-vertex and --bytes-per-edge of `evener plan`.
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
    """Return what a run on a plan allocates that counts vertices and edges as the program does.

    Ghosts are known once there are blocks: where they make a device too small, it is planned again
    with as much more for all. Where that is impossible, memory is not looked at.
    """
    # One of several devices keeps numbers and degrees of its vertices, one alone does not.
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
    """Return how many devices of this memory [B] are needed; None where MOST are not enough.

    Blocks of equal bytes are made for each number that is tried: fewer than what one device needs
    over the memory cannot do; from there on numbers grow by what the fullest device needs too
    much, and are then halved between the last that did not do and the first that does.
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
    """Return k blocks; a vertex weighs as VERTEX of its arcs."""
    edges = graph.undirected()
    weighted = replace(edges, vwgt=edges.degrees.astype(np.int64) + VERTEX)
    return plan(weighted, k, preset="fast", objective="cut").partition

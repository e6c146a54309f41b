"""Blocks of graphs of uneven degrees in slices: by one process, where that can hold the graph."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evener.arrays import Part
from evener.planning.slice_blocks import SlicesToDivide
from evener.planning.steps import divide, enforced
from evener.plans.partition import Contract
from evener.sliced.collecting import collected
from evener.sliced.degrees import SliceDegrees
from evener.sliced.gathering import agreed, scattered
from evener.sliced.memory import most_whole
from evener.sliced.uneven import BlockMemory
from evener.sliced.uneven_ways import blocks_of_uneven


def uneven_way(task: SlicesToDivide) -> Callable[[Contract], Part]:
    """Return what makes blocks (n_own,) of a graph of uneven degrees within limits on weights.

    All processes call, and call what is returned. A graph that one process can hold is divided
    there, within its contract: its blocks are those of the graph in memory.
    """
    graph = task.graph
    if graph.arcs <= most_whole(task.sliced.memory, graph.n):
        return lambda _: _by_one(task)
    degrees = SliceDegrees.read(task.weighted)
    memory = BlockMemory(*task.size)
    return lambda limits: blocks_of_uneven(task.weighted, limits, degrees, task.sliced, memory)


def _by_one(task: SlicesToDivide) -> Part:
    """Return the blocks (n_own,) into which process 0 divides the graph as a whole."""
    comm = task.graph.comm
    whole = collected(task.weighted, *task.size)
    terms = task.terms  # what it raises, all do

    def blocks() -> Part:
        if whole is None:
            return np.empty(0, np.int32)
        raw = divide(whole, terms, task.options, "evener")
        return enforced(whole, raw.part, terms, task.options).partition.part

    part = agreed(comm, blocks, named=False)
    return scattered(comm, part, np.array(comm.allgather(task.graph.n_own)))

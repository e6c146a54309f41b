"""Blocks of graphs of uneven degrees in slices."""

from __future__ import annotations

from collections.abc import Callable

from evener.arrays import Part
from evener.planning.slice_blocks import SlicesToDivide
from evener.plans.partition import Contract
from evener.sliced.degrees import SliceDegrees
from evener.sliced.uneven import BlockMemory
from evener.sliced.uneven_ways import blocks_of_uneven


def uneven_way(task: SlicesToDivide) -> Callable[[Contract], Part]:
    """Return what makes blocks (n_own,) of a graph of uneven degrees within limits on weights.

    All processes call, and call what is returned. A graph that one process can hold is divided
    there, within its contract: its blocks are those of the graph in memory.
    """
    if task.is_held_by_one:
        return lambda _: task.blocks_by_one()
    degrees = SliceDegrees.read(task.weighted)
    memory = BlockMemory(*task.size)
    return lambda limits: blocks_of_uneven(task.weighted, limits, degrees, task.sliced, memory)

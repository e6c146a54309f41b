"""Our plan for seconds in the place of a policy of [Guo16]_, by the same r and the same memory.

A vertex weighs as much as its arcs and the arcs that passing it is worth on a GPU; a GPU is r times
as fast as a CPU, with the r that the policies get. Links are those of the emulated machines. Where
the messages of a block overflow a GPU, which a plan does not count, it gets less, and the plan is
made again.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evener.arrays import FloatArray
from evener.errors import InfeasibleError
from evener.graphs.directed import DirectedGraph
from evener.partitioning.policies.families import PolicyBlocks
from evener.partitioning.policies.footprint import Footprint
from evener.partitioning.policies.machines import machines_of
from evener.planning.options import PlanOptions
from evener.planning.plan import plan
from evener.plans.workload import Workload
from evener.platforms.platform import Platform

OWN = "plan"  # its name beside the policies'
BYTES_PER_VALUE = 4.0  # of PageRank's messages
ROUNDS = 12  # plans at most; each gives GPUs that are too full less
LESS = 0.97  # of the part of the memory at which a GPU would be full
OPTIONS = PlanOptions(
    preset="fast",
    objective="seconds",
    workload=Workload("pagerank", bytes_per_value=BYTES_PER_VALUE),
)


def own_blocks(
    graph: DirectedGraph, platform: Platform, ratio: float, footprint: Footprint
) -> PolicyBlocks:
    """Return the blocks of our plan for seconds, one on each device.

    Raises InfeasibleError where no plan of ROUNDS fits the GPUs, messages counted.
    """
    is_gpu = machines_of(platform).gpu
    passing = max(device.capabilities.get("vertex_arcs", 0.0) for device in platform.devices
                  if device.kind != "cpu")  # fmt: skip
    edges = graph.undirected()
    weighted = replace(edges, vwgt=np.rint(graph.degrees + passing).astype(np.int64))
    limits = np.full(platform.k, np.inf)
    for _ in range(ROUNDS):
        part = plan(weighted, _planned(platform, ratio, limits), OPTIONS).partition
        n_bytes = footprint.of_blocks(graph, part.part, part.k)
        over = is_gpu & (n_bytes > platform.memories)
        if not over.any():
            left = np.where(is_gpu, 1 - n_bytes / platform.memories, np.nan)
            return PolicyBlocks(part, None, (ratio,), n_bytes, left)
        loads = np.bincount(part.part, weights=weighted.weights(), minlength=part.k)
        fitting = loads * platform.memories / n_bytes * LESS
        limits = np.where(over, np.minimum(limits, fitting), limits)
    raise InfeasibleError(f"no plan of {ROUNDS} fits the memory of all GPUs, messages counted")


def _planned(platform: Platform, ratio: float, limits: FloatArray) -> Platform:
    """Return the platform with CPUs `ratio` times as slow as GPUs, and limits of weight."""
    fastest = max(device.speed for device in platform.devices)
    devices = [
        replace(
            device,
            speed=fastest / (ratio if device.kind == "cpu" else 1.0),
            memory=None,
            memory_units=float(limit) if np.isfinite(limit) else None,
            capabilities={},
        )
        for device, limit in zip(platform.devices, limits, strict=True)
    ]
    return replace(platform, devices=tuple(devices))

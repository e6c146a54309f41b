"""Several weights a vertex: what a level carries of them, and the limits of every block."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evener.arrays import FloatArray, Part
from evener.errors import InputError
from evener.graphs.graph import Graph
from evener.partitioning.levels.levels import Level, Shrunk, shrink
from evener.partitioning.multiconstraint import multiconstraint_kernels as kernels
from evener.plans.partition import RELATIVE_SLACK, Contract


@dataclass(eq=False)
class Loaded:
    """A level whose vertices weigh loads (n, c); its own vwgt (n,) is their mean share."""

    level: Level
    loads: FloatArray

    @property
    def n(self) -> int:
        """Number of vertices."""
        return self.level.n

    def weight(self, part: Part, k: int) -> FloatArray:
        """(k, c) what the blocks weigh."""
        weight = np.zeros((k, self.loads.shape[1]))
        kernels.sum_loads(part, self.loads, weight)
        return weight

    def shrunk(self, part: Part, caps: FloatArray, threads: int) -> tuple[Loaded, Shrunk]:
        """Return the level of clusters of mean shares up to caps, as `levels.shrink`."""
        smaller = shrink(self.level, part, caps, threads)
        loads = np.zeros((smaller.level.n, self.loads.shape[1]))
        kernels.sum_loads(smaller.coarse_of, self.loads, loads)
        return Loaded(smaller.level, loads), smaller


@dataclass(eq=False)
class Bounds:
    """Limits (k, c) in the units of the loads, a hair wider than the contract's.

    targets (k, c); scale (k, c): one over what a block's weight is relative to. cost (k, c): what
    a weight off its limits counts, squared. The first `asked` columns have targets; the others,
    bytes and the number of vertices, only limits.
    """

    targets: FloatArray
    low: FloatArray
    high: FloatArray
    scale: FloatArray
    cost: FloatArray
    asked: int

    @property
    def k(self) -> int:
        """Number of blocks."""
        return len(self.targets)

    def inner(self, share: float) -> tuple[FloatArray, FloatArray]:
        """Limits moved this share of the way to the targets, where there are any."""
        low, high, a = self.low.copy(), self.high.copy(), self.asked
        target = np.clip(self.targets[:, :a], low[:, :a], high[:, :a])
        low[:, :a] += share * (target - low[:, :a])
        high[:, :a] -= share * (high[:, :a] - target)
        return low, high

    def widened(self, more: float) -> Bounds:
        """Return bounds that leave this much more room, in targets, where there are any."""
        low, high, a = self.low.copy(), self.high.copy(), self.asked
        low[:, :a] -= more * self.targets[:, :a]
        high[:, :a] += more * self.targets[:, :a]
        return Bounds(self.targets, low, high, self.scale, self.cost, a)

    def soft(self, slack: float, heaviest: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Limits that a search may reach on its way; heaviest (c,) [units]."""
        room = np.maximum(slack * self.targets, heaviest)
        return self.low - room, self.high + room

    def off(self, weight: FloatArray) -> FloatArray:
        """(k, c) how far blocks of these weights are outside their limits, in targets."""
        over = np.maximum(np.maximum(self.low - weight, weight - self.high), 0.0)
        return np.asarray(over * self.scale)


def loads_of(graph: Graph, contract: Contract) -> tuple[FloatArray, Bounds]:
    """Return the loads (n, c') of every vertex and the limits of every block.

    The columns are the contract's weights; then, where some device's memory is limited, bytes,
    and, where a block could keep its lows without any vertex, the number of vertices.
    Raises InputError where graph and contract disagree on the number of weights.
    """
    c = 1 + len(contract.further)
    if graph.n_constraints != c:
        raise InputError(f"the graph has {graph.n_constraints} weights a vertex, the contract {c}")
    columns = [np.asarray(graph.weights(i), np.float64) for i in range(c)]
    targets, low, high = contract.table("targets"), contract.table("low"), contract.table("high")
    low = low - RELATIVE_SLACK / 2 * np.abs(targets)
    high = high + RELATIVE_SLACK / 2 * np.abs(targets)
    none = np.zeros((contract.k, 1))
    if np.isfinite(contract.caps).any():
        columns.append(graph.vertex_bytes())
        cap = contract.caps[:, None] * (1 + RELATIVE_SLACK / 2)
        share = np.where(np.isfinite(cap), cap, 0.0)
        targets, low, high = (
            np.hstack(pair) for pair in ((targets, share), (low, none), (high, cap))
        )
    if (contract.table("low").max(axis=1) <= 0).any():
        columns.append(np.ones(graph.n))
        targets, low, high = (
            np.hstack(pair)
            for pair in ((targets, none + 1), (low, none + 1), (high, none + np.inf))
        )
    loads = np.ascontiguousarray(np.stack(columns, axis=1))
    # Powers of two change no digit, and squares of what is near 1 do not overflow.
    unit = 2.0 ** np.floor(np.log2(np.maximum(loads.max(axis=0), 1e-300)))
    loads /= unit
    return loads, bounds_between(targets / unit, low / unit, high / unit, loads, c)


def bounds_between(
    targets: FloatArray, low: FloatArray, high: FloatArray, loads: FloatArray, asked: int
) -> Bounds:
    """Return the bounds of these limits (k, c) for vertices of these loads (n, c)."""
    scale = 1 / np.maximum(targets, np.maximum(targets.max(axis=0), 1e-140) * 1e-9)
    cost = scale / np.maximum(loads.sum(axis=0), 1e-140)
    return Bounds(targets, low, high, scale, cost, asked)


def mean_shares(loads: FloatArray) -> FloatArray:
    """(n,) the mean over the columns of each vertex's share of all weight, n in sum."""
    total = np.maximum(loads.sum(axis=0), 1e-300)
    return np.asarray((loads / total).mean(axis=1) * len(loads))


def target_shares(bounds: Bounds) -> FloatArray:
    """(k, asked) the blocks' targets as shares of what all blocks should have."""
    targets = bounds.targets[:, : bounds.asked]
    return np.asarray(targets / np.maximum(targets.sum(axis=0), 1e-300))

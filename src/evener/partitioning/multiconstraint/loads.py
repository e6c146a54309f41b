"""Vertices with several weights: the weights of a level (Loaded), and all limits (LoadBounds)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evener.arrays import FloatArray, Part
from evener.errors import InputError
from evener.graphs.graph import Graph
from evener.partitioning.levels.levels import GraphLevel, Hierarchy, Shrunk
from evener.partitioning.multiconstraint import multiconstraint_kernels as kernels
from evener.partitioning.multiconstraint.multiconstraint_kernels import LoadLimits
from evener.plans.partition import RELATIVE_SLACK, Contract


@dataclass(eq=False)
class Loaded:
    """A level whose vertices have several weights, `loads` (n, c).

    The level's vwgt (n,) is the mean of each vertex's shares of these weights; see `mean_shares`.
    """

    level: GraphLevel
    loads: FloatArray

    @property
    def n(self) -> int:
        """Number of vertices."""
        return self.level.n

    @property
    def heaviest(self) -> FloatArray:
        """Largest value (c,) of each weight over the vertices that may move; 0 without any."""
        fixed = self.level.fixed
        loads = np.delete(self.loads, fixed, axis=0) if fixed.size else self.loads
        return np.asarray(loads.max(axis=0, initial=0.0))

    def weight(self, part: Part, k: int) -> FloatArray:
        """Return the weights (k, c) of the blocks of `part` (n,)."""
        weight = np.zeros((k, self.loads.shape[1]))
        kernels.sum_loads(part, self.loads, weight)
        return weight

    def coarser(self, shrunk: Shrunk) -> Loaded:
        """Return the next coarser level with the loads of its vertices."""
        loads = np.zeros((shrunk.level.n, self.loads.shape[1]))
        kernels.sum_loads(shrunk.coarse_of, self.loads, loads)
        return Loaded(shrunk.level, loads)


def with_loads(loaded: Loaded, hierarchy: Hierarchy) -> tuple[list[tuple[Loaded, Shrunk]], Loaded]:
    """Return the levels of a hierarchy with loads: like Hierarchy.above, and the coarsest."""
    above = []
    for _, shrunk in hierarchy.above:
        above.append((loaded, shrunk))
        loaded = loaded.coarser(shrunk)
    return above, loaded


@dataclass(eq=False)
class LoadBounds:
    """Targets and limits of the blocks' weights, arrays (k, c) in the units of the loads.

    low, high: the limits, wider than the contract's by RELATIVE_SLACK / 2. scale: 1 / target, or a
    large number if the target is 0. cost: factor of the squared distance from a limit in the sum
    that `balance` minimises. The first `asked` columns have targets; the others, for bytes and the
    number of vertices, have only limits.
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

    @property
    def limits(self) -> LoadLimits:
        """The limits in the form for kernels."""
        return LoadLimits(self.low, self.high)

    def inner(self, share: float) -> LoadLimits:
        """Return the limits, moved by the fraction `share` toward targets, if there are any."""
        low, high, a = self.low.copy(), self.high.copy(), self.asked
        target = np.clip(self.targets[:, :a], low[:, :a], high[:, :a])
        low[:, :a] += share * (target - low[:, :a])
        high[:, :a] -= share * (high[:, :a] - target)
        return LoadLimits(low, high)

    def widened(self, more: float) -> LoadBounds:
        """Return the bounds, widened by `more` x target in columns that have targets."""
        low, high, a = self.low.copy(), self.high.copy(), self.asked
        low[:, :a] -= more * self.targets[:, :a]
        high[:, :a] += more * self.targets[:, :a]
        return LoadBounds(self.targets, low, high, self.scale, self.cost, a)

    def soft(self, slack: float, heaviest: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the limits (low, high) that a search must satisfy at every step.

        They are wider by slack x target, or by the heaviest vertex (c,) if that is more.
        """
        room = np.maximum(slack * self.targets, heaviest)
        return self.low - room, self.high + room

    def off(self, weight: FloatArray) -> FloatArray:
        """Return by how much weights (k, c) violate the limits, in units of the targets (k, c)."""
        over = np.maximum(np.maximum(self.low - weight, weight - self.high), 0.0)
        return np.asarray(over * self.scale)


def loads_of(graph: Graph, contract: Contract) -> tuple[FloatArray, LoadBounds]:
    """Return the loads (n, c') of every vertex and the limits of every block.

    The columns are the contract's weights; then bytes, if a device's memory is limited; then the
    number of vertices, if an empty block could satisfy its lower limits. Raises InputError if graph
    and contract have different numbers of weights.
    """
    c = 1 + len(contract.further)
    if graph.n_constraints != c:
        raise InputError(
            f"the graph has {graph.n_constraints} weights per vertex, but the contract has {c}"
        )
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
    # Scale by powers of two, which changes no digit, so that squares do not overflow.
    unit = 2.0 ** np.floor(np.log2(np.maximum(loads.max(axis=0), 1e-300)))
    loads /= unit
    return loads, bounds_between(targets / unit, low / unit, high / unit, loads, c)


def bounds_between(
    targets: FloatArray, low: FloatArray, high: FloatArray, loads: FloatArray, asked: int
) -> LoadBounds:
    """Return the LoadBounds with these limits (k, c), for vertices with loads (n, c)."""
    scale = 1 / np.maximum(targets, np.maximum(targets.max(axis=0), 1e-140) * 1e-9)
    cost = scale / np.maximum(loads.sum(axis=0), 1e-140)
    return LoadBounds(targets, low, high, scale, cost, asked)


def mean_shares(loads: FloatArray) -> FloatArray:
    """Return for each vertex (n,) the mean of its shares of all weights, scaled to the sum n."""
    total = np.maximum(loads.sum(axis=0), 1e-300)
    return np.asarray((loads / total).mean(axis=1) * len(loads))


def target_shares(bounds: LoadBounds) -> FloatArray:
    """Return the blocks' targets (k, asked), divided by the sum over all blocks."""
    targets = bounds.targets[:, : bounds.asked]
    return np.asarray(targets / np.maximum(targets.sum(axis=0), 1e-300))

"""What a repair works on: the graph's arrays, the limits, and running totals of every block."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray, IntVector, NumberArray
from evener.graphs.graph import Graph
from evener.partitioning.repair import enforce_kernels as kernels
from evener.plans.partition import RELATIVE_SLACK, Contract, Partition

MAX_WHOLE = 2.0**63  # beyond, an int64 does not hold a float's whole number


@dataclass(eq=False)
class State:
    """A partition being repaired: arrays a kernel takes as they are, changed in place.

    part (n,) int32; weights, n_bytes (n,); low, high, caps, scale (k,): limits a hair wider than
    the contract's, so that sums of real weights in any order agree; weight, size, memory (k,).
    """

    graph: Graph
    contract: Contract
    part: npt.NDArray[np.int32]
    weights: FloatArray
    n_bytes: FloatArray
    adjwgt: FloatArray
    low: FloatArray
    high: FloatArray
    caps: FloatArray
    scale: FloatArray
    weight: FloatArray
    size: IntVector
    memory: FloatArray

    @classmethod
    def of(cls, graph: Graph, partition: Partition, contract: Contract, constraint: int) -> State:
        """Copy the partition and sum up its blocks."""
        k = contract.k
        slack = RELATIVE_SLACK / 2 * np.abs(contract.targets)
        capped = bool(np.isfinite(contract.caps).any())
        no_weights = np.empty(0, np.float64)
        given = graph.weights(constraint)
        weights = given.astype(np.float64)
        low, high = _reachable(given, contract.low - slack, contract.high + slack)
        state = cls(
            graph=graph,
            contract=contract,
            part=partition.part.copy(),
            weights=weights,
            n_bytes=graph.vertex_bytes() if capped else np.zeros(graph.n),
            adjwgt=no_weights if graph.adjwgt is None else graph.adjwgt.astype(np.float64),
            low=low,
            high=high,
            caps=contract.caps * (1 + RELATIVE_SLACK / 2),
            scale=np.maximum(contract.targets, max(float(contract.targets.max()), 1e-300) * 1e-9),
            weight=np.empty(k),
            size=np.empty(k, np.int64),
            memory=np.empty(k),
        )
        state.sum_up()
        return state

    @property
    def k(self) -> int:
        """Number of blocks."""
        return self.contract.k

    @property
    def csr(self) -> tuple[IntArray, IntArray, FloatArray]:
        """The graph as kernels take it: xadj, adjncy, edge weights (empty where all are 1)."""
        return self.graph.xadj, self.graph.adjncy, self.adjwgt

    def sum_up(self) -> None:
        """Recompute the blocks' totals from the partition."""
        kernels.block_totals(
            self.part, self.weights, self.n_bytes, self.weight, self.size, self.memory
        )

    def move(self, v: int, b: int) -> None:
        """Move one vertex and keep the totals right."""
        a = int(self.part[v])
        self.part[v] = b
        for totals, amount in ((self.weight, self.weights[v]), (self.memory, self.n_bytes[v])):
            totals[a] -= amount
            totals[b] += amount
        self.size[a] -= 1
        self.size[b] += 1

    def violations(self) -> FloatArray:
        """(k,) how far each block is outside its contract, relative to its target; 1 if empty."""
        off = np.maximum(np.maximum(self.low - self.weight, self.weight - self.high), 0)
        with np.errstate(over="ignore"):
            over = np.maximum(self.memory / self.caps - 1, 0)
        return np.asarray(off / self.scale + over + (self.size == 0), np.float64)

    def holds(self) -> bool:
        """Whether every block keeps its contract."""
        return not self.violations().any()


def _reachable(
    weights: NumberArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Narrow the limits to multiples of what divides every weight: no block weighs anything else.

    Real weights are left alone unless they are all the same.
    """
    lightest = float(weights.min()) if weights.size else 0.0
    low = np.maximum(low, lightest * (1 - RELATIVE_SLACK / 4))
    unit = _divisor(weights)
    if unit == 0:
        return low, high
    # A hair, so that rounding does not cost a multiple; within the slack that is given anyway.
    hair = RELATIVE_SLACK / 8
    lowest = np.ceil(low / unit * (1 - hair)) * unit
    highest = np.floor(high / unit * (1 + hair)) * unit
    few = RELATIVE_SLACK / 4
    return np.maximum(lowest * (1 - few), low), np.minimum(highest * (1 + few), high)


def _divisor(weights: NumberArray) -> float:
    """Return the greatest number of which all weights are multiples, 0 where none is known.

    Whole numbers are divided as such: beyond 2^53 a float would change them, and what divides them.
    """
    largest = weights.max(initial=0)
    if largest == 0 or weights.min() == largest:
        return float(largest)
    if weights.dtype.kind == "f":
        if largest >= MAX_WHOLE or not (weights == np.rint(weights)).all():
            return 0.0
        weights = weights.astype(np.int64)
    return float(np.gcd.reduce(weights))

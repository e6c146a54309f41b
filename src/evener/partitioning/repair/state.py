"""State: the partition that a repair changes, with the limits and current totals of its blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from evener.arrays import NO_VERTICES, BoolArray, FloatArray, IntVector, NumberArray, flags_of
from evener.graphs.graph import Graph
from evener.partitioning.levels.csr_kernels import CSRGraph
from evener.partitioning.repair import block_kernels as kernels
from evener.partitioning.repair.block_kernels import BlockTotals, ContractLimits
from evener.plans.partition import RELATIVE_SLACK, Contract, Partition

REPAIR_SEED = 20_613  # arbitrary, but constant, so that repairs are deterministic
# A repair that moves more than this fraction of the vertices leaves small pieces and ragged
# borders, so steps that remove these follow.
MANY_MOVED = 0.02
Number = TypeVar("Number", bound=np.integer[Any])
INT64_END = 2.0**63  # floats from this one on do not fit int64


@dataclass(eq=False)
class State:
    """A partition being repaired, changed in place.

    part (n,) int32: the block of every vertex. weights [units], n_bytes [B] (n,): of the vertices.
    low, high, caps, scale (k,): see ContractLimits. The limits are wider than the contract's by
    RELATIVE_SLACK / 2, so that the order in which real weights are added does not matter; low and
    high are then narrowed to weights that blocks can have. weight, size, memory (k,) and fixed: see
    BlockTotals. held (k,): the weight of each block's fixed vertices. adjwgt: edge weights, empty
    if all are 1.
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
    fixed: BoolArray
    held: FloatArray

    @classmethod
    def of(
        cls,
        graph: Graph,
        partition: Partition,
        contract: Contract,
        constraint: int,
        fixed: IntVector = NO_VERTICES,
    ) -> State:
        """Copy the partition and compute the totals of its blocks.

        constraint: index of the vertex weight that the contract limits. fixed: the vertices that
        must not move.
        """
        k = contract.k
        slack = RELATIVE_SLACK / 2 * np.abs(contract.targets)
        capped = bool(np.isfinite(contract.caps).any())
        no_weights = np.empty(0, np.float64)
        given = graph.weights(constraint)
        weights = given.astype(np.float64)
        flags = flags_of(fixed, graph.n if fixed.size else 0)
        own = partition.part[fixed]
        held = np.bincount(own, weights[fixed], k).astype(np.float64)
        low, high = _reachable(
            given[~flags] if fixed.size else given, np.bincount(own, minlength=k) == 0, held,
            contract.low - slack, contract.high + slack,
        )  # fmt: skip
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
            fixed=flags,
            held=held,
        )
        state.sum_up()
        return state

    @property
    def k(self) -> int:
        """Number of blocks."""
        return self.contract.k

    @property
    def csr(self) -> CSRGraph:
        """The graph in the form for kernels, with the vertex weight that is balanced."""
        return CSRGraph(self.graph.xadj, self.graph.adjncy, self.adjwgt, self.weights)

    @property
    def limits(self) -> ContractLimits:
        """The limits in the form for kernels."""
        return ContractLimits(self.low, self.high, self.caps, self.scale)

    @property
    def blocks(self) -> BlockTotals:
        """The partition and its totals in the form for kernels."""
        return BlockTotals(self.part, self.weight, self.size, self.memory, self.fixed)

    @property
    def free(self) -> IntVector:
        """The vertices that are not fixed, ascending."""
        return np.flatnonzero(~self.fixed) if self.fixed.size else np.arange(self.graph.n)

    def may_move(self, vertices: npt.NDArray[Number]) -> npt.NDArray[Number]:
        """Return the entries of `vertices` that are not fixed."""
        return vertices[~self.fixed[vertices]] if self.fixed.size else vertices

    def sum_up(self) -> None:
        """Recompute the blocks' totals from the partition."""
        kernels.sum_up(self.blocks, self.weights, self.n_bytes)

    def sum_up_fixed(self) -> None:
        """Set the blocks' totals to those of their fixed vertices only."""
        for totals, amounts in (
            (self.weight, self.weights), (self.memory, self.n_bytes), (self.size, None)
        ):  # fmt: skip
            own = np.flatnonzero(self.fixed)
            weights = None if amounts is None else amounts[own]
            totals[:] = np.bincount(self.part[own], weights, self.k)

    def move(self, v: int, b: int) -> None:
        """Move vertex v to block b and update the totals."""
        a = int(self.part[v])
        self.part[v] = b
        for totals, amount in ((self.weight, self.weights[v]), (self.memory, self.n_bytes[v])):
            totals[a] -= amount
            totals[b] += amount
        self.size[a] -= 1
        self.size[b] += 1

    def violations(self) -> FloatArray:
        """Return by how much each block (k,) violates its contract.

        This is the distance of its weight from the limits, relative to its target, plus the excess
        of its bytes, relative to its cap, plus 1 if the block is empty.
        """
        off = np.maximum(np.maximum(self.low - self.weight, self.weight - self.high), 0)
        with np.errstate(over="ignore"):
            over = np.maximum(self.memory / self.caps - 1, 0)
        return np.asarray(off / self.scale + over + (self.size == 0), np.float64)

    def holds(self) -> bool:
        """Return whether every block satisfies its contract."""
        return not self.violations().any()


def _reachable(
    weights: NumberArray, empty: BoolArray, held: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the limits, narrowed to multiples of the greatest common divisor of all weights.

    Blocks can only have such weights (plus the weight of fixed vertices). For real weights that
    differ, no divisor is known. Each low is also at least the weight of one vertex, as blocks must
    not be empty. weights: of the vertices that may move. empty (k,): whether a block has no fixed
    vertices; held (k,): the weight of its fixed vertices.
    """
    lightest = float(weights.min()) if weights.size else 0.0
    least = np.where(empty, lightest, held)
    low = np.maximum(low, least * (1 - RELATIVE_SLACK / 4))
    if held.any():
        rest = (low - held, high - held)
        free_low, free_high = _multiples(weights, *rest)
        return np.where(rest[0] > 0, free_low + held, low), free_high + held
    return _multiples(weights, low, high)


def _multiples(
    weights: NumberArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the limits, narrowed to multiples of the greatest common divisor of the weights."""
    unit = _divisor(weights)
    if unit == 0:
        return low, high
    # Rounding errors must not lose a multiple; both tolerances are below the slack of the limits.
    of_limits, of_multiples = RELATIVE_SLACK / 8, RELATIVE_SLACK / 4
    lowest = np.ceil(low / unit * (1 - of_limits)) * unit
    highest = np.floor(high / unit * (1 + of_limits)) * unit
    return (
        np.maximum(lowest * (1 - of_multiples), low),
        np.minimum(highest * (1 + of_multiples), high),
    )


def _divisor(weights: NumberArray) -> float:
    """Return the greatest common divisor of all weights, or 0 if none is known.

    Integers are not converted to floats, which may be rounded beyond 2^53.
    """
    largest = weights.max(initial=0)
    if largest == 0 or weights.min() == largest:
        return float(largest)
    if weights.dtype.kind == "f":
        if largest >= INT64_END or not (weights == np.rint(weights)).all():
            return 0.0
        weights = weights.astype(np.int64)
    return float(np.gcd.reduce(weights))

"""Request: the input of every partitioner besides the graph; and checks of its options."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, as_numbers
from evener.errors import UsageError, one_of
from evener.graphs.graph import Graph
from evener.partitioning.initial.trees import Tree, as_tree
from evener.plans.partition import Contract, Further
from evener.sizing.rounding import limits

PRESETS = ("fast", "default", "strong")
OBJECTIVES = ("cut", "total_volume", "max_volume")


def check_options(objective: str, preset: str, seed: int, threads: int) -> None:
    """Raise UsageError for an unknown objective or preset, or a number out of range."""
    one_of("objective", objective, OBJECTIVES)
    one_of("preset", preset, PRESETS)
    if seed < 0 or threads < 1:
        raise UsageError("the seed must not be negative, and threads must be at least 1")


@dataclass(frozen=True)
class Request:
    """The targets, limits and options that a partitioner must satisfy.

    targets (k,) [units]: only their proportions matter; a block with target 0 stays empty. epsilon:
    the largest relative excess of a block over its target. low, high (k,) [units]: the limits of
    the contract, for tools that respect both; None: target x (1 -+ epsilon). further: targets and
    limits of the second and later vertex weights; if empty, the proportions of `targets` and
    epsilon apply to these too. tree (depth, k): the hierarchy of the devices, see
    `initial.trees`, or None. time_limit [s]: wall time for tools that run in a child process.
    """

    targets: FloatArray
    epsilon: float = 0.03
    seed: int = 7
    threads: int = 1
    objective: str = "cut"
    preset: str = "default"
    time_limit: float | None = 600.0
    low: FloatArray | None = None
    high: FloatArray | None = None
    tree: Tree | None = None
    further: tuple[Further, ...] = ()

    def __post_init__(self) -> None:
        targets = as_numbers(self.targets, "targets")
        object.__setattr__(self, "targets", targets)
        if targets.size == 0 or targets.min() < 0 or not targets.sum() > 0:
            raise UsageError("targets must not be negative, and at least one must be above zero")
        if not 0 <= self.epsilon < np.inf:
            raise UsageError(f"epsilon must not be negative, but is {self.epsilon}")
        if self.time_limit is not None and not self.time_limit > 0:
            raise UsageError(f"the time limit must be above zero, but is {self.time_limit} s")
        if self.tree is not None:
            object.__setattr__(self, "tree", as_tree(self.tree, targets.size))
        check_options(self.objective, self.preset, self.seed, self.threads)

    @property
    def k(self) -> int:
        """Number of blocks."""
        return int(self.targets.size)

    def of_blocks(self, used: npt.NDArray[np.int64]) -> Request:
        """Return the request restricted to the blocks with these numbers."""
        low = None if self.low is None else self.low[used]
        high = None if self.high is None else self.high[used]
        tree = None if self.tree is None else self.tree[:, used]
        further = tuple(
            replace(one, targets=one.targets[used], low=one.low[used], high=one.high[used])
            for one in self.further
        )
        return replace(
            self, targets=self.targets[used], low=low, high=high, tree=tree, further=further
        )

    def contract(self, graph: Graph) -> Contract:
        """Return the contract that is requested for `graph`, with limits on each vertex weight."""
        low, high = self.low, self.high
        if low is None or high is None:
            low, high = self._limits(graph, 0)
        further = self.further or tuple(
            Further(self._targets(graph, i), *self._limits(graph, i))
            for i in range(1, graph.n_constraints)
        )
        return Contract(self._targets(graph, 0), low, high, further=further)

    def _targets(self, graph: Graph, i: int) -> FloatArray:
        """Return the targets (k,) [units], scaled to the sum of vertex weight i."""
        scale = float(graph.weights(i).sum()) / self.targets.sum()
        return np.asarray(self.targets * scale, np.float64)

    def _limits(self, graph: Graph, i: int) -> tuple[FloatArray, FloatArray]:
        """Return the limits low and high (k,) on vertex weight i that follow from epsilon."""
        weights, unlimited = graph.weights(i), np.full(self.k, np.inf)
        whole = bool(((weights == 0) | (weights == 1)).all())
        return limits(self._targets(graph, i), self.epsilon, unlimited, whole=whole)

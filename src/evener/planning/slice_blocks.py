"""What plans of graphs in slices have in common: a task, its counts, blocks within memories."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evener.arrays import BoolArray, FloatArray, IntVector, Part
from evener.planning.options import PlanOptions
from evener.planning.steps import PlanTerms
from evener.plans.partition import Mapping as BlockMapping
from evener.plans.plan import Evaluation, Stage
from evener.plans.recount import BlockCounts
from evener.platforms.platform import Platform
from evener.sizing import at_sizes
from evener.sizing.contracts import contract_of_facts
from evener.sliced.blocks import SlicedOptions
from evener.sliced.facts import SlicedFacts, VertexBytes, weighted_slices
from evener.sliced.gathering import raised_everywhere
from evener.sliced.reading import WatchedGraph
from evener.sliced.recounting import VertexCosts, recounted_in_slices
from evener.sliced.rows import SlicedGraph

# Share of a memory that is left free at first, as bytes differ from block to block at the same
# weight; and what is left free beyond that where a block was too large nevertheless.
MARGIN, NEXT_MARGIN = 0.005, 0.002
TRIES = 3

Divide = Callable[[FloatArray, float], Part]  # (bytes a unit (k,), margin) -> blocks (n_own,)


@dataclass(frozen=True, eq=False)
class DividedSlices:
    """The blocks (n_own,) of this process, and what the plan says of all; as of Plan.

    stages: plans whose seconds were counted, the chosen one last; none for least cut.
    """

    blocks: Part
    judged: Evaluation
    platform: Platform
    sizes: IntVector | FloatArray
    saturated: BoolArray
    notes: tuple[str, ...]
    mapping: BlockMapping | None = None
    stages: tuple[Stage, ...] = ()


@dataclass(frozen=True, eq=False)
class SlicesToDivide:
    """A graph in slices that is to be divided over a platform.

    uneven: whether degrees differ much, as in R-MAT graphs.
    """

    graph: WatchedGraph
    platform: Platform
    options: PlanOptions
    sliced: SlicedOptions
    size: VertexBytes
    facts: SlicedFacts
    uneven: bool

    @cached_property
    def terms(self) -> PlanTerms:
        """Contract, sizes, and the platform with the speeds that devices have at these sizes."""
        epsilon, method = self.options.epsilon, self.options.sizing
        with raised_everywhere():
            contract, sizes = contract_of_facts(self.facts.load, self.platform, epsilon, method)
        return PlanTerms(contract, sizes, at_sizes(self.platform, sizes))

    @property
    def weighted(self) -> SlicedGraph:
        """The graph with the workload's work as weights."""
        return weighted_slices(self.graph, self.options.workload, self.facts.total_weight)

    def counted(self, blocks: Part) -> BlockCounts:
        """Return the counts of the blocks (n_own,); all processes call."""
        self.graph.step("certifying")
        costs = VertexCosts(self.options.workload, self.size.vertex, self.size.entry)
        return recounted_in_slices(self.graph, blocks, self.platform.k, costs)

    def within_memory(self, divide: Divide) -> tuple[Part, BlockCounts]:
        """Return blocks within their limits, and their counts.

        More memory is left free where blocks turned out too large. The last blocks are returned,
        whether they keep the contract or not.
        """
        load, caps = self.facts.load, self.platform.memories
        density, margin = np.full(caps.size, load.total_bytes / load.load), MARGIN
        for _ in range(TRIES):
            self.graph.step("dividing")
            blocks = divide(density, margin)
            counts = self.counted(blocks)
            over = counts.bytes > caps
            if not over.any():
                break
            weights = np.maximum(counts.weights[:, 0], 1e-300)
            density = np.where(over, np.maximum(counts.bytes / weights, density), density)
            margin += NEXT_MARGIN
        return blocks, counts

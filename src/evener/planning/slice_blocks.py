"""Shared code of plans of graphs in slices: a task, its counts, blocks within memories.

A division slice by slice only supports limits on weights. A device's memory is converted to such a
limit by the mean bytes per unit of work; if blocks still exceed their memory, the graph is divided
again with lower limits. If that fails, and one process can hold the graph, that process divides it
within limits on bytes; it does so at once for least seconds, and for graphs of uneven degrees.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import BoolArray, FloatArray, IntVector, Part
from evener.errors import EvenerError, InfeasibleError, MemoryShortError, NotFoundError
from evener.graphs.graph import Graph
from evener.graphs.lists import BYTES_PER_EDGE, BYTES_PER_VERTEX
from evener.partitioning.tools import SLICED_TOOLS
from evener.planning.makespan.search import solve_seconds
from evener.planning.options import PlanOptions
from evener.planning.steps import PlanTerms, divide, enforced
from evener.plans.counts import BlockCounts
from evener.plans.partition import Mapping as BlockMapping
from evener.plans.plan import Evaluation, Stage
from evener.platforms.platform import Platform
from evener.sizing.contracts import contract_of_facts
from evener.sizing.curved import at_sizes
from evener.sliced.blocks import SlicedOptions
from evener.sliced.facts import SlicedFacts, VertexBytes, weighted_slices
from evener.sliced.gathering import agreed, gathered, raised_everywhere, scattered
from evener.sliced.memory import most_whole
from evener.sliced.reading import WatchedGraph
from evener.sliced.recounting import recounted_in_slices
from evener.sliced.rows import SlicedGraph

# Share of a memory that is left free at first, as bytes differ from block to block at the same
# weight; and what is left free beyond that where a block was too large nevertheless.
MARGIN, NEXT_MARGIN = 0.005, 0.002
TRIES = 3

Divide = Callable[[FloatArray, float], Part]  # (bytes a unit (k,), margin) -> blocks (n_own,)


@dataclass(frozen=True, eq=False)
class DividedSlices:
    """The blocks (n_own,) of this process, and the plan's figures of all blocks; see Plan.

    stages: plans whose seconds were counted, the chosen one last; empty for least cut.
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
        """Contract, sizes, and the platform with the devices' speeds at these sizes."""
        epsilon, method = self.options.epsilon, self.options.sizing
        with raised_everywhere():
            contract, sizes = contract_of_facts(self.facts.load, self.platform, epsilon, method)
        return PlanTerms(contract, sizes, at_sizes(self.platform, sizes))

    @property
    def weighted(self) -> SlicedGraph:
        """The graph with the workload's work as weights."""
        return weighted_slices(self.graph, self.options.workload, self.facts.total_weight)

    def counted(self, blocks: Part) -> BlockCounts:
        """Return the counts of the blocks (n_own,). Collective."""
        self.graph.step("certifying")
        workload, k = self.options.workload, self.platform.k
        return recounted_in_slices(self.graph, blocks, k, workload, self.size)

    def within_memory(self, divide: Divide) -> tuple[Part, BlockCounts]:
        """Return blocks within their memory limits, and their counts.

        `divide` is called again with a larger margin if blocks turn out too large. The last blocks
        are returned even if they violate the contract. Raises the errors of `divide`.
        """
        load, caps = self.facts.load, self.platform.memories
        density, margin = np.full(caps.size, load.total_bytes / load.load), MARGIN
        for turn in range(TRIES):
            self.graph.step("dividing")
            try:
                blocks = divide(density, margin)
            except MemoryShortError:
                raise
            except (InfeasibleError, NotFoundError) as error:
                if not self._is_capped:
                    raise
                if self.may_be_whole:
                    break
                raise _by_mean_bytes(error) from error
            counts = self.counted(blocks)
            over = counts.bytes > caps
            if not over.any() or (turn == TRIES - 1 and not self.may_be_whole):
                return blocks, counts
            weights = np.maximum(counts.weights[:, 0], 1e-300)
            density = np.where(over, np.maximum(counts.bytes / weights, density), density)
            margin += NEXT_MARGIN
        blocks, _ = self.blocks_by_one()
        return blocks, self.counted(blocks)

    @property
    def _is_capped(self) -> bool:
        return bool(np.isfinite(self.platform.memories).any())

    @property
    def may_be_whole(self) -> bool:
        """Whether one process can hold the whole graph, and the tool divides it."""
        return self.is_held_by_one and self.options.tool not in SLICED_TOOLS

    @property
    def is_held_by_one(self) -> bool:
        """Whether one process can hold the whole graph, and divide it."""
        within = self.sliced
        return self.graph.arcs <= min(within.whole, most_whole(within.memory, self.graph.n))

    def blocks_by_one(self) -> tuple[Part, tuple[Stage, ...]]:
        """Divide the whole graph on process 0; return this process's blocks (n_own,) and stages.

        Collective. Raises the errors of `plan` for a graph in memory.
        """
        comm = self.graph.comm
        whole = collected(self.weighted, *self.size)

        def blocks() -> tuple[Part, tuple[Stage, ...]]:
            return (_NO_BLOCKS, ()) if whole is None else self._divided(whole)

        part, stages = agreed(comm, blocks, named=False)
        own = scattered(comm, part, np.array(comm.allgather(self.graph.n_own)))
        return own, comm.bcast(stages)

    def _divided(self, whole: Graph) -> tuple[Part, tuple[Stage, ...]]:
        """Return the blocks (n,) of the whole graph, whose weights are the work, and stages."""
        if self.options.objective == "seconds":
            work = replace(self.options, workload=self.options.workload.without_work())
            # METIS would run in a process of its own, whose memory no limit counts.
            tell = self.graph.tell
            found = solve_seconds(whole, self.platform, work, progress=tell, with_metis=False)
            return found.part, found.stages
        raw = divide(whole, self.terms, self.options, "evener")
        return enforced(whole, raw.part, self.terms, self.options).partition.part, ()


_NO_BLOCKS = np.empty(0, np.int32)


def _by_mean_bytes(error: EvenerError) -> NotFoundError:
    """Return the error if no division is found with memories converted to limits on weights."""
    return NotFoundError(
        f"found no blocks that fit the devices' memories: {error.message}",
        hint="A graph in slices is divided by the mean bytes per unit of work. Increase "
        "--epsilon, or use devices with slightly more memory.",
    )


def collected(
    graph: SlicedGraph,
    bytes_per_vertex: float = BYTES_PER_VERTEX,
    bytes_per_edge: float = BYTES_PER_EDGE,
) -> Graph | None:
    """Return, at process 0, the graph of all slices; None elsewhere. Collective.

    Weights that are integers are converted to an integer type.
    """
    number = np.empty(graph.n_local, np.int32)
    begin = int(graph.ends[graph.own_slices.start])
    number[: graph.n_own] = np.arange(begin, begin + graph.n_own, dtype=np.int32)
    graph.fill(number)
    degrees = _of_all(graph, lambda i: np.diff(graph.rows(i).xadj).astype(np.int32))
    adjncy = _of_all(graph, lambda i: number[graph.rows(i).adjncy])
    vwgt = _of_all(graph, lambda i: graph.rows(i).vwgt)
    adjwgt = _of_all(graph, lambda i: graph.rows(i).adjwgt)
    coords = _of_all(graph, graph.points) if graph.dimension else None
    if graph.comm.rank > 0:
        return None
    xadj = np.zeros(graph.n + 1, np.int64)
    np.cumsum(degrees, out=xadj[1:])
    return Graph(
        xadj, adjncy, _whole(vwgt), _whole(adjwgt), coords, bytes_per_vertex=bytes_per_vertex,
        bytes_per_edge=bytes_per_edge,
    )  # fmt: skip


def _of_all(graph: SlicedGraph, take: Callable[[int], npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Return, at process 0, the concatenation of what `take` returns for the number of a slice."""
    # What is read from a file is written over by what is read next.
    own = np.concatenate([take(i).copy() for i in graph.own_slices])
    return gathered(graph.comm, own)


def _whole(weights: npt.NDArray[np.float64]) -> npt.NDArray[Any] | None:
    if weights.size == 0:
        return None
    return weights.astype(np.int64) if (weights == np.rint(weights)).all() else weights

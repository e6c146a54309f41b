"""Borders between blocks of a graph in slices, vertex by vertex, and the makespan lowered on them.

Seconds on graphs of borders are those of the whole graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from evener.arrays import FloatArray, Part
from evener.errors import MemoryShortError
from evener.graphs.graph import Graph
from evener.planning.makespan.baselines import Baselines, mapped_least_cut
from evener.planning.makespan.candidates import Candidate, CandidateMaker, candidate_of, fastest
from evener.planning.makespan.cluster_refinement import refined_by_clusters
from evener.planning.makespan.improvements import refinements
from evener.planning.makespan.problem import EFFORTS, MakespanProblem
from evener.planning.makespan.search import present
from evener.planning.options import PlanOptions
from evener.planning.steps import PlanTerms
from evener.plans import metrics
from evener.plans.plan import CUT_STAGE, Stage
from evener.plans.workload import Workload
from evener.platforms.platform import Platform
from evener.sliced.blocks import SlicedOptions, SmallGraph
from evener.sliced.border_graph import BorderGraph
from evener.sliced.exchanges import exchanges_of
from evener.sliced.rows import SlicedGraph

# Share of its time that the slowest device exchanges, from which on clusters of vertices move, too.
COSTLY = 0.15


@dataclass(frozen=True, eq=False)
class SlicedTask:
    """What is divided, and over what.

    graph: with the workload's work as weights. platform: without memories, whose limits, as
    weights, are among low and high (k,) [units]. terms: what blocks of least cut keep to.
    """

    graph: SlicedGraph
    platform: Platform
    low: FloatArray
    high: FloatArray
    terms: PlanTerms
    options: PlanOptions
    sliced: SlicedOptions

    @property
    def workload(self) -> Workload:
        """The workload, of which the graph's weights are the work."""
        return self.options.workload.without_work()

    def problem(self, graph: Graph, values: float = 1.0) -> MakespanProblem:
        """Return the problem of a graph whose values stand for so many of the whole graph's."""
        workload = self.workload
        each = values * workload.bytes_per_value
        return MakespanProblem(
            graph, self.platform, replace(workload, bytes_per_value=each), self.low, self.high
        )


@dataclass(frozen=True, eq=False)
class BorderTurn:
    """Blocks (n_local,) after their borders were refined.

    stage: their figures. gained: by which share of the seconds they got faster.
    """

    blocks: Part
    stage: Stage
    gained: float

    @property
    def seconds(self) -> float:
        """Predicted [s]."""
        return self.stage.seconds or 0.0

    @property
    def sent(self) -> int:
        """Values sent by all blocks together."""
        return self.stage.total_volume

    def better_than(self, other: BorderTurn, alike: float) -> bool:
        """Whether it is faster, or as fast but for the share `alike`, and sends less."""
        if self.sent < other.sent:
            return self.seconds <= (1 + alike) * other.seconds
        return (1 + alike) * self.seconds < other.seconds


@dataclass(eq=False)
class BorderSearch:
    """Lowers the makespan of blocks near their borders.

    left_out: how many plans needed more memory than there is.
    """

    task: SlicedTask
    small: SmallGraph
    left_out: int = 0

    @contextmanager
    def where_memory_suffices(self) -> Iterator[None]:
        """Leave out a plan whose borders need more than the memory that a process may have."""
        try:
            yield
        except MemoryShortError:
            self.left_out += 1

    def as_it_is(self, name: str, blocks: Part) -> BorderTurn:
        """Return blocks (n,) of a lone process, of least cut, counted from all rows."""
        task = self.task
        found = exchanges_of(task.graph, blocks, task.platform.k)
        made = metrics.prediction_of(
            found.between, found.loads, found.interior, task.platform, task.workload, exact=True
        )
        volumes = metrics.comm_volumes(found.between)
        stage = Stage(
            name, found.cut, int(volumes.max()), int(volumes.sum()),
            int(metrics.neighbours(found.between).max()), 1.0, 1.0,
            seconds=made.makespan, role=CUT_STAGE,
        )  # fmt: skip
        return BorderTurn(blocks, stage, 0.0)

    def turn(
        self, name: str, blocks: Part, *, mapped: bool = False, refined: bool = True
    ) -> BorderTurn:
        """Return blocks (n_local,) that are no slower than those given. All processes call.

        mapped: whether blocks may go to other devices first, to exchange faster. refined: whether
        vertices may go to other blocks.
        """
        task, small = self.task, self.small
        k = task.platform.k
        borders = BorderGraph.read(task.graph, small, blocks, k, task.sliced)
        part, figures = borders.part, None
        if borders.graph is not None:
            first, best = self._faster(borders.graph, borders, mapped=mapped, refined=refined)
            role = CUT_STAGE if mapped else ""
            figures = replace(best, name=name, role=role).stage(), 1 - best.seconds / first.seconds
            part = best.part
        figures = task.graph.comm.bcast(figures)
        assert figures is not None
        return BorderTurn(borders.blocks(part), *figures)

    def counted(self, name: str, blocks: Part) -> Candidate | None:
        """Return the blocks (n_local,) as a candidate at rank 0, None elsewhere. All call."""
        task = self.task
        borders = BorderGraph.read(task.graph, self.small, blocks, task.platform.k, task.sliced)
        if borders.graph is None:
            return None
        return candidate_of(task.problem(borders.graph), borders.part, name)

    def _faster(
        self, graph: Graph, borders: BorderGraph, *, mapped: bool, refined: bool
    ) -> tuple[Candidate, Candidate]:
        """Return the blocks as they are given, and the fastest found."""
        task, options = self.task, self.task.options
        problem = replace(task.problem(graph), fixed=borders.fixed)
        maker, effort = CandidateMaker(problem), EFFORTS[options.preset]
        first = candidate_of(problem, borders.part)
        found = [first]
        if first.used.sum() > 1:
            if mapped:
                baselines = Baselines(first, terms=task.terms)
                found += present(mapped_least_cut(maker, baselines, options, np.inf))
            if refined:
                begun = fastest(found)
                found += refinements(begun, maker, effort, options.seed, 1)
                if _exchanged_share(begun) >= COSTLY:
                    by_clusters = present(refined_by_clusters(begun, maker, options.seed))
                    for one in by_clusters:
                        found += [one, *refinements(one, maker, effort, options.seed, 1)]
        return first, fastest(found)


def _exchanged_share(one: Candidate) -> float:
    """Return the share of its time that the slowest device exchanges."""
    last = one.prediction.bottleneck
    return float(one.prediction.communicate[last] / max(one.seconds, 1e-300))

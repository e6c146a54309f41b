"""Refines borders of blocks of a graph in slices, vertex by vertex, to lower the makespan.

A graph of borders has the vertices near borders, and clusters elsewhere. Seconds predicted on it
equal those predicted on the whole graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, Part
from evener.errors import MemoryShortError
from evener.graphs.graph import Graph
from evener.planning.makespan.baselines import Baselines, mapped_least_cut
from evener.planning.makespan.candidates import Candidate, CandidateMaker, candidate_of, fastest
from evener.planning.makespan.improvements import refined
from evener.planning.makespan.problem import EFFORTS, MakespanProblem
from evener.planning.makespan.search import present
from evener.planning.options import PlanOptions
from evener.planning.steps import PlanTerms
from evener.plans import metrics
from evener.plans.exchange_costs import Quotient
from evener.plans.plan import CUT_STAGE, Stage
from evener.plans.workload import Workload
from evener.platforms.platform import Platform
from evener.sliced.blocks import SlicedOptions, SmallGraph
from evener.sliced.border_graph import BorderGraph
from evener.sliced.rows import SlicedGraph


@dataclass(frozen=True, eq=False)
class SlicedTask:
    """A graph in slices, the platform to divide it over, and options.

    graph: with the workload's work as weights. platform: without memories; memory limits are
    converted to limits on weights in low and high (k,) [units]. terms: sizes and contract of blocks
    of least cut.
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
        """The workload without work: the graph's weights are the work."""
        return self.options.workload.without_work()

    def problem(self, graph: Graph, values: float = 1.0) -> MakespanProblem:
        """Return the problem of `graph`; each value sent in it counts as `values` values."""
        workload = self.workload
        each = values * workload.bytes_per_value
        return MakespanProblem(
            graph, self.platform, replace(workload, bytes_per_value=each), self.low, self.high
        )


@dataclass(frozen=True, eq=False)
class BorderTurn:
    """Blocks (n_local,) after their borders were refined.

    stage: figures of the blocks. gained: fraction by which refinement lowered the seconds.
    """

    blocks: Part
    stage: Stage
    gained: float

    @property
    def seconds(self) -> float:
        """Predicted seconds per iteration [s]."""
        return self.stage.seconds or 0.0

    @property
    def sent(self) -> int:
        """Values sent by all blocks together."""
        return self.stage.total_volume

    def better_than(self, other: BorderTurn, alike: float) -> bool:
        """Return whether this is faster, or as fast within `alike` and sends fewer values."""
        if self.sent < other.sent:
            return self.seconds <= (1 + alike) * other.seconds
        return (1 + alike) * self.seconds < other.seconds


@dataclass(eq=False)
class BorderSearch:
    """Lowers the makespan of blocks near their borders.

    left_out: number of plans that were skipped because they need more memory than allowed.
    """

    task: SlicedTask
    small: SmallGraph
    left_out: int = 0

    @contextmanager
    def where_memory_suffices(self) -> Iterator[None]:
        """Context manager: skip and count a plan whose borders need more memory than allowed."""
        try:
            yield
        except MemoryShortError:
            self.left_out += 1

    def as_it_is(self, name: str, blocks: Part) -> BorderTurn:
        """Return blocks (n,) of least cut, unchanged, with figures counted from all rows.

        For a single process.
        """
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
        self, name: str, blocks: Part, *, mapped: bool = False, refine: bool = True
    ) -> BorderTurn:
        """Refine blocks (n_local,); the result is never slower than the given blocks. Collective.

        mapped: whether blocks may first be mapped to other devices, to exchange faster. refine:
        whether vertices may move to other blocks.
        """
        task, small = self.task, self.small
        k = task.platform.k
        borders = BorderGraph.read(task.graph, small, blocks, k, task.sliced)
        part, figures = borders.part, None
        if borders.graph is not None:
            first, best = self._faster(borders.graph, borders, mapped=mapped, refine=refine)
            role = CUT_STAGE if mapped else ""
            figures = replace(best, name=name, role=role).stage(), 1 - best.seconds / first.seconds
            part = best.part
        figures = task.graph.comm.bcast(figures)
        assert figures is not None
        return BorderTurn(borders.blocks(part), *figures)

    def counted(self, name: str, blocks: Part) -> Candidate | None:
        """Return the blocks (n_local,) as a candidate at rank 0, None elsewhere. Collective."""
        task = self.task
        borders = BorderGraph.read(task.graph, self.small, blocks, task.platform.k, task.sliced)
        if borders.graph is None:
            return None
        return candidate_of(task.problem(borders.graph), borders.part, name)

    def _faster(
        self, graph: Graph, borders: BorderGraph, *, mapped: bool, refine: bool
    ) -> tuple[Candidate, Candidate]:
        """Return two candidates: the given blocks, and the fastest found."""
        task, options = self.task, self.task.options
        problem = replace(task.problem(graph), fixed=borders.fixed)
        maker = CandidateMaker(problem)
        first = candidate_of(problem, borders.part)
        found = [first]
        if mapped and first.used.sum() > 1:
            baselines = Baselines(first, terms=task.terms)
            found += present(mapped_least_cut(maker, baselines, options, np.inf))
        if refine and first.used.sum() > 1:
            found += refined(fastest(found), maker, EFFORTS[options.preset], options.seed, 1)
        return first, fastest(found)


class Exchanges(NamedTuple):
    """What blocks exchange, and their loads.

    between: the quotient graph, without the weights of edges. loads (k,): of blocks. interior (k,):
    the share of each load at vertices without a neighbour in another block. cut: weight of the
    edges cut.
    """

    between: Quotient
    loads: FloatArray
    interior: FloatArray
    cut: float


def exchanges_of(graph: SlicedGraph, blocks: Part, k: int) -> Exchanges:
    """Return what the k blocks (n,) int32 exchange; for a single process."""
    loads, inside, cut = np.zeros(k), np.zeros(k), 0.0
    values, boundary = np.zeros(k * k, np.int64), np.zeros(k, np.int64)
    for i in graph.own_slices:
        rows = graph.rows(i)
        n = rows.xadj.size - 1
        own = blocks[rows.first : rows.first + n]
        degrees = np.diff(rows.xadj)
        others = blocks[rows.adjncy]
        leaving = np.repeat(own, degrees) != others
        cut += float(rows.adjwgt[leaving].sum() if rows.adjwgt.size else leaving.sum())
        which = np.repeat(np.arange(n, dtype=np.int32), degrees)[leaving]
        sent: npt.NDArray[np.int64] = np.unique(which * np.int64(k) + others[leaving])
        values += np.bincount(own[sent // k] * np.int64(k) + sent % k, minlength=k * k)
        outer = np.zeros(n, np.bool_)
        outer[which] = True
        boundary += np.bincount(own[outer], minlength=k)
        weights = rows.vwgt if rows.vwgt.size else np.ones(n)
        loads += np.bincount(own, weights, k)
        inside += np.bincount(own[~outer], weights[~outer], k)
    pairs = np.flatnonzero(values)
    starts = np.searchsorted(pairs, k * np.arange(k + 1))
    between = Quotient(starts, pairs % k, values[pairs], np.empty(0), boundary)
    interior = np.divide(inside, loads, out=np.ones(k), where=loads > 0)
    return Exchanges(between, loads, interior, cut / 2)

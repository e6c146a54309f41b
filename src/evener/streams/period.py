"""The period of a mapping: the time of an iteration on the busiest processor."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array

from evener.arrays import FloatArray, IntArray, Part, as_integers
from evener.errors import InputError
from evener.graphs.stream_graph import StreamGraph
from evener.platforms.platform import Platform
from evener.streams import period_kernels as kernels
from evener.streams.cycles import edges_of_cycles, slowest_cycle
from evener.streams.period_kernels import FilterArrays, ProcessorArrays
from evener.streams.processors import Processors
from evener.streams.readings import COMPUTE, CostReading
from evener.streams.routes_kernels import add_to_links


@dataclass(frozen=True, eq=False)
class StreamProblem:
    """A stream graph, the processors for its filters, and how costs are computed (CostReading).

    Raises InputError if no processor can run some filter.
    """

    graph: StreamGraph
    processors: Processors
    reading: CostReading = field(default_factory=CostReading)

    @classmethod
    def of(
        cls, graph: StreamGraph, platform: Platform, reading: CostReading | None = None
    ) -> StreamProblem:
        """Return the problem of placing a graph's filters on a platform's devices."""
        return cls(graph, Processors(platform), reading or CostReading())

    @property
    def n(self) -> int:
        """Number of filters."""
        return self.graph.n

    @property
    def k(self) -> int:
        """Number of processors."""
        return self.processors.k

    @cached_property
    def cycles(self) -> IntArray:
        """Numbers of the edges that are on cycles of the graph."""
        return edges_of_cycles(self.graph)

    @cached_property
    def groups(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint8]]:
        """Groups (n,) of filters with equal needs, and which processors run them (groups, k)."""
        return self.processors.allowed(self.graph)

    @cached_property
    def filters(self) -> FilterArrays:
        """The filters as arrays for kernels; edges between the same two filters are merged."""
        graph, n = self.graph, self.graph.n
        ends = (
            np.concatenate([graph.tails, graph.heads]),
            np.concatenate([graph.heads, graph.tails]),
        )
        nothing = np.zeros(graph.m)
        sent = np.concatenate([graph.nbytes, nothing])
        both = np.concatenate([graph.nbytes, graph.nbytes])
        # Zeros must stay, so that both arrays have the same entries.
        sums = coo_array((np.arange(2 * graph.m) * 0.0, ends), (n, n)).tocsr()
        sums.sum_duplicates()
        sums.sort_indices()
        rows = np.repeat(np.arange(n), np.diff(sums.indptr))
        place = np.searchsorted(rows * n + sums.indices, ends[0] * n + ends[1])
        size = sums.indices.size
        # Without edges, bincount returns integers, for which kernels would be compiled again.
        total = np.bincount(place, both, size).astype(np.float64)
        here = total
        if self.reading.pays == "sender":
            here = np.bincount(place, sent, size).astype(np.float64)
        there = total - here if self.reading.pays == "sender" else total
        return FilterArrays(
            sums.indptr.astype(np.int64), sums.indices.astype(np.int32), here, there,
            graph.scalar, graph.vector, self.groups[0],
        )  # fmt: skip

    @cached_property
    def machine(self) -> ProcessorArrays:
        """The processors as arrays for kernels; the cost of bytes is that of routes."""
        processors, reading = self.processors, self.reading
        cost = processors.seconds_per_byte(least=reading.route == "least")
        compute = COMPUTE.index(reading.compute)
        allowed = self.groups[1]
        return ProcessorArrays(
            processors.rate, processors.width, cost, allowed, compute, reading.overlap
        )  # fmt: skip

    def refuse_misfit(self, part: npt.ArrayLike) -> Part:
        """Return the processor of each filter (n,), checked. Raises InputError if it is invalid."""
        checked = as_integers(part, "the processors of filters")
        if checked.size != self.n or (self.n and not 0 <= checked.min() <= checked.max() < self.k):
            raise InputError(
                f"a mapping must give each of {self.n:,} filters one of {self.k:,} processors"
            )
        group, allowed = self.groups
        wrong = allowed[group, checked] == 0
        if wrong.any():
            i = int(np.argmax(wrong))
            device = self.processors.platform.names[checked[i]]
            raise InputError(f"device {device!r} lacks what filter {self.graph.names[i]!r} needs")
        return checked.astype(np.int32)


@dataclass(frozen=True, eq=False)
class Period:
    """The time of an iteration: `seconds`, on processor `bottleneck`.

    computing, communicating (k,) [s]: times of each processor. links (l,) [s]: how long each link
    transfers bytes. link_names: names of the links. If routes share a link, the link may take
    longer than any processor, but this does not count in the period. cycle [s]: largest ratio of
    the time around a cycle of filters to the tokens on it; it is the period if it exceeds the load
    of each processor.
    """

    seconds: float
    bottleneck: int
    computing: FloatArray
    communicating: FloatArray
    loads: FloatArray
    links: FloatArray
    link_names: tuple[str, ...]
    cycle: float = 0.0

    @property
    def slowest_link(self) -> float:
        """Time [s] of the link that transfers bytes for longest, or 0."""
        return float(self.links.max(initial=0.0))


def period_of(problem: StreamProblem, part: npt.ArrayLike) -> Period:
    """Return the period of a mapping. part (n,): the processor of each filter.

    Raises InputError if the length or a processor is wrong, or if a processor cannot run its
    filter.
    """
    chosen = problem.refuse_misfit(part)
    links, names, visited = _links(problem, chosen)
    transit = visited if problem.reading.route == "transit" else None
    computing, communicating, loads = _loads(problem, chosen, transit)
    at, cycle = int(np.argmax(loads)), _slowest_cycle(problem, chosen)
    seconds = max(float(loads[at]), cycle)
    return Period(seconds, at, computing, communicating, loads, links, names, cycle)


def seconds_of(problem: StreamProblem, part: Part) -> float:
    """Return the period [s] of a mapping that is known to be valid; faster than `period_of`."""
    if problem.reading.route == "transit":
        return period_of(problem, part).seconds
    _, _, loads = _loads(problem, part)
    return max(float(loads.max()), _slowest_cycle(problem, part))


def _loads(
    problem: StreamProblem, part: Part, transit: FloatArray | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return how long processors compute, how long they communicate, and their loads, (k,) [s].

    transit (k,) [s]: how long they communicate if they also pay for what passes through them.
    """
    computing, communicating = np.zeros(problem.k), np.zeros(problem.k)
    kernels.add_loads(problem.filters, problem.machine, part, computing, communicating)
    if transit is not None:
        communicating = transit
    overlap = problem.reading.overlap
    loads = np.maximum(computing, communicating) if overlap else computing + communicating
    return computing, communicating, loads


def _slowest_cycle(problem: StreamProblem, part: Part) -> float:
    """Return the largest ratio of the time around a cycle of filters to its tokens [s]."""
    edges, graph = problem.cycles, problem.graph
    if edges.size == 0:
        return 0.0
    own = work_on(problem, part)
    sent = (
        graph.nbytes[edges]
        * problem.machine.cost[part[graph.tails[edges]], part[graph.heads[edges]]]
    )
    return slowest_cycle(graph, edges, own, sent)


def work_on(problem: StreamProblem, part: Part) -> FloatArray:
    """Return the time [s] of each filter on its processor (n,)."""
    graph, processors = problem.graph, problem.processors
    times = read_times(problem.reading.compute, graph.vector / processors.width[part])
    return np.asarray(graph.scalar * times / processors.rate[part])


def read_times(compute: str, ratio: FloatArray) -> FloatArray:
    """Return how often instructions are repeated, given the ratio of filter to processor width."""
    if compute == "ceil":
        return np.ceil(ratio)
    return np.maximum(ratio, 1.0) if compute == "max1" else ratio


def work_of(problem: StreamProblem, some: IntArray) -> FloatArray:
    """Return times [s] of filters `some` (s,), as (s, k).

    Infinite if a processor cannot run a filter.
    """
    graph, processors = problem.graph, problem.processors
    times = read_times(problem.reading.compute, graph.vector[some, None] / processors.width)
    seconds = graph.scalar[some, None] * times / processors.rate
    group, allowed = problem.groups
    return np.asarray(np.where(allowed[group[some]] > 0, seconds, np.inf))


def _links(problem: StreamProblem, part: Part) -> tuple[FloatArray, tuple[str, ...], FloatArray]:
    """Return the times of links [s], their names, and what processors pay with transit [s] (k,)."""
    graph, processors = problem.graph, problem.processors
    roads = processors.roads
    a, b = part[graph.tails].astype(np.int64), part[graph.heads].astype(np.int64)
    cut = a != b
    low, high = np.minimum(a, b)[cut], np.maximum(a, b)[cut]
    keys, inverse = np.unique(low * problem.k + high, return_inverse=True)
    nbytes = np.bincount(inverse.ravel(), graph.nbytes[cut], keys.size).astype(np.float64)
    pairs = np.column_stack(np.divmod(keys, problem.k)).astype(np.int64)
    visited = np.zeros(problem.k)
    if roads is None:
        seconds = nbytes * processors.routes[0][pairs[:, 0], pairs[:, 1]]
        names = processors.platform.names
        for side in (0, 1):
            visited += np.bincount(pairs[:, side], seconds, problem.k)
        return seconds, tuple(f"{names[p]} - {names[q]}" for p, q in pairs.tolist()), visited
    carried = np.zeros(roads.ends.size)
    add_to_links(pairs, nbytes, roads, processors.routes[1], carried, visited)
    rows = np.repeat(np.arange(roads.offsets.size - 1), np.diff(roads.offsets))
    once = rows < roads.ends
    places = processors.platform.network.names
    named = zip(rows[once].tolist(), roads.ends[once].tolist(), strict=True)
    return (
        carried[once] * roads.betas[once],
        tuple(f"{places[u]} - {places[v]}" for u, v in named),
        visited,
    )

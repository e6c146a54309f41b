"""Searches for copies of filters: a filter on the busiest processor shares its data with a copy."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.errors import InputError
from evener.graphs.stream_graph import StreamGraph
from evener.streams.bounds import PeriodBounds, kinds_of, shared_value
from evener.streams.methods import MethodOptions, ours
from evener.streams.period import StreamProblem, period_of, seconds_of, work_of, work_on
from evener.streams.placing import least_work
from evener.streams.search import FoundMapping, search

LEAST = 1.0  # least data of a copy
ROUNDS = 3  # rounds of dividing filters, then searching with their copies
FILTERS, PROCESSORS = 3, 4  # filters of the busiest processor, and processors, tried per step
DIVISIONS = 4  # a round has at most this many steps per processor
SHORTER = 1e-4  # share by which a step must lower the norm of the loads


@dataclass(frozen=True, eq=False)
class CopiedMapping:
    """Copies of filters, the problem whose filters are the copies, and a mapping for it."""

    copies: FilterCopies
    problem: StreamProblem
    found: FoundMapping


def with_copies_by_search(problem: StreamProblem, asked: MethodOptions) -> CopiedMapping:
    """Return a mapping of copies of filters; its period is not longer than without copies.

    A stateless filter with two or more data on the busiest processor passes some of them to a copy
    on another processor, until both are equally busy; this repeats as long as the period falls.
    Then filters and copies are searched together. asked: limits of the whole search, time included.
    """
    began, limits = time.monotonic(), asked.limits
    half = limits if limits.seconds is None else replace(limits, seconds=limits.seconds / 2)
    first = ours(problem, asked._replace(limits=half))
    until = np.inf if limits.seconds is None else began + limits.seconds
    best = CopiedMapping(FilterCopies.single(problem.graph), problem, first)
    for _ in range(ROUNDS):
        now = _divided(problem, best, until)
        if time.monotonic() < until:
            left = None if limits.seconds is None else until - time.monotonic()
            starts = [(f"copies of {first.start}", now.found.part)]
            found = search(
                now.problem, starts, replace(limits, seconds=left), asked.seed, asked.progress
            )
            now = _merged(problem, CopiedMapping(now.copies, now.problem, found))
        if now.found.period >= best.found.period * (1 - SHORTER):
            return best if best.found.period <= now.found.period else now
        best = now
    return best


def bounds_with_copies(problem: StreamProblem) -> PeriodBounds:
    """Return lower bounds on the period if filters may have copies.

    A share of a filter's data takes at least that share of T0 x max(1, T1 / R1) / R0; only filters
    with state or with a single datum cannot be divided.
    """
    compute = "literal" if problem.reading.compute == "literal" else "max1"
    eased = StreamProblem(
        problem.graph, problem.processors, replace(problem.reading, compute=compute)
    )
    least = least_work(eased)[0]
    if problem.n == 0 or least.max() == 0.0:
        return PeriodBounds(0.0, 0.0, 0.0, 0.0)
    whole = least[~_may_divide(problem)]
    shared = shared_value(eased, kinds_of(eased), least)[0]
    return PeriodBounds(float(whole.max(initial=0.0)), shared, 0.0, 0.0)


def _may_divide(problem: StreamProblem) -> np.ndarray:
    return ~np.asarray(problem.graph.stateful) & (problem.graph.vector >= 2 * LEAST)


def _divided(problem: StreamProblem, now: CopiedMapping, until: float) -> CopiedMapping:
    """Divide filters of the busiest processor, one after another, as long as that helps."""
    for _ in range(DIVISIONS * problem.k):
        better = _one_division(problem, now)
        if better is None or time.monotonic() > until:
            return now
        now = better
    return now


def _one_division(problem: StreamProblem, now: CopiedMapping) -> CopiedMapping | None:
    """Return the best of a few divisions of filters of the busiest processor, or None."""
    loads = period_of(now.problem, now.found.part).loads
    busiest, most = int(np.argmax(loads)), float(loads.max())
    here = np.flatnonzero((now.found.part == busiest) & _may_divide(now.problem))
    own = work_on(now.problem, now.found.part)[here]
    best, least = None, _norm(loads, most) * (1 - SHORTER)
    for i in here[np.argsort(-own, kind="stable")][:FILTERS].tolist():
        seconds = work_of(now.problem, np.array([i]))[0]
        share = (most - loads) / (seconds[busiest] + seconds)  # share that makes both equally busy
        share[busiest] = 0.0
        for p in np.argsort(-share, kind="stable")[:PROCESSORS].tolist():
            tried = _moved(problem, now, i, p, float(share[p]))
            if tried is None:
                continue
            norm = _norm(period_of(tried.problem, tried.found.part).loads, most)
            if norm < least:
                best, least = tried, norm
    return best


def _moved(
    problem: StreamProblem, now: CopiedMapping, i: int, p: int, share: float
) -> CopiedMapping | None:
    """Pass a share of the data of copy i to processor p; return None if the share is too small."""
    size = now.copies.high[i] - now.copies.low[i]
    given = min(round(share * size), int(size) - 1)
    if given < LEAST:
        return None
    copies = now.copies.divided(i, now.copies.high[i] - given)
    part = np.insert(now.found.part, i + 1, p)
    return _of(problem, *copies.merged(part), now.found)


def _of(
    problem: StreamProblem, copies: FilterCopies, part: np.ndarray, found: FoundMapping
) -> CopiedMapping:
    graph = with_copies(problem.graph, copies)
    made = StreamProblem(graph, problem.processors, problem.reading)
    chosen = part.astype(np.int32)
    return CopiedMapping(copies, made, replace(found, part=chosen, period=seconds_of(made, chosen)))


def _merged(problem: StreamProblem, now: CopiedMapping) -> CopiedMapping:
    """Return the mapping with copies on the same processor merged, unless its period is longer."""
    made = _of(problem, *now.copies.merged(now.found.part), now.found)
    return made if made.found.period <= now.found.period else now


def _norm(loads: np.ndarray, unit: float) -> float:
    """Return the norm of order 8: close to the largest load, lower if fewer processors have it."""
    return float((np.maximum(loads / unit, 0.0) ** 8).sum() ** 0.125)


@dataclass(frozen=True, eq=False)
class FilterCopies:
    """Copies of filters: the filter `of` each copy (c,), and its data from low to below high.

    Copies of a filter are consecutive. Their ranges together are the filter's vector T1: they share
    the data of one iteration.
    """

    of: IntArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def single(cls, graph: StreamGraph) -> FilterCopies:
        """Return one copy of each filter."""
        return cls(np.arange(graph.n), np.zeros(graph.n), graph.vector.copy())

    @property
    def counts(self) -> IntArray:
        """(n,) Number of copies of each filter."""
        return np.bincount(self.of)

    def divided(self, copy: int, at: float) -> FilterCopies:
        """Return the copies with one more: it takes the data of `copy` from `at` on."""
        new = copy + 1
        high = np.insert(self.high, copy, at)
        return FilterCopies(
            np.insert(self.of, new, self.of[copy]), np.insert(self.low, new, at), high
        )

    def merged(self, part: IntArray) -> tuple[FilterCopies, IntArray]:
        """Return copies and their processors, with copies of a filter on one processor merged."""
        order = np.lexsort((self.low, part, self.of))
        first = np.ones(order.size, np.bool_)
        same = (np.diff(self.of[order]) == 0) & (np.diff(part[order]) == 0)
        first[1:] = ~same
        at = np.cumsum(first) - 1
        size = np.bincount(at, (self.high - self.low)[order])
        of, processors = self.of[order][first], part[order][first]
        ends = np.cumsum(size)
        begins = np.concatenate([[0.0], ends[:-1]])
        start = begins[np.searchsorted(of, of)]
        return FilterCopies(of, begins - start, ends - start), processors


def with_copies(graph: StreamGraph, copies: FilterCopies) -> StreamGraph:
    """Return the graph whose filters are the copies; copy 2 of 3 of "f" is called "f 2/3".

    An edge's bytes are divided like the data of its ends: copies communicate if their ranges of
    data overlap. Raises InputError if a filter with state has copies, or if a copy has less than
    one datum.
    """
    counts = copies.counts
    many = counts > 1
    stateful = np.asarray(graph.stateful)
    if (many & stateful).any():
        name = graph.names[int(np.argmax(many & stateful))]
        raise InputError(f"filter {name!r} has state, so it cannot have copies")
    size = copies.high - copies.low
    if size.min(initial=LEAST) < LEAST:
        raise InputError(
            f"a copy of filter {graph.names[copies.of[int(np.argmin(size))]]!r} has no data"
        )
    first = np.concatenate([[0], np.cumsum(counts)])
    number = np.arange(copies.of.size) - first[copies.of]
    names = tuple(
        f"{graph.names[i]} {j + 1}/{counts[i]}" if counts[i] > 1 else graph.names[i]
        for i, j in zip(copies.of.tolist(), number.tolist(), strict=True)
    )
    edges, tails, heads = _pairs(graph, counts, first)
    low, high = copies.low / graph.vector[copies.of], copies.high / graph.vector[copies.of]
    common = np.minimum(high[tails], high[heads]) - np.maximum(low[tails], low[heads])
    kept = common > 0
    edges, tails, heads, common = edges[kept], tails[kept], heads[kept], common[kept]
    assert graph.tokens is not None
    return StreamGraph(
        names, graph.scalar[copies.of], size, tails, heads, graph.nbytes[edges] * common,
        stateful=stateful[copies.of], tokens=graph.tokens[edges],
        needs={key: value[copies.of] for key, value in graph.needs.items()},
    )  # fmt: skip


def _pairs(
    graph: StreamGraph, counts: IntArray, first: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Return each edge once per pair of copies of its ends: (edge, tail's copy, head's copy)."""
    times = counts[graph.tails] * counts[graph.heads]
    edges = np.repeat(np.arange(graph.m), times)
    within = np.arange(edges.size) - np.repeat(np.cumsum(times) - times, times)
    heads_of = counts[graph.heads[edges]]
    tails = first[graph.tails[edges]] + within // np.maximum(heads_of, 1)
    return edges, tails, first[graph.heads[edges]] + within % np.maximum(heads_of, 1)

"""Search for copies of filters: a filter of the busiest processor gives data to another one."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from evener.streams.bounds import PeriodBounds
from evener.streams.copies import LEAST, FilterCopies, with_copies
from evener.streams.methods import MethodOptions, ours
from evener.streams.period import StreamProblem, period_of, seconds_of, work_of, work_on
from evener.streams.placing import least_work
from evener.streams.search import FoundMapping, search
from evener.streams.shared_work import kinds_of, shared_value

ROUNDS = 3  # of dividing filters, then searching with their copies
FILTERS, PROCESSORS = 3, 4  # of the busiest processor, and for the data, that are tried in a step
DIVISIONS = 4  # times the processors: steps of a round, at most
SHORTER = 1e-4  # share by which a step must lower the norm of the loads


@dataclass(frozen=True, eq=False)
class CopiedMapping:
    """Copies of filters, the problem whose filters they are, and the mapping found of these."""

    copies: FilterCopies
    problem: StreamProblem
    found: FoundMapping


def with_copies_by_search(problem: StreamProblem, asked: MethodOptions) -> CopiedMapping:
    """Return a mapping of copies of filters, never of a longer period than that without copies.

    A filter on the busiest processor, stateless and of two data or more, gives as many of them to
    another processor as leave both equally busy, as long as that helps; then filters and copies
    are searched together. asked: limits of the whole, seconds included.
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
    """Return lower bounds of the period where filters may have copies.

    A share of a filter's data takes that share of T0 x max(1, T1 / R1) / R0 at least; only
    filters of state or of a single datum are whole.
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
    """Divide filters of the busiest processor, one after the other, as long as that helps."""
    for _ in range(DIVISIONS * problem.k):
        better = _one_division(problem, now)
        if better is None or time.monotonic() > until:
            return now
        now = better
    return now


def _one_division(problem: StreamProblem, now: CopiedMapping) -> CopiedMapping | None:
    """Return the best of a few divisions of filters of the busiest processor, if one helps."""
    loads = period_of(now.problem, now.found.part).loads
    busiest, most = int(np.argmax(loads)), float(loads.max())
    here = np.flatnonzero((now.found.part == busiest) & _may_divide(now.problem))
    own = work_on(now.problem, now.found.part)[here]
    best, least = None, _norm(loads, most) * (1 - SHORTER)
    for i in here[np.argsort(-own, kind="stable")][:FILTERS].tolist():
        seconds = work_of(now.problem, np.array([i]))[0]
        share = (most - loads) / (seconds[busiest] + seconds)  # that leaves both equally busy
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
    """Give a share of the data of copy i to processor p; None where it has too few for that."""
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
    """Return a mapping whose copies on the same processor are one, unless that is longer."""
    made = _of(problem, *now.copies.merged(now.found.part), now.found)
    return made if made.found.period <= now.found.period else now


def _norm(loads: np.ndarray, unit: float) -> float:
    """Eighth norm: nearly the largest load, and less where fewer processors have it."""
    return float((np.maximum(loads / unit, 0.0) ** 8).sum() ** 0.125)

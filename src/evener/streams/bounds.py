"""Lower bounds on the period of any mapping."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.streams.cycles import slowest_cycle
from evener.streams.period import StreamProblem, work_of
from evener.streams.placing import least_work
from evener.streams.shared_work import Kinds, best_weights, kinds_of, shared_by, shared_value

HEAVY = 64  # number of filters with most work whose neighbours are considered
SURE = 1e-9  # relative margin by which a sum must exceed its limit, because of rounding
# Strong bound: largest number of table entries; first and last relative step of the period.
MOST_ENTRIES = 4_000_000
FIRST_STEP, LAST_STEP = 0.02, 0.003


class PeriodBounds(NamedTuple):
    """Lower bounds on the shortest period [s]; 0 for a bound that was not computed.

    heaviest: one filter on its best processor; each neighbour is either on this processor, too, or
    its bytes are sent over the processor's fastest link. shared: computing time if filters could be
    divided arbitrarily. whole: filters are not divided, and two filters that do not fit on one
    processor send their bytes. cycle: the slowest cycle with all filters on their best processors.
    """

    heaviest: float
    shared: float
    whole: float
    cycle: float

    @property
    def best(self) -> float:
        """The largest bound."""
        return max(self)


def bounds_of(problem: StreamProblem, *, strong: bool = False) -> PeriodBounds:
    """Return lower bounds on the period, valid for all readings.

    strong: compute `whole`, too. This takes seconds, and is skipped if its tables would have more
    than MOST_ENTRIES entries.
    """
    least = least_work(problem)[0]
    if problem.n == 0 or least.max() == 0.0:
        return PeriodBounds(0.0, 0.0, 0.0, 0.0)
    kinds = kinds_of(problem)
    link = least_link(problem, kinds)
    heavy = np.argsort(-least, kind="stable")[:HEAVY]
    heaviest = float(_with_neighbours(problem, kinds, link, heavy).min(axis=1).max())
    shared, weights = shared_value(problem, kinds, least)
    cycle = slowest_cycle(problem.graph, problem.cycles, least, np.zeros(problem.cycles.size))
    found = PeriodBounds(heaviest, shared * (1 - SURE), 0.0, cycle)
    entries = max(3 * problem.n, problem.filters.ends.size) * kinds.first.size
    if not strong or entries > MOST_ENTRIES:
        return found
    return found._replace(whole=_whole(problem, kinds, link, found.best, weights))


def least_link(problem: StreamProblem, kinds: Kinds) -> FloatArray:
    """Return (kinds,) the least time [s] per byte that leaves a processor of each kind."""
    if problem.k == 1:
        return np.zeros(1)
    cost = problem.machine.cost + np.diag(np.full(problem.k, np.inf))
    least = cost.min(axis=1)
    roads = problem.processors.roads
    if problem.reading.route == "transit" and roads is not None:
        # A processor pays only for its own links, and not at the place of another processor.
        beside = np.minimum.reduceat(np.append(roads.betas, np.inf), roads.offsets[:-1])
        least = np.minimum(least, beside[roads.home])
    of_kind = np.full(kinds.first.size, np.inf)
    np.minimum.at(of_kind, kinds.of, least)
    return of_kind


def _with_neighbours(
    problem: StreamProblem, kinds: Kinds, link: FloatArray, some: IntArray
) -> FloatArray:
    """Return (s, kinds) lower bounds on the load [s] of the processor of each filter in `some`."""
    filters = problem.filters
    work = work_of(problem, some)[:, kinds.first]
    counts = np.diff(filters.offsets)[some]
    at = np.repeat(filters.offsets[some] - np.cumsum(counts) + counts, counts)
    at = at + np.arange(at.size)
    beside = work_of(problem, filters.ends[at].astype(np.int64))[:, kinds.first]
    dearer = np.minimum(beside, filters.here[at, None] * link)
    more = np.zeros_like(work)
    np.add.at(more, np.repeat(np.arange(some.size), counts), dearer)
    if problem.reading.overlap:
        return np.asarray(np.maximum(work, (work + more) / 2))
    return np.asarray(work + more)


def _whole(
    problem: StreamProblem, kinds: Kinds, link: FloatArray, low: float, weights: FloatArray
) -> float:
    """Return the longest period found for which undivided filters do not fit on the processors."""
    every = np.arange(problem.n)
    work = work_of(problem, every)[:, kinds.first]
    load = _with_neighbours(problem, kinds, link, every)
    start = np.stack([weights] * 3)
    step, high = FIRST_STEP, np.inf
    while high / low - 1 > LAST_STEP:
        period = low * (1 + step) if high == np.inf else float(np.sqrt(low * high))
        excluded, start = _has_no_room(problem, kinds, link, (work, load), period, start)
        if excluded:
            low, step = period, 2 * step
        else:
            high = period
    return low


def _has_no_room(
    problem: StreamProblem,
    kinds: Kinds,
    link: FloatArray,
    tables: tuple[FloatArray, FloatArray],
    period: float,
    start: FloatArray,
) -> tuple[bool, FloatArray]:
    """Return whether no mapping has this period, and the weights (3, kinds) that show it.

    A filter takes a share of a processor's period; dual feasible functions [FS01]_ are applied to
    the shares. Filters that fit on one processor have a sum of at most 1 for the shares and for
    each function of them.
    """
    work, load = tables
    share = work
    if not problem.reading.overlap:
        share = work + link * _sent_surely(problem, work, period)
    share = np.where(np.maximum(share, load) > period, np.inf, share / period)
    used = share[(share > 0).any(axis=1)]
    costs = np.stack([used, _steps(used, 1), _steps(used, 2)])
    importance = np.ones(used.shape[0])
    found = best_weights(costs, kinds.counts, start, importance, (0.05, 0.01), 20)
    tried = [found, *(found[[f]] for f in range(3))]  # all functions together, and each alone
    ofs = [costs, *(costs[[f]] for f in range(3))]
    most = max(
        shared_by(weights, kinds.counts, table) for weights, table in zip(tried, ofs, strict=True)
    )
    return bool(most > 1 + SURE), found


def _sent_surely(problem: StreamProblem, work: FloatArray, period: float) -> FloatArray:
    """Return (n, kinds) bytes that a filter must send: to neighbours that do not fit with it."""
    filters = problem.filters
    rows = np.repeat(np.arange(problem.n), np.diff(filters.offsets))
    apart = np.where(work[rows] + work[filters.ends] > period, filters.here[:, None], 0.0)
    total = np.zeros_like(work)
    np.add.at(total, rows, apart)
    return total


def _steps(share: FloatArray, parts: int) -> FloatArray:
    """Dual feasible function: complete (parts + 1)-ths in each share, divided by `parts`."""
    times = share * (parts + 1)
    whole = np.floor(times)
    return np.asarray(np.where(times == whole, share, whole / parts))

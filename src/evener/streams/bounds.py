"""Lower bounds on the period of any mapping.

The bound for computing times is the dual of a linear program in which filters can be divided
arbitrarily. It seeks weights of processors, with the sum 1, that maximise sum_i min_p weight_p x
seconds(i, p). Any such weights give a lower bound. Equal processors have equal weights, so they
form one kind. If there are many filters, weights are computed on a sample.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.streams.cycles import slowest_cycle
from evener.streams.period import StreamProblem, work_of
from evener.streams.placing import least_work

HEAVY = 64  # number of filters with most work whose neighbours are considered
SURE = 1e-9  # relative margin by which a sum must exceed its limit, because of rounding
# Strong bound: largest number of table entries; first and last relative step of the period.
MOST_ENTRIES = 4_000_000
FIRST_STEP, LAST_STEP = 0.02, 0.003


class PeriodBounds(NamedTuple):
    """Lower bounds on the shortest period [s]; 0 for a bound that was not computed.

    heaviest: largest time of a filter on its best processor; each of its neighbours either adds its
    own time, or its bytes are sent over the processor's fastest link. shared: computing time if
    filters could be divided arbitrarily. whole: bound for undivided filters; two filters that do
    not fit on one processor send their bytes. cycle: time of the slowest cycle with all filters on
    their best processors.
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

    strong: whether to compute `whole`, too. This takes seconds, and is skipped if its tables would
    have more than MOST_ENTRIES entries.
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
    """Return the least time [s] per byte that leaves a processor, for each kind (kinds,)."""
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
    """Return lower bounds (s, kinds) [s] on the load of a processor with a filter of `some`."""
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
    """Return whether no mapping has this period, and the weights (3, kinds) that prove it.

    Each filter takes a share of a processor's period; dual feasible functions [FS01]_ are applied
    to these shares. For filters that fit on one processor, the shares add to at most 1, and so do
    the values of each function.
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
    """Return the bytes (n, kinds) that a filter must send to neighbours that do not fit with it."""
    filters = problem.filters
    rows = np.repeat(np.arange(problem.n), np.diff(filters.offsets))
    apart = np.where(work[rows] + work[filters.ends] > period, filters.here[:, None], 0.0)
    total = np.zeros_like(work)
    np.add.at(total, rows, apart)
    return total


def _steps(share: FloatArray, parts: int) -> FloatArray:
    """Dual feasible function: floor(share x (parts + 1)) / parts, for each share."""
    times = share * (parts + 1)
    whole = np.floor(times)
    return np.asarray(np.where(times == whole, share, whole / parts))


HEAVIEST, OTHERS = 256, 768  # filters in the sample: those with most work, others at equal steps
SHARPNESS = (0.1, 0.02, 0.004)  # excess over the least cost that counts as equal, per round
STEPS = 25  # of L-BFGS, per round
ROWS = 2_000_000  # table entries computed at once


class Kinds(NamedTuple):
    """Kinds of equal processors: the kind of each (k,); one member and the size of each kind."""

    of: IntArray
    first: IntArray
    counts: IntArray


def kinds_of(problem: StreamProblem) -> Kinds:
    """Return the kinds of processors; those of a kind run the same filters in the same time."""
    processors = problem.processors
    able = np.column_stack([processors.rate, processors.width, problem.groups[1].T])
    _, first, of, counts = np.unique(
        able, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    return Kinds(of.ravel(), first, counts)


def shared_value(
    problem: StreamProblem, kinds: Kinds, least: FloatArray
) -> tuple[float, FloatArray]:
    """Return the bound [s], and the logarithms of the kinds' weights.

    least (n,): the result of least_work.
    """
    order = np.argsort(-least, kind="stable")[: np.count_nonzero(least)]
    importance = np.ones(order.size)
    sample = order
    if order.size > HEAVIEST + OTHERS:
        steps = np.linspace(HEAVIEST, order.size - 1, OTHERS).astype(np.int64)
        sample = np.concatenate([order[:HEAVIEST], order[steps]])
        importance = np.ones(sample.size)
        importance[HEAVIEST:] = (order.size - HEAVIEST) / OTHERS
    work = work_of(problem, sample)[:, kinds.first]
    start = -np.log(np.minimum(work, 1e300)).mean(axis=0)
    costs = work[None]
    weights = best_weights(costs, kinds.counts, start[None], importance, SHARPNESS, STEPS)[0]
    total, rows = 0.0, max(ROWS // kinds.first.size, 1)
    for begin in range(0, problem.n, rows):
        some = np.arange(begin, min(begin + rows, problem.n))
        table = work_of(problem, some)[None][:, :, kinds.first]
        total += shared_by(weights[None], kinds.counts, table)
    return total, weights


def shared_by(logs: FloatArray, counts: IntArray, costs: FloatArray) -> float:
    """Return the bound for weights with logarithms logs (f, kinds) and costs (f, n, kinds)."""
    weights = np.exp(logs - logs.max())
    weights /= (weights * counts).sum()
    return float(np.einsum("ft,fnt->nt", weights, costs).min(axis=1).sum())


def best_weights(
    costs: FloatArray,
    counts: IntArray,
    start: FloatArray,
    importance: FloatArray,
    sharpness: tuple[float, ...],
    steps: int,
) -> FloatArray:
    """Return logarithms (f, kinds) of weights w, up to a common factor, that give a large bound.

    The bound is sum_i importance_i x min_p sum_f w[f, p] x costs[f, i, p], where the weights of all
    processors, counts (kinds,) of each kind, have the sum 1. costs (f, n, kinds): for each filter,
    at least one value is above zero; infinite if a filter cannot run on a kind. The minimum is
    smoothed less and less: for each value of `sharpness`, L-BFGS makes `steps` steps.
    """
    from scipy.optimize import minimize

    shape = start.shape
    finite = np.where(np.isfinite(costs), costs, 0.0)

    def lost(logs: FloatArray, blur: float) -> tuple[float, FloatArray]:
        weights = np.exp(logs.reshape(shape) - logs.max())
        with np.errstate(divide="ignore", invalid="ignore"):
            cost = np.where(np.isfinite(costs[0]), np.einsum("ft,fnt->nt", weights, finite), np.inf)
            log = np.log(cost)
            least = log.min(axis=1, keepdims=True)
            near = np.exp((least - log) / blur)
        sums = near.sum(axis=1, keepdims=True)
        smooth = importance * (np.exp(least) * sums**-blur)[:, 0]
        total, used = smooth.sum(), (counts * weights).sum()
        share = np.where(cost > 0, smooth[:, None] * near / sums / np.maximum(cost, 1e-300), 0.0)
        slope = np.einsum("nt,fnt->ft", share, finite) * weights / total
        return float(np.log(used) - np.log(total)), (counts * weights / used - slope).ravel()

    logs = start.ravel()
    for blur in sharpness:
        options = {"maxiter": steps}
        logs = minimize(lost, logs, (blur,), jac=True, method="L-BFGS-B", options=options).x
    return np.asarray(logs.reshape(shape))

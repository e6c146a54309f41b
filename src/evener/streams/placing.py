"""Simple mappings: filters placed greedily by the period, by a list, cyclically, or at random."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from evener.arrays import FloatArray, IntArray, Part
from evener.errors import InfeasibleError
from evener.graphs.stream_graph import topological_order
from evener.streams import placing_kernels as kernels
from evener.streams.period import StreamProblem, read_times, seconds_of
from evener.streams.period_kernels import least_seconds

LOOKED_AT = 1 << 23  # filters x processors between two checks of the clock


def least_work(problem: StreamProblem) -> tuple[FloatArray, IntArray]:
    """Return the time [s] of each filter on its fastest processor (n,), and that processor (n,)."""
    least, best = np.empty(problem.n), np.empty(problem.n, np.int64)
    least_seconds(problem.filters, problem.machine, least, best)
    return least, best


def placed_in_turn(
    problem: StreamProblem,
    order: IntArray,
    chosen: IntArray | None = None,
    until: float = np.inf,
) -> Part | None:
    """Return processors (n,): places filters in `order`, each on the best processor (of `chosen`).

    Returns None if no such processor can run a filter, or if `time.monotonic` reaches `until`
    before all filters are placed.
    """
    machine = problem.machine
    if chosen is not None:
        machine = machine._replace(
            rate=machine.rate[chosen],
            width=machine.width[chosen],
            cost=machine.cost[np.ix_(chosen, chosen)],
            allowed=np.ascontiguousarray(machine.allowed[:, chosen]),
        )
    part = np.full(problem.n, kernels.NOWHERE, np.int32)
    loads, period = np.zeros((2, machine.rate.size)), 0.0
    step, order = max(LOOKED_AT // machine.rate.size, 1), order.astype(np.int64)
    for first in range(0, problem.n, step):
        if time.monotonic() > until:
            return None
        some = order[first : first + step]
        period = kernels.place_in_turn(problem.filters, machine, some, part, loads, period)
        if period == np.inf:
            return None
    return part if chosen is None else chosen[part].astype(np.int32)


def greedy(problem: StreamProblem) -> Part:
    """Return processors (n,): places heaviest filters first, each where the period grows least."""
    heaviest = np.argsort(-least_work(problem)[0], kind="stable")
    return _needed(placed_in_turn(problem, heaviest))


def listed(problem: StreamProblem) -> Part:
    """Return processors (n,): places filters in the order of their rank in HEFT [THW02]_.

    An iteration has no schedule here, so each filter is placed where the period grows least.
    """
    return _needed(placed_in_turn(problem, _by_rank(problem)))


def in_turn(problem: StreamProblem) -> Part:
    """Return processors (n,): filter i is on processor i modulo k, or the next possible one."""
    group, allowed = problem.filters.group, problem.machine.allowed
    part = np.empty(problem.n, np.int32)
    for i in range(problem.n):
        able = np.roll(allowed[group[i]], -(i % problem.k))
        part[i] = (i + int(np.argmax(able))) % problem.k
    return part


def at_random(problem: StreamProblem, seed: int) -> Part:
    """Return random processors (n,), uniform over those that can run the filter."""
    rng = np.random.default_rng(seed)
    group, allowed = problem.filters.group, problem.machine.allowed
    part = np.empty(problem.n, np.int32)
    for one in range(allowed.shape[0]):
        mine = np.flatnonzero(group == one)
        part[mine] = rng.choice(np.flatnonzero(allowed[one]), mine.size)
    return part


def _by_rank(problem: StreamProblem) -> IntArray:
    """Return filters (n,) by falling rank: mean time of the longest path from each to a sink."""
    graph = problem.graph
    work = least_work(problem)[0]
    cost = float(problem.machine.cost.mean())
    order = np.argsort(graph.tails, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(graph.tails, minlength=graph.n))])
    rank = work.copy()
    for v in topological_order(graph)[::-1].tolist():
        out = order[offsets[v] : offsets[v + 1]]
        if out.size:
            rank[v] += float((rank[graph.heads[out]] + graph.nbytes[out] * cost).max())
    return np.argsort(-rank, kind="stable")


def _needed(part: Part | None) -> Part:
    if part is None:
        raise InfeasibleError("a filter cannot run on any processor")
    return part


def best_of(problem: StreamProblem, parts: list[Part], most: int) -> list[Part]:
    """Return the `most` mappings with the shortest periods, the best first."""
    periods = [seconds_of(problem, part) for part in parts]
    return [parts[i] for i in np.argsort(periods, kind="stable")[:most].tolist()]


LOOKS = 1 << 25  # filters x processors summed over starts; beyond that, no more are tried
FIRST = 16  # number of processors of a quick start that is better than that on one processor


def on_subsets(problem: StreamProblem, until: float = np.inf) -> Iterator[Part]:
    """Yield mappings on the fastest processor, on all, and on subsets of growing size.

    If communication is expensive, few processors close to each other are best. Tries the 1, 2, 4,
    ... fastest processors, those closest to the fastest one, and all; filters are placed by weight
    and by neighbourhood. Stops at `until` (by `time.monotonic`), but always yields the first
    mapping.
    """
    quick = np.argsort(-speeds(problem), kind="stable")
    alone = placed_in_turn(problem, np.arange(problem.n), quick[:1])
    if alone is not None:
        yield alone
    heavy = np.argsort(-least_work(problem)[0], kind="stable")
    for chosen in (quick[:FIRST], None) if problem.k > FIRST else (None,):
        part = placed_in_turn(problem, heavy, chosen, until)
        if part is not None:
            yield part
    near_order = _by_neighbours(problem)
    near = np.argsort(problem.machine.cost[quick[0]], kind="stable")
    count, looks = 2, 0
    while count < problem.k and looks <= LOOKS and time.monotonic() < until:
        for chosen in (quick[:count], near[:count]):
            for order in (heavy, near_order):
                looks += problem.n * count
                part = placed_in_turn(problem, order, chosen, until)
                if part is not None:
                    yield part
        count *= 2
    if looks <= LOOKS:
        part = placed_in_turn(problem, near_order, None, until)
        if part is not None:
            yield part


def speeds(problem: StreamProblem) -> FloatArray:
    """Return the number of mean filters that each processor runs per second (k,)."""
    graph, machine = problem.graph, problem.machine
    wide = float(np.average(graph.vector, weights=graph.scalar + 1e-30))
    return np.asarray(machine.rate / read_times(problem.reading.compute, wide / machine.width))


def _by_neighbours(problem: StreamProblem) -> IntArray:
    """Return filters (n,) in breadth-first order, ignoring the direction of edges."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    filters, n = problem.filters, problem.n
    matrix = csr_array((np.ones(filters.ends.size), filters.ends, filters.offsets), (n, n))
    count, label = connected_components(matrix, directed=False)
    # One search for all components: a root n adjacent to the first filter of each.
    firsts = np.unique(label, return_index=True)[1][:count]
    rows = np.repeat(np.arange(n), np.diff(filters.offsets))
    tails = np.concatenate([rows, np.full(count, n)])
    heads = np.concatenate([filters.ends, firsts])
    joined = csr_array((np.ones(tails.size), (tails, heads)), (n + 1, n + 1))
    order = breadth_first_order(joined, n, return_predecessors=False)[1:]
    return np.asarray(order[np.argsort(label[order], kind="stable")], np.int64)

"""Simple mappings: filters one by one by the period, as a list, in turn, at random."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from evener.arrays import FloatArray, IntArray, Part
from evener.errors import InfeasibleError
from evener.graphs.stream_graph import topological_order
from evener.streams import placing_kernels as kernels
from evener.streams.period import StreamProblem, seconds_of
from evener.streams.period_kernels import least_seconds


def least_work(problem: StreamProblem) -> tuple[FloatArray, IntArray]:
    """(n,) seconds of each filter on its best processor, and (n,) that processor."""
    least, best = np.empty(problem.n), np.empty(problem.n, np.int64)
    least_seconds(problem.filters, problem.machine, least, best)
    return least, best


def placed_in_turn(
    problem: StreamProblem, order: IntArray, chosen: IntArray, tried: int | None = None
) -> Part | None:
    """(n,) processors: filters in `order`, each on the one of `chosen` that is best.

    tried: so many of these, which would be done first, and those of its neighbours; None: all.
    Returns None where a filter can be on none of them.
    """
    part = np.empty(problem.n, np.int32)
    loads = np.zeros((2, problem.k))
    order, chosen = order.astype(np.int64), chosen.astype(np.int64)
    found = kernels.place_in_turn(
        problem.filters, problem.machine, order, chosen, part, loads,
        chosen.size if tried is None else tried,
    )  # fmt: skip
    return part if found else None


def greedy(problem: StreamProblem) -> Part:
    """(n,) processors: the heaviest filter first, each where the period grows least."""
    heaviest = np.argsort(-least_work(problem)[0], kind="stable")
    return _needed(placed_in_turn(problem, heaviest, np.arange(problem.k)))


def listed(problem: StreamProblem) -> Part:
    """(n,) processors: filters by the length of the way behind them, as HEFT [THW02]_ ranks them.

    As an iteration has no schedule here, each goes where the period grows least.
    """
    return _needed(placed_in_turn(problem, _by_rank(problem), np.arange(problem.k)))


def in_turn(problem: StreamProblem) -> Part:
    """(n,) processors: filter i on processor i modulo k, or the next that can have it."""
    group, allowed = problem.filters.group, problem.machine.allowed
    part = np.empty(problem.n, np.int32)
    for i in range(problem.n):
        able = np.roll(allowed[group[i]], -(i % problem.k))
        part[i] = (i + int(np.argmax(able))) % problem.k
    return part


def at_random(problem: StreamProblem, seed: int) -> Part:
    """(n,) processors, each equally likely of those that can have the filter."""
    rng = np.random.default_rng(seed)
    group, allowed = problem.filters.group, problem.machine.allowed
    part = np.empty(problem.n, np.int32)
    for one in range(allowed.shape[0]):
        mine = np.flatnonzero(group == one)
        part[mine] = rng.choice(np.flatnonzero(allowed[one]), mine.size)
    return part


def _by_rank(problem: StreamProblem) -> IntArray:
    """(n,) filters by falling rank: mean seconds of the longest way from each to an end."""
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
        raise InfeasibleError("a filter can be on no processor")
    return part


def greedy_starts(problem: StreamProblem, most: int, until: float = np.inf) -> list[Part]:
    """Return mappings on ever fewer processors, the best few first, at most `most`.

    Where bytes are dear, few processors near to each other are best: all, half, a quarter, ... of
    the quickest, and of those nearest to it, are tried, filters by weight and neighbourhood; one of
    them at least, the others before `until` of `time.monotonic`.
    """
    found: list[tuple[float, int, Part]] = []
    for part in _on_subsets(problem):
        found.append((seconds_of(problem, part), len(found), part))
        if time.monotonic() > until:
            break
    return [part for _, _, part in sorted(found)[:most]]


# Processors that a filter of a start is tried on; and filters x processors of all starts, above
# which fewer sets of processors are tried.
TRIED = 32
LOOKS = 1 << 28


def _on_subsets(problem: StreamProblem) -> Iterator[Part]:
    heavy = np.argsort(-least_work(problem)[0], kind="stable")
    near_order = _by_neighbours(problem)
    quick = np.argsort(-_speed(problem), kind="stable")
    near = np.argsort(problem.machine.cost[quick[0]], kind="stable")
    count, looks = problem.k, 0
    while count >= 1 and looks <= LOOKS:
        for chosen in (quick[:count], near[:count]) if count < problem.k else (quick,):
            for order in (heavy, near_order):
                looks += problem.n * count
                part = placed_in_turn(problem, order, chosen, TRIED)
                if part is not None:
                    yield part
        count //= 2


def _speed(problem: StreamProblem) -> FloatArray:
    """(k,) filters like the mean one that each processor does in a second."""
    graph, machine = problem.graph, problem.machine
    wide = float(np.average(graph.vector, weights=graph.scalar + 1e-30))
    per = wide / machine.width
    per = np.ceil(per) if machine.compute == 0 else np.maximum(per, machine.compute == 2)
    return np.asarray(machine.rate / per)


def _by_neighbours(problem: StreamProblem) -> IntArray:
    """(n,) filters in the order of a breadth-first search, whatever the direction of edges."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    filters, n = problem.filters, problem.n
    matrix = csr_array((np.ones(filters.ends.size), filters.ends, filters.offsets), (n, n))
    count, label = connected_components(matrix, directed=False)
    firsts = np.unique(label, return_index=True)[1][:count]
    parts = [
        breadth_first_order(matrix, int(v), directed=False, return_predecessors=False)
        for v in firsts
    ]
    return np.concatenate(parts).astype(np.int64) if parts else np.empty(0, np.int64)

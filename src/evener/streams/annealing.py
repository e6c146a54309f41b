"""Annealing of mappings: arrays for its kernel, coarser levels of filters, and temperatures."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array

from evener.arrays import FloatArray, IntArray, Part
from evener.streams import annealing_kernels as kernels
from evener.streams.annealing_kernels import AnnealingCosts
from evener.streams.period import StreamProblem, read_times
from evener.streams.placing import least_work

CHUNK = 1 << 17  # proposals between two checks of the clock
FIRST_CHUNK = 1 << 13  # proposals that are timed to estimate how many are possible in the time left
NEAREST = 16  # number of nearby processors that are proposed for each processor
TABLED = 1 << 26  # largest filters x kinds of processors; above, similar widths count as one kind
# Temperature for the logarithm of the norm of the loads, for up to FEW filters; for more filters
# it falls with their number, because each gets fewer proposals. With few processors a move
# changes the norm more, so the temperature is at least HEAT_BY_K / k.
HEAT, FEW, HEAT_BY_K = 0.01, 1000, 0.3
WARM, COOL, COLD = 0.5, 0.15, 0.01  # shares of HEAT: first start, later starts, end
# Clusters take at most JOINED of the period, and are joined until there are fewer of them than
# processors, or than SMALL, in LEVELS steps and one more for each doubling of MANY filters.
# Clustering graphs below 1000 filters, too, gives up to 30 % shorter periods if they have some
# hundred filters and expensive edges (machines of other seeds than in docs/results/streams.md).
JOINED, SMALL, LEVELS, MANY = 0.5, 40, 5, 1 << 14
SHRUNK = 0.95  # clustering stops if a level has more than this share of the finer level's filters
ON_TOP = 0.3  # share of proposals that the coarsest level gets in addition to its share by filters


class Cooling(NamedTuple):
    """Parameters of one annealing: number of proposals, first temperature, and end.

    first: first temperature, as a share of HEAT. until: value of `time.monotonic` at which
    annealing must end.
    """

    proposals: int
    first: float
    until: float


def costs_of(problem: StreamProblem) -> AnnealingCosts:
    """Return the costs of a problem as arrays for the annealing kernel.

    Two processors are of the same kind if they have the same width and can run the same filters. If
    filters x kinds exceeds TABLED, similar widths are rounded down to a common value.
    """
    filters, machine = problem.filters, problem.machine
    width = machine.width
    most = max(TABLED // max(problem.n * machine.allowed.shape[0], 1), 1)
    if problem.reading.compute == "literal":
        width = np.ones(problem.k)
    elif np.unique(width).size > most:
        steps = np.quantile(width, np.arange(most) / most, method="lower")
        width = steps[np.searchsorted(steps, width, side="right") - 1]
    traits = np.column_stack([width, machine.allowed.T])
    kinds, kind = np.unique(traits, axis=0, return_inverse=True)
    times = read_times(problem.reading.compute, filters.vector[:, None] / kinds[:, 0])
    able = kinds[:, 1:].T[filters.group] > 0
    work = np.where(able, filters.scalar[:, None] * times, np.inf).astype(np.float32)
    pause = 1.0 / machine.rate
    if problem.reading.compute == "literal":
        pause = pause / machine.width
    cost = machine.cost.astype(np.float32)
    near = np.empty((problem.k, min(NEAREST, problem.k - 1)), np.int32)
    kernels.fill_nearest(cost, near)
    return AnnealingCosts(
        filters.offsets, filters.ends, filters.here, filters.there, np.ascontiguousarray(work),
        kind.ravel().astype(np.int32), pause, cost, near, machine.overlap,
    )  # fmt: skip


def annealed(
    costs: AnnealingCosts,
    part: Part,
    cooling: Cooling,
    state: np.ndarray,
    progress: Callable[[int], None] = lambda _: None,
) -> tuple[Part, bool]:
    """Return the best mapping found (n,), and whether all proposals were made.

    state (1,) uint64: state of the random number generator. progress: called with the number of
    proposals since the last call. If time is short, fewer proposals are made, but the temperature
    still falls to its final value.
    """
    n, k = costs.work.shape[0], costs.pause.size
    base = max(HEAT, HEAT_BY_K / k) * min(1.0, FEW / n)
    heat = np.array([cooling.first * base, COLD * base])
    part, best = part.astype(np.int32), part.astype(np.int32)
    count, done = cooling.proposals, 0
    timed, began = np.isfinite(cooling.until), time.monotonic()
    while done < count:
        now = time.monotonic()
        if now >= cooling.until:
            return best, False
        if timed and done:
            left = (cooling.until - now) * done / (now - began)
            count = min(count, max(int(done + left), done + 1))
        end = min(done + (FIRST_CHUNK if timed and done == 0 else CHUNK), count)
        kernels.anneal(costs, part, np.array([done, end, count]), heat, best, state)
        progress(end - done)
        done = end
    return best, count == cooling.proposals


class FilterLevel(NamedTuple):
    """Clusters of filters: their costs, least times (n,) [s], and groups (n,) of equal needs.

    cluster: the cluster of each filter of the finer level; None on the finest level.
    """

    costs: AnnealingCosts
    least: FloatArray
    group: IntArray
    cluster: IntArray | None


def levels_of(
    problem: StreamProblem, costs: AnnealingCosts, period: float, seed: int
) -> list[FilterLevel]:
    """Return levels from single filters to the coarsest clusters.

    Filters in a cluster share many bytes.
    """
    rng = np.random.default_rng(seed)
    levels = [FilterLevel(costs, least_work(problem)[0], problem.filters.group, None)]
    steps = LEVELS + max(int(np.log2(max(problem.n, 1) / MANY)), 0)
    for _ in range(steps):
        fine = levels[-1]
        n = fine.least.size
        if n <= max(problem.k, SMALL):
            break
        mate = np.empty(n, np.int64)
        most = JOINED * period
        kernels.match(fine.costs, fine.least, fine.group, most, rng.permutation(n), mate)
        cluster = np.unique(np.minimum(np.arange(n), mate), return_inverse=True)[1].ravel()
        if int(cluster.max()) + 1 > SHRUNK * n:
            break
        levels.append(_coarser(fine, cluster))
    return levels


def _coarser(fine: FilterLevel, cluster: IntArray) -> FilterLevel:
    """Return the coarser level of these clusters.

    Work, least times and bytes between them are added.
    """
    costs, size = fine.costs, int(cluster.max()) + 1
    tails = cluster[np.repeat(np.arange(cluster.size), np.diff(costs.offsets))]
    heads = cluster[costs.ends]
    apart = tails != heads
    ends = tails[apart], heads[apart]
    both = coo_array((costs.here[apart] + 1j * costs.there[apart], ends), (size, size)).tocsr()
    both.sum_duplicates()
    both.sort_indices()
    join = coo_array(
        (np.ones(cluster.size, np.float32), (cluster, np.arange(cluster.size))),
        (size, cluster.size),
    ).tocsr()
    group = np.empty(size, np.int32)
    group[cluster] = fine.group
    coarse = costs._replace(
        offsets=both.indptr.astype(np.int64),
        ends=both.indices.astype(np.int32),
        here=np.ascontiguousarray(both.data.real),
        there=np.ascontiguousarray(both.data.imag),
        work=np.ascontiguousarray(join @ costs.work),
    )
    least = np.bincount(cluster, fine.least, size).astype(np.float64)
    return FilterLevel(coarse, least, group, cluster)


def annealed_by_levels(
    levels: list[FilterLevel],
    part: Part,
    cooling: Cooling,
    state: np.ndarray,
    progress: Callable[[int], None] = lambda _: None,
) -> tuple[Part, bool]:
    """Return a mapping of the filters, annealed on each level from the coarsest to the finest.

    part (n,): the initial processors; a cluster begins on the processor of one of its filters.
    """
    parts = [part]
    for level in levels[1:]:
        assert level.cluster is not None
        coarse = np.empty(level.least.size, np.int32)
        coarse[level.cluster] = parts[-1]
        parts.append(coarse)
    sizes = np.array([level.least.size for level in levels], np.float64)
    shares = (1 - ON_TOP) * sizes / sizes.sum()
    shares[-1] += ON_TOP
    found, began = parts[-1], time.monotonic()
    all_done = True
    for at in range(len(levels) - 1, -1, -1):
        until = began + (cooling.until - began) * float(shares[at:].sum())
        own = Cooling(int(cooling.proposals * shares[at]), cooling.first, until)
        found, done = annealed(levels[at].costs, found, own, state, progress)
        all_done = all_done and done
        cluster = levels[at].cluster
        if cluster is not None:
            found = found[cluster]
    return found, all_done

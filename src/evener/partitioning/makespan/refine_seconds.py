"""Refinement for seconds: moves boundary vertices until the slowest block gets no faster.

Greedy sweeps reduce the sum of second_weight x seconds**p with increasing p: at first all blocks
matter, later only the slowest. Then chains of moves are tried, and each is rolled back to its best
state. With high powers, refinement goes on even if many blocks are equally slow. In the first
rounds, the latency of small messages is counted in proportion to their values, so that removing
values gains something even before the message vanishes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray, Part, as_flags
from evener.errors import InputError, UsageError
from evener.graphs.graph import Graph
from evener.partitioning.levels.levels import GraphLevel, finest
from evener.partitioning.makespan import search_kernels as kernels
from evener.partitioning.makespan.gain_state import Prices, SecondsState
from evener.partitioning.makespan.seconds_kernels import Bounds
from evener.partitioning.refinement.fm import shuffle
from evener.plans.costs import Costs
from evener.plans.partition import RELATIVE_SLACK

# Set by hand; why was not recorded.
SMALL = 1 << 16  # graphs with fewer adjacency entries get the work budget of this many
GREEDY = -1e-12  # a single move must change the sum of powers by at most this
ALIKE = 1e-12  # a smaller relative difference of seconds counts as rounding
MIN_GAIN = 0.002  # sweeps end after one that shortens the longest seconds by a smaller fraction
BOLD = 1.0  # a chain may increase the sum of powers temporarily by this many slowest blocks


@dataclass(frozen=True)
class Round:
    """One round of searches for a smaller sum of powers.

    log2_power: seconds are raised to the power 2**log2_power. min_seconds_ratio: searches begin at
    blocks that take at least this fraction of the longest seconds. latency_ramp: see Model
    [values]. depth: number of moves in a chain. If depth is 1, there are up to `sweeps` sweeps of
    single moves, until one shortens the longest seconds by less than the fraction MIN_GAIN; else
    there is one pass of chains, from the best partition. budget_share: share of the remaining work
    budget, relative to the shares of the following rounds.
    """

    log2_power: int
    min_seconds_ratio: float
    latency_ramp: float = 1.0
    depth: int = 1
    sweeps: int = 1
    budget_share: float = 1.0


@dataclass(frozen=True)
class MakespanEffort:
    """The rounds, and their total work budget: `passes` looks (MoveScratch) per adjacency entry."""

    rounds: tuple[Round, ...]
    passes: float


# The numbers of all rounds and budgets are set by hand; why was not recorded.
SWEEP_ROUNDS = (
    Round(3, 0.05, 400), Round(4, 0.05, 200), Round(4, 0.05, 80), Round(5, 0.1, 30),
    Round(5, 0.3, 10), Round(5, 0.5, 3), Round(6, 0.7),
)  # fmt: skip
CHAIN_ROUNDS = (
    Round(5, 0.9, 30, depth=30, budget_share=2.0), Round(6, 0.8, sweeps=2),
    Round(6, 0.93, depth=10, budget_share=2.0), Round(6, 0.8, sweeps=2),
)  # fmt: skip
SHORT_CHAIN_ROUNDS = Round(6, 0.93, depth=10), Round(6, 0.8)
EFFORTS = {
    "fast": MakespanEffort(
        (Round(4, 0.05, 200), Round(5, 0.1, 40), Round(6, 0.5, 8), *SHORT_CHAIN_ROUNDS), 4.0
    ),
    "default": MakespanEffort(SWEEP_ROUNDS + CHAIN_ROUNDS, 18.0),
    "strong": MakespanEffort(SWEEP_ROUNDS + 3 * CHAIN_ROUNDS, 54.0),
}


@dataclass(frozen=True, eq=False)
class BlockLimits:
    """Limits on blocks (k,), and fixed vertices; None: no limits, no fixed vertices.

    low, high: limits on the graph's first vertex weight; caps: limits on memory [B]. fixed: flags
    (n,) of vertices that must stay in their blocks. If many vertices were contracted to a fixed
    vertex, it still counts as one: it sends one value to each neighbouring block, and, with
    overlap, all its work then counts as border work.
    """

    low: FloatArray | None = None
    high: FloatArray | None = None
    caps: FloatArray | None = None
    fixed: npt.ArrayLike | None = None


def refine_seconds(
    graph: Graph,
    part: IntArray,
    work: FloatArray,
    costs: Costs,
    *,
    limits: BlockLimits | None = None,
    effort: str = "default",
    seed: int = 7,
    threads: int = 1,
) -> tuple[Part, FloatArray]:
    """Return a partition (n,) int32 whose slowest block is faster, or the given one.

    Also returns the predicted seconds (k,) of its blocks.

    part (n,): block b is on device b of `costs`; work (n,) [units]. Limits that the given partition
    violates are not violated more. No block becomes empty, and empty blocks stay empty. effort:
    "fast", "default" or "strong". Raises InputError for wrong lengths, block numbers and work,
    UsageError for an unknown effort. The result does not depend on the number of threads, as the
    search uses one thread.
    """
    if effort not in EFFORTS:
        raise UsageError(f"effort must be one of {', '.join(EFFORTS)}, not {effort!r}")
    part, limits = _checked(graph, part, work, costs.k), limits or BlockLimits()
    level = finest(graph, np.arange(graph.n), None, faces_of(graph, costs), threads)
    if limits.fixed is not None:
        level.fixed = np.flatnonzero(as_flags(limits.fixed, graph.n, "fixed"))
    bounds = _bounds(graph, np.require(work, np.float64, ["C", "W"]), costs.k, limits)
    return refine_by(EFFORTS[effort], level, part, bounds, Prices(costs), seed, threads)


def faces_of(graph: Graph, costs: Costs) -> npt.NDArray[np.int32]:
    """Return the values sent per adjacency entry (2m,) if values are sent per face; else empty.

    An empty array means that all entries weigh 1.
    """
    if not costs.of_faces or graph.adjwgt is None:
        return np.empty(0, np.int32)
    return graph.adjwgt.astype(np.int32)


def refine_by(
    effort: MakespanEffort,
    level: GraphLevel,
    part: Part,
    bounds: Bounds,
    prices: Prices,
    seed: int,
    threads: int,
) -> tuple[Part, FloatArray]:
    """Carry out all rounds; return the best partition (n,) and its seconds (k,)."""
    state = SecondsState.opened(level, part.copy(), bounds, prices, threads)
    best, least = part, state.seconds()
    if not least.any():
        return best, least  # no block has any work
    looks = int(effort.passes * max(level.adjncy.size, SMALL))
    for number, task in enumerate(effort.rounds):
        if task.depth > 1 and not np.array_equal(state.part, best):
            state = SecondsState.opened(level, best.copy(), bounds, prices, threads)
        share = task.budget_share / sum(one.budget_share for one in effort.rounds[number:])
        looks -= _searched(state, task, int(share * looks), seed + number)
        seconds = state.seconds()
        if _sooner(seconds, least):
            best, least = state.part.copy(), seconds
    return best, least


def _sooner(seconds: FloatArray, least: FloatArray) -> bool:
    """Return whether `seconds` is less than `least`, both sorted in descending order.

    The first entries that differ decide.
    """
    ours, theirs = np.sort(seconds)[::-1], np.sort(least)[::-1]
    apart = np.flatnonzero(np.abs(ours - theirs) > ALIKE * theirs[0])
    return bool(apart.size and ours[apart[0]] < theirs[apart[0]])


def _searched(state: SecondsState, task: Round, most_looks: int, seed: int) -> int:
    """Carry out one round of searches; return the work done, in looks."""
    looks, last = 0, np.inf
    shared = state.prices.costs.shared_per_value.size > 0
    for turn in range(task.sweeps if task.depth == 1 else 1):
        model = state.prices.model(
            task.latency_ramp, state.tables.sent if shared else None, state.second_weight()
        )
        seeds = np.flatnonzero(state.flag).astype(np.int32)
        if task.depth > 1:
            shuffle(seeds, seed)
        state.scratch.queue[: seeds.size] = seeds
        kept, looked = kernels.search(
            state.tables, model, state.totals, state.bounds, task.log2_power,
            task.min_seconds_ratio, task.depth, GREEDY if task.depth == 1 else BOLD, seeds.size,
            most_looks - looks, state.flag, state.scratch,
        )  # fmt: skip
        looks += looked
        longest = float(state.totals.seconds.max())
        if kept == 0 or looks >= most_looks or (turn > 0 and last - longest < MIN_GAIN * last):
            break
        last = longest
    return looks


def _checked(graph: Graph, part: IntArray, work: FloatArray, k: int) -> Part:
    part, work = np.asarray(part), np.asarray(work)
    if part.shape != (graph.n,) or work.shape != (graph.n,):
        raise InputError(
            f"part has shape {part.shape} and work {work.shape}, but the graph has {graph.n:,} "
            "vertices"
        )
    if part.dtype.kind not in "iu" or (graph.n and not (part.min() >= 0 and part.max() < k)):
        raise InputError(f"part must contain block numbers from 0 to {k - 1}, one block per device")
    if not (np.isfinite(work).all() and (work >= 0).all()):
        v = int(np.argmin(np.isfinite(work) & (work >= 0)))
        raise InputError(
            f"the work of vertex {v} is {work[v]}, but must be finite and not negative"
        )
    return np.ascontiguousarray(part, np.int32)


def _bounds(graph: Graph, work: FloatArray, k: int, limits: BlockLimits) -> Bounds:
    """Return the limits, widened by rounding errors so that the order of sums does not matter."""
    low, high, caps = limits.low, limits.high, limits.caps
    free = low is None and high is None
    weight = work if free else np.require(graph.weights(), np.float64, ["C", "W"])
    capped = caps is not None and bool(np.isfinite(caps).any())
    n_bytes = graph.vertex_bytes() if capped else np.zeros(graph.n)
    hair = RELATIVE_SLACK / 2
    least, most, room = (
        np.full(k, bound) if given is None else _checked_limits(given, k) * (1 + sign * hair)
        for given, bound, sign in ((low, 0.0, -1), (high, np.inf, 1), (caps, np.inf, 1))
    )
    return Bounds(work, weight, n_bytes, least, most, room)


def _checked_limits(given: npt.ArrayLike, k: int) -> FloatArray:
    limits = np.asarray(given, np.float64)
    if limits.shape != (k,) or np.isnan(limits).any():
        raise InputError(f"limits must be {k} numbers, one for each device")
    return limits

"""Direct search for a mapping with a short period: descent from several starts, then annealing."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evener.arrays import Part
from evener.streams import search_kernels as kernels
from evener.streams.annealing import (
    COOL,
    WARM,
    Cooling,
    annealed,
    annealed_by_levels,
    costs_of,
    levels_of,
)
from evener.streams.period import StreamProblem, seconds_of
from evener.streams.search_kernels import Occupancy

PROPOSALS = 2_000_000  # of annealing in total, for any size; chosen on instances of other seeds
WORK, FIRST_WORK = 4_000_000, 1_000_000  # processors that one descent tries; from a start
SLICE = 1_000_000  # processors tried between two checks of the clock
TIDIED = 2_000_000  # processors tried while reducing the cut bytes
TURNS = (WARM, COOL)  # first temperatures of the runs of annealing, each from the best mapping
# With few filters, runs are cheap, and a single one may end in another local optimum.
FEW_FILTERS, TURNS_OF_FEW = 64, (4.0, WARM, COOL, 1.0, COOL, COOL)
# Cutting fewer bytes lowers loads, so that descent can continue: largest number of rounds of
# both, and the share of the period that another round must gain.
ROUNDS, GAIN = 10, 1e-4
LEFT_FOR_REST = 0.05  # share of the time left that is reserved for later steps
# Moves whose whole period is computed, if loads do not determine it: filters and edges visited
# in total, and least and largest number of moves.
COUNTED, MOVES = 4_000_000, (50, 2000)
NEAR = 0.5  # share of these that go to the processor of a neighbour
# Number of starts that are improved, unless they are far above the best; one is annealed.
DESCENDED, FAR_ABOVE = 3, 2.0
LEAST_EDGE = 1e-6  # of the mean bytes of an edge: what each cut edge counts in addition


@dataclass(frozen=True)
class SearchLimits:
    """Limits of a search: total number of proposals of annealing, and wall time [s] or None."""

    proposals: int = PROPOSALS
    seconds: float | None = None

    def until(self) -> float:
        """Return the time of `time.monotonic` by which a search that begins now must end."""
        return np.inf if self.seconds is None else time.monotonic() + self.seconds


@dataclass(frozen=True, eq=False)
class FoundMapping:
    """A mapping (n,), its period [s], and the name of the initial mapping it was found from.

    ended: whether the search was completed; False if its time limit or the user stopped it. notes:
    one sentence for each unusual event.
    """

    part: Part
    period: float
    start: str
    ended: bool = True
    notes: tuple[str, ...] = ()


def search(
    problem: StreamProblem,
    starts: Sequence[tuple[str, Part]],
    limits: SearchLimits,
    seed: int,
    progress: Callable[[str, float], None] = lambda *_: None,
    until: float | None = None,
    later: Callable[[float], Sequence[tuple[str, Part]]] = lambda _: (),
) -> FoundMapping:
    """Return the best mapping found from `starts`, never worse than any of them.

    progress: called with the name of the step and the fraction done. If the time limit is reached
    or the user interrupts, the best mapping so far is returned; otherwise the result depends only
    on the seed. until: time at which the search must end; None: computed from `limits`. later:
    called before the last run of annealing with the time by which it must return; it returns more
    initial mappings.
    """
    until = limits.until() if until is None else until
    state = np.array([np.uint64(seed) + np.uint64(1)], np.uint64)
    best = _best_of(problem, starts)
    if until == -np.inf:
        return _stopped(best)
    try:
        best = _all_descended(problem, best, starts, state, until, progress)
        best, ended = _annealed(problem, best, limits, until, state, seed, progress, later)
        best = _settled(problem, best, state, seed, until)
        return best if ended and time.monotonic() < until else _stopped(best)
    except KeyboardInterrupt:
        return _stopped(best)


def _best_of(problem: StreamProblem, starts: Sequence[tuple[str, Part]]) -> FoundMapping:
    periods = [seconds_of(problem, part) for _, part in starts]
    at = int(np.argmin(periods))
    return FoundMapping(starts[at][1].copy(), periods[at], starts[at][0])


def _all_descended(
    problem: StreamProblem,
    best: FoundMapping,
    starts: Sequence[tuple[str, Part]],
    state: np.ndarray,
    until: float,
    progress: Callable[[str, float], None],
) -> FoundMapping:
    """Return the best of `best` and the results of descent from the best few initial mappings."""
    ranked = sorted((seconds_of(problem, part), i) for i, (_, part) in enumerate(starts))
    for period, i in ranked[:DESCENDED]:
        best = _better(best, FoundMapping(starts[i][1].copy(), period, starts[i][0]))
        if time.monotonic() > until or period > FAR_ABOVE * best.period:
            break
        progress("descent", 0.1)
        name, part = starts[i]
        best = _better(best, _descended(problem, part, name, state, until, FIRST_WORK))
    return best


def _stopped(found: FoundMapping) -> FoundMapping:
    return replace(found, ended=False)


def _better(one: FoundMapping, other: FoundMapping) -> FoundMapping:
    return other if other.period < one.period else one


def _descended(
    problem: StreamProblem,
    part: Part,
    start: str,
    state: np.ndarray,
    until: float,
    work: int = WORK,
) -> FoundMapping:
    placed, left = placed_at(problem, part), work
    while left > 0:
        rest = kernels.improve(problem.filters, problem.machine, placed, SLICE, state)
        left = 0 if rest > 0 or time.monotonic() > until else left - SLICE
    return FoundMapping(placed.part, seconds_of(problem, placed.part), start)


def _settled(
    problem: StreamProblem, found: FoundMapping, state: np.ndarray, seed: int, until: float
) -> FoundMapping:
    """Return the result of alternating descent and reduction of the cut bytes."""
    counted = problem.reading.route == "transit" or problem.cycles.size > 0
    for number in range(ROUNDS):
        before = found.period
        found = _better(found, _descended(problem, found.part, found.start, state, until))
        if counted and number == 0:
            found = _moved(problem, found, seed, until)
        if time.monotonic() < until:
            found = _tidied(problem, found)
        if number and found.period > before * (1 - GAIN):
            break
    return found


def _moved(problem: StreamProblem, found: FoundMapping, seed: int, until: float) -> FoundMapping:
    """Make random moves that shorten the period, for problems whose loads do not determine it.

    Such problems have the reading transit, in which processors on a route pay too, or cycles of
    filters.
    """
    rng, filters = np.random.default_rng(seed), problem.filters
    part, best = found.part.copy(), found.period
    for _ in range(int(np.clip(COUNTED / (problem.n + filters.ends.size), *MOVES))):
        if time.monotonic() > until:
            break
        i = int(rng.integers(problem.n))
        beside = filters.ends[filters.offsets[i] : filters.offsets[i + 1]]
        near = beside.size and rng.random() < NEAR
        old, p = part[i], int(part[rng.choice(beside)] if near else rng.integers(problem.k))
        if problem.machine.allowed[filters.group[i], p]:
            part[i] = p
            period = seconds_of(problem, part)
            if period < best:
                best = period
            else:
                part[i] = old
    return replace(found, part=part, period=best)


def _annealed(
    problem: StreamProblem,
    found: FoundMapping,
    limits: SearchLimits,
    until: float,
    state: np.ndarray,
    seed: int,
    progress: Callable[[str, float], None],
    later: Callable[[float], Sequence[tuple[str, Part]]],
) -> tuple[FoundMapping, bool]:
    """Return the mapping that annealing finds, and whether annealing was completed.

    The first run uses levels of clusters if there are many filters. If the user interrupts, the
    best mapping so far is returned.
    """
    if problem.k == 1 or problem.n == 0:
        return _all_descended(problem, found, later(until), state, until, progress), True
    turns = TURNS_OF_FEW if problem.n <= FEW_FILTERS else TURNS
    each, made, ended = limits.proposals // len(turns), 0, True

    def told(more: int) -> None:
        nonlocal made
        made += more
        progress("annealing", 0.2 + 0.7 * min(made / limits.proposals, 1.0))

    try:
        if time.monotonic() >= until:
            return found, False
        costs = costs_of(problem)
        for turn, share in enumerate(turns):
            if turn == len(turns) - 1:
                found = _all_descended(problem, found, later(until), state, until, progress)
            left = (until - time.monotonic()) * (1 - LEFT_FOR_REST)
            cooling = Cooling(each, share, time.monotonic() + left / (len(turns) - turn))
            if left <= 0:
                return found, False
            levels = levels_of(problem, costs, found.period, seed) if turn == 0 else []
            part, done = (
                annealed_by_levels(levels, found.part, cooling._replace(first=COOL), state, told)
                if len(levels) > 1
                else annealed(costs, found.part, cooling, state, told)
            )
            ended = ended and done
            found = _better(found, replace(found, part=part, period=seconds_of(problem, part)))
    except KeyboardInterrupt:
        ended = False
    return found, ended


def _tidied(problem: StreamProblem, found: FoundMapping) -> FoundMapping:
    """Return a mapping with at most the same period and fewer cut bytes, or fewer cut edges."""
    if problem.graph.m == 0 or not np.isfinite(found.period):
        return found
    placed = placed_at(problem, found.part)
    mean = float(problem.graph.nbytes.mean())
    least = LEAST_EDGE * mean if mean > 0 else 1.0
    filters, machine = problem.filters, problem.machine
    kernels.tidy(filters, machine, placed, found.period, least, TIDIED)
    period = seconds_of(problem, placed.part)
    return replace(found, part=placed.part, period=period) if period <= found.period else found


def placed_at(problem: StreamProblem, part: Part) -> Occupancy:
    """Return a copy of a mapping with its loads and lists, as kernels use it."""
    n, k = problem.n, problem.k
    most = max(int(np.diff(problem.filters.offsets).max(initial=0)) + 2, 2)
    placed = Occupancy(
        part.astype(np.int32), np.zeros(k), np.zeros(k), np.empty(k, np.int32),
        np.empty(n, np.int32), np.empty(n, np.int32), np.zeros(k), np.zeros(k, np.int64),
        np.empty(most, np.int32),
    )  # fmt: skip
    kernels.settle(problem.filters, problem.machine, placed)
    return placed

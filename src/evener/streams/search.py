"""Direct search for a mapping of short period: descent from several starts, then annealing."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evener.arrays import Part
from evener.streams import search_kernels as kernels
from evener.streams.period import StreamProblem, seconds_of
from evener.streams.search_kernels import Occupancy

PROPOSALS = 2_000_000  # of annealing in all, for any size; chosen on instances of other seeds
CHUNK = 1 << 17  # proposals between two looks at the clock
# First temperature, for the logarithm of the loads' norm, of up to FEW filters; of more it falls as
# their number grows, because each has fewer proposals. The last one: times LAST. Of few processors
# a move changes more of the norm: the first one is HEAT_BY_K / k at least.
HEAT, FEW, LAST, HEAT_BY_K = 0.01, 1000, 0.02, 0.3
TURNS = (2.0, 0.5)  # of annealing, each from the best mapping so far: their share of HEAT
WORK = 30_000_000  # processors looked at by one descent, at most
SLICE = 3_000_000  # of them between two looks at the clock
# Moves whose whole period is computed, where the loads are not all of it: filters and edges looked
# at in all, and moves at least and at most.
COUNTED, MOVES = 4_000_000, (50, 2000)
NEAR = 0.5  # of these, to the processor of a neighbour
DESCENDED = 3  # of the starts, the best so many are improved; the best of these is annealed


@dataclass(frozen=True)
class SearchLimits:
    """How long to search: proposals of annealing in all, and seconds of wall time, if any."""

    proposals: int = PROPOSALS
    seconds: float | None = None

    def until(self) -> float:
        """Return the time of `time.monotonic` at which a search that begins now has to end."""
        return np.inf if self.seconds is None else time.monotonic() + self.seconds


@dataclass(frozen=True, eq=False)
class FoundMapping:
    """A mapping (n,), its period [s], and from which start it came.

    ended: whether the search was done, and not stopped by its time limit or by the user. notes: a
    sentence on each thing that was odd.
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
) -> FoundMapping:
    """Return the best mapping found from `starts`, never worse than any of them.

    progress: called with a word and the part that is done. With a limit of seconds, and where
    the user interrupts, the best so far is returned; else the result depends on the seed alone.
    until: the end, where the seconds began before; None: they begin now.
    """
    until = limits.until() if until is None else until
    ranked = sorted(
        ((seconds_of(problem, part), i) for i, (_, part) in enumerate(starts)), key=lambda one: one
    )
    best = FoundMapping(starts[ranked[0][1]][1].copy(), ranked[0][0], starts[ranked[0][1]][0])
    state = np.array([np.uint64(seed) + np.uint64(1)], np.uint64)
    try:
        for _, i in ranked[:DESCENDED]:
            if time.monotonic() > until:
                return _stopped(best)
            progress("descent", 0.1)
            best = _better(best, _descended(problem, starts[i][1], starts[i][0], state, until))
        best, ended = _annealed(problem, best, limits, until, state, progress)
        if time.monotonic() < until:
            best = _better(best, _descended(problem, best.part, best.start, state, until))
        if problem.reading.route == "transit" or problem.cycles.size:
            best = _moved(problem, best, seed, until)
        return best if ended else _stopped(best)
    except KeyboardInterrupt:
        return _stopped(best)


def _stopped(found: FoundMapping) -> FoundMapping:
    return replace(found, ended=False)


def _better(one: FoundMapping, other: FoundMapping) -> FoundMapping:
    return other if other.period < one.period else one


def _descended(
    problem: StreamProblem, part: Part, start: str, state: np.ndarray, until: float
) -> FoundMapping:
    placed, left = placed_at(problem, part), WORK
    while left > 0:
        rest = kernels.improve(problem.filters, problem.machine, placed, SLICE, state)
        left = 0 if rest > 0 or time.monotonic() > until else left - SLICE
    return FoundMapping(placed.part, seconds_of(problem, placed.part), start)


def _moved(problem: StreamProblem, found: FoundMapping, seed: int, until: float) -> FoundMapping:
    """Make random moves, of whatever shortens the period: for what the loads do not tell.

    That is transit, where processors on a route pay as well, and cycles of filters.
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
    progress: Callable[[str, float], None],
) -> tuple[FoundMapping, bool]:
    """Return what annealing finds, and whether it came to its end."""
    if problem.k == 1 or problem.n == 0:
        return found, True
    first = max(HEAT, HEAT_BY_K / problem.k) * min(1.0, FEW / problem.n)
    each = limits.proposals // len(TURNS)
    best, done = found.part.copy(), 0
    try:
        for share in TURNS:
            placed = placed_at(problem, best)
            heat = np.array([share * first, share * first * LAST])
            for begin in range(0, each, CHUNK):
                if time.monotonic() >= until:
                    break
                span = np.array([begin, min(begin + CHUNK, each), each], np.int64)
                kernels.anneal(problem.filters, problem.machine, placed, span, heat, best, state)
                done += int(span[1] - span[0])
                progress("annealing", 0.2 + 0.7 * done / limits.proposals)
    except KeyboardInterrupt:
        done = -1
    ended = done == each * len(TURNS)
    return _better(found, replace(found, part=best, period=seconds_of(problem, best))), ended


def placed_at(problem: StreamProblem, part: Part) -> Occupancy:
    """Return a mapping with its loads and lists, as kernels take it; `part` is copied."""
    n, k = problem.n, problem.k
    most = max(int(np.diff(problem.filters.offsets).max(initial=0)) + 2, 2)
    placed = Occupancy(
        part.astype(np.int32), np.zeros(k), np.zeros(k), np.empty(k, np.int32),
        np.empty(n, np.int32), np.empty(n, np.int32), np.zeros(k), np.zeros(k, np.int64),
        np.empty(most, np.int32),
    )  # fmt: skip
    kernels.settle(problem.filters, problem.machine, placed)
    return placed

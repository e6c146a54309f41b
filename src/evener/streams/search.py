"""Direct search for a mapping of short period: descent from several starts, then annealing."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evener.arrays import Part
from evener.streams import search_kernels as kernels
from evener.streams.period import StreamProblem, seconds_of
from evener.streams.search_kernels import Occupancy

PROPOSALS = 1_500_000  # of annealing in all, for any size; chosen on instances of other seeds
CHUNK = 1 << 18  # proposals between two looks at the clock
# Temperatures for the logarithm of a norm over k processors, first and last: times 1 / k.
HEAT = (0.3, 0.006)
WORK = 30_000_000  # processors looked at by one descent, at most
DESCENDED = 3  # of the starts, the best so many are improved; the best of these is annealed


@dataclass(frozen=True)
class SearchLimits:
    """How long to search: proposals of annealing in all, and seconds of wall time, if any."""

    proposals: int = PROPOSALS
    seconds: float | None = None


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
) -> FoundMapping:
    """Return the best mapping found from `starts`, never worse than any of them.

    progress: called with a word and the part that is done. With a limit of seconds, and where
    the user interrupts, the best so far is returned; else the result depends on the seed alone.
    """
    until = np.inf if limits.seconds is None else time.monotonic() + limits.seconds
    ranked = sorted(
        ((seconds_of(problem, part), i) for i, (_, part) in enumerate(starts)), key=lambda one: one
    )
    best = FoundMapping(starts[ranked[0][1]][1].copy(), ranked[0][0], starts[ranked[0][1]][0])
    state = np.array([np.uint64(seed) + np.uint64(1)], np.uint64)
    try:
        for _, i in ranked[:DESCENDED]:
            progress("descent", 0.1)
            best = _better(best, _descended(problem, starts[i][1], starts[i][0], state))
            if time.monotonic() > until:
                return _stopped(best)
        best, ended = _annealed(problem, best, limits, until, state, progress)
        best = _better(best, _descended(problem, best.part, best.start, state))
        return best if ended else _stopped(best)
    except KeyboardInterrupt:
        return _stopped(best)


def _stopped(found: FoundMapping) -> FoundMapping:
    return FoundMapping(found.part, found.period, found.start, ended=False)


def _better(one: FoundMapping, other: FoundMapping) -> FoundMapping:
    return other if other.period < one.period else one


def _descended(problem: StreamProblem, part: Part, start: str, state: np.ndarray) -> FoundMapping:
    placed = placed_at(problem, part)
    kernels.improve(problem.filters, problem.machine, placed, WORK, state)
    return FoundMapping(placed.part, seconds_of(problem, placed.part), start)


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
    placed, best = placed_at(problem, found.part), found.part.copy()
    heat = np.array(HEAT) / problem.k
    done, interrupted = 0, False
    try:
        while done < limits.proposals and time.monotonic() < until:
            last = min(done + CHUNK, limits.proposals)
            span = np.array([done, last, limits.proposals], np.int64)
            kernels.anneal(problem.filters, problem.machine, placed, span, heat, best, state)
            done = last
            progress("annealing", 0.2 + 0.7 * done / limits.proposals)
    except KeyboardInterrupt:
        interrupted = True
    ended = done >= limits.proposals and not interrupted
    return _better(found, FoundMapping(best, seconds_of(problem, best), found.start)), ended


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

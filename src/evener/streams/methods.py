"""Methods to place filters, by name: each maps the filters of a problem to processors."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from evener.arrays import Part
from evener.errors import InfeasibleError, ToolError, UsageError, one_of
from evener.partitioning.external import metis
from evener.partitioning.external.children import run_in_child
from evener.partitioning.external.jobs import Job
from evener.streams import placing
from evener.streams.exact import exact
from evener.streams.hmap import EPSILON, TIME_LIMIT, hmap, weights_of
from evener.streams.period import StreamProblem, seconds_of
from evener.streams.search import FoundMapping, SearchLimits, search

METIS = "evener.partitioning.external.metis"
GREEDY_STARTS = 3
MOST_LISTED = 1 << 22  # largest filters x processors for which a list is one of the starts
PLACING, DIVIDING = 0.4, 0.6  # shares of the time limit until which starts are made
JOINED = 0.5  # seconds between two checks for an interrupt by the user


class MethodOptions(NamedTuple):
    """Options of a method: time limits, seed of random numbers, and a function for its progress."""

    limits: SearchLimits = SearchLimits()
    seed: int = 7
    progress: Callable[[str, float], None] = lambda *_: None


def by_metis(
    problem: StreamProblem,
    seed: int,
    *,
    recursive: bool = False,
    work: bool = False,
    seconds: float = TIME_LIMIT,
) -> Part:
    """Return processors (n,) by METIS: block p is processor p, sized by its shares of R0 and R1.

    work: use one weight instead, as in `weights_of`. seconds: time limit of METIS. Raises
    InfeasibleError if there are fewer filters than processors, because METIS leaves no block empty.
    """
    if problem.n < problem.k:
        raise InfeasibleError(
            f"METIS cannot make {problem.k:,} blocks of {problem.n:,} filters",
            hint="Use --method ours or hmap.",
        )
    if problem.k == 1:
        return np.zeros(problem.n, np.int32)
    filters = problem.filters
    weights, able = weights_of(problem, work=work)
    job = Job(
        "metis-recursive" if recursive else "metis", filters.offsets, filters.ends,
        weights, np.maximum(filters.here, filters.there),
        able, EPSILON, seed, 1, "cut", "default",
    )  # fmt: skip
    return np.asarray(run_in_child(job, METIS, seconds).part, np.int32)


def starts_of(problem: StreamProblem, seed: int) -> list[tuple[str, Part]]:
    """Return the initial mappings of the search: greedy ones, and those of HMAP and METIS.

    HMAP and METIS are used if METIS is installed. Omits mappings with a filter on a processor that
    cannot run it, and mappings for which METIS fails.
    """
    return [*_placed_starts(problem, seed, np.inf)[0], *divided_starts(problem, seed)]


def _placed_starts(
    problem: StreamProblem, seed: int, until: float
) -> tuple[list[tuple[str, Part]], bool]:
    """Return mappings that place filters one by one, and whether the user interrupted.

    Returns a random mapping if no other one is made in time.
    """
    placed: list[Part] = []
    others: list[tuple[str, Part]] = []
    stopped = False
    try:
        placed.extend(placing.on_subsets(problem, until))  # an interrupt keeps those so far
        if problem.n * problem.k <= MOST_LISTED and time.monotonic() < until:
            others = [("list", placing.listed(problem))]
    except KeyboardInterrupt:
        stopped = True
    best = placing.best_of(problem, placed, GREEDY_STARTS)
    found = [*(("greedy", part) for part in best), *others]
    fit = [one for one in found if np.isfinite(seconds_of(problem, one[1]))]
    return fit or [("random", placing.at_random(problem, seed))], stopped


def divided_starts(
    problem: StreamProblem, seed: int, until: float = np.inf
) -> list[tuple[str, Part]]:
    """Return the mappings of HMAP and METIS made before `until` (by `time.monotonic`).

    Omits mappings with a filter on a processor that cannot run it, and mappings for which METIS
    fails.
    """

    def left() -> float:
        return min(until - time.monotonic(), TIME_LIMIT)

    found: list[tuple[str, Part]] = []
    if metis.missing() is not None or problem.k == 1:
        return found
    makers: list[tuple[str, Callable[[], Part]]] = [
        ("hmap", lambda: hmap(problem, seed=seed, seconds=left()).part),
        ("metis-recursive", lambda: by_metis(problem, seed, recursive=True, seconds=left())),
        ("metis", lambda: by_metis(problem, seed, seconds=left())),
    ]
    for name, make in makers:
        if left() <= 0:
            break
        try:
            part = make()
        except (InfeasibleError, ToolError):
            continue
        if np.isfinite(seconds_of(problem, part)):
            found.append((name, part))
    return found


class _Beside:
    """Runs a call in a daemon thread; `result` waits for it."""

    def __init__(self, call: Callable[[], list[tuple[str, Part]]]) -> None:
        self._call = call
        self._found: list[tuple[str, Part]] = []
        self._failed: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._found = self._call()
        except BaseException as error:  # raised again by result
            self._failed = error

    def result(self, until: float) -> list[tuple[str, Part]]:
        """Return the result of the call, or an empty list if it does not end before `until`."""
        while self._thread.is_alive() and time.monotonic() < until:
            self._thread.join(min(until - time.monotonic(), JOINED))
        if self._failed is not None:
            raise self._failed
        return self._found


def ours(problem: StreamProblem, asked: MethodOptions) -> FoundMapping:
    """Return the result of direct search from all initial mappings.

    The time limit includes making the initial mappings, but not computing the routes between
    processors. METIS and HMAP run concurrently with the search, and the last round of the search
    uses their mappings.
    """
    asked.progress("starts", 0.0)
    _ = problem.machine, problem.filters  # computed before two threads and the clock start
    began, until = time.monotonic(), asked.limits.until()
    divided = _Beside(lambda: divided_starts(problem, asked.seed, _share(began, until, DIVIDING)))
    starts, stopped = _placed_starts(problem, asked.seed, _share(began, until, PLACING))
    if stopped:
        until = -np.inf
    return search(problem, starts, asked.limits, asked.seed, asked.progress, until, divided.result)


def _share(began: float, until: float, share: float) -> float:
    return until if until == np.inf else began + share * (until - began)


def by_exact(problem: StreamProblem, asked: MethodOptions) -> FoundMapping:
    """Return the best possible mapping, or the best one found within the time limit."""
    found = exact(problem, asked.limits.seconds or 60.0)
    if found.part is None:
        raise InfeasibleError("no mapping was found within the time limit")
    return FoundMapping(found.part, found.period, "exact", found.proven)


def _plain(
    make: Callable[[StreamProblem, int], Part],
) -> Callable[[StreamProblem, MethodOptions], FoundMapping]:
    def made(problem: StreamProblem, asked: MethodOptions) -> FoundMapping:
        part = make(problem, asked.seed)
        return FoundMapping(part, seconds_of(problem, part), "")

    return made


def _by_hmap(
    *, way: str = "down", tool: str = "metis", work: bool = False
) -> Callable[[StreamProblem, MethodOptions], FoundMapping]:
    def made(problem: StreamProblem, asked: MethodOptions) -> FoundMapping:
        found = hmap(problem, way=way, tool=tool, work=work, seed=asked.seed)
        said = f"Clusters with branches of unequal numbers of devices: {found.unequal:,}."
        notes = (said,) if found.unequal else ()
        return FoundMapping(found.part, seconds_of(problem, found.part), "", notes=notes)

    return made


METHODS: dict[str, Callable[[StreamProblem, MethodOptions], FoundMapping]] = {
    "ours": ours,
    "exact": by_exact,
    "hmap": _by_hmap(),
    "hmap-up": _by_hmap(way="up"),
    "hmap-evener": _by_hmap(tool="evener"),
    "hmap-work": _by_hmap(work=True),
    "metis": _plain(by_metis),
    "metis-recursive": _plain(lambda problem, seed: by_metis(problem, seed, recursive=True)),
    "metis-work": _plain(lambda problem, seed: by_metis(problem, seed, work=True)),
    "greedy": _plain(lambda problem, _: placing.greedy(problem)),
    "list": _plain(lambda problem, _: placing.listed(problem)),
    "round-robin": _plain(lambda problem, _: placing.in_turn(problem)),
    "random": _plain(placing.at_random),
}
NEED_METIS = ("hmap", "hmap-up", "hmap-work", "metis", "metis-recursive", "metis-work")


def placed_by(name: str, problem: StreamProblem, asked: MethodOptions) -> FoundMapping:
    """Return the mapping computed by the method `name`.

    Raises UsageError for other names, and if the method needs METIS, which is missing;
    InfeasibleError if the method cannot place all filters.
    """
    one_of("method", name, METHODS)
    missing = metis.missing()
    if name in NEED_METIS and missing is not None:
        raise UsageError(
            f"{name} needs METIS: {missing}", hint="Use --method ours, which works without METIS."
        )
    found = METHODS[name](problem, asked)
    if not np.isfinite(found.period):
        raise InfeasibleError(
            f"{name} places a filter on a processor that cannot run it",
            hint="The method ignores needs of filters. Use --method ours.",
        )
    return found

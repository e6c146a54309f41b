"""Methods of placing filters, by name: each takes a problem and returns processors of filters."""

from __future__ import annotations

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
from evener.streams.hmap import EPSILON, TIME_LIMIT, hmap
from evener.streams.period import StreamProblem, seconds_of
from evener.streams.search import FoundMapping, SearchLimits, search

METIS = "evener.partitioning.external.metis"
GREEDY_STARTS = 3
MOST_LISTED = 1 << 22  # filters x processors, above which a list is no start
TRIED_A_SECOND = 1e7  # filters x processors that greedy placement tries at least in a second


class MethodOptions(NamedTuple):
    """What a method may use: how long, random numbers, and where it tells how far it is."""

    limits: SearchLimits = SearchLimits()
    seed: int = 7
    progress: Callable[[str, float], None] = lambda *_: None


def by_metis(
    problem: StreamProblem, seed: int, *, recursive: bool = False, seconds: float = TIME_LIMIT
) -> Part:
    """(n,) processors by METIS: block p is processor p, by its shares of all R0 and of all R1.

    seconds: METIS may take. Raises InfeasibleError for fewer filters than processors, as METIS
    leaves no block empty.
    """
    if problem.n < problem.k:
        raise InfeasibleError(
            f"METIS makes no {problem.k:,} blocks of {problem.n:,} filters",
            hint="Use --method ours or hmap.",
        )
    if problem.k == 1:
        return np.zeros(problem.n, np.int32)
    filters, graph = problem.filters, problem.graph
    able = np.column_stack([problem.processors.rate, problem.processors.width])
    job = Job(
        "metis-recursive" if recursive else "metis", filters.offsets, filters.ends,
        np.column_stack([graph.scalar, graph.vector]), np.maximum(filters.here, filters.there),
        able, EPSILON, seed, 1, "cut", "default",
    )  # fmt: skip
    return np.asarray(run_in_child(job, METIS, seconds).part, np.int32)


def starts_of(problem: StreamProblem, seed: int, until: float = np.inf) -> list[tuple[str, Part]]:
    """Return what the search begins with: greedy ones, HMAP's and METIS's where there is METIS.

    Those that put a filter where it cannot be are left out, and METIS's where it fails. until: the
    time of `time.monotonic` at which no more are made, and METIS is stopped.
    """

    def left() -> float:
        return min(until - time.monotonic(), TIME_LIMIT)

    size = problem.n * problem.k
    found = [("greedy", part) for part in placing.greedy_starts(problem, GREEDY_STARTS, until)]
    makers: list[tuple[str, Callable[[], Part]]] = []
    if left() > size / TRIED_A_SECOND:
        makers.append(("greedy", lambda: placing.greedy(problem)))
        if size <= MOST_LISTED:
            makers.append(("list", lambda: placing.listed(problem)))
    if metis.missing() is None and problem.k > 1:
        makers += [
            ("hmap", lambda: hmap(problem, seed=seed, seconds=left()).part),
            ("metis", lambda: by_metis(problem, seed, seconds=left())),
            ("metis-recursive", lambda: by_metis(problem, seed, recursive=True, seconds=left())),
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


def ours(problem: StreamProblem, asked: MethodOptions) -> FoundMapping:
    """Return the result of direct search from all starts, which its seconds are for as well."""
    asked.progress("starts", 0.0)
    until = asked.limits.until()
    starts = starts_of(problem, asked.seed, until)
    return search(problem, starts, asked.limits, asked.seed, asked.progress, until)


def by_exact(problem: StreamProblem, asked: MethodOptions) -> FoundMapping:
    """Return the best mapping of all, or the best within the time limit."""
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
    *, way: str = "down", tool: str = "metis"
) -> Callable[[StreamProblem, MethodOptions], FoundMapping]:
    def made(problem: StreamProblem, asked: MethodOptions) -> FoundMapping:
        found = hmap(problem, way=way, tool=tool, seed=asked.seed)
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
    "metis": _plain(by_metis),
    "metis-recursive": _plain(lambda problem, seed: by_metis(problem, seed, recursive=True)),
    "greedy": _plain(lambda problem, _: placing.greedy(problem)),
    "list": _plain(lambda problem, _: placing.listed(problem)),
    "round-robin": _plain(lambda problem, _: placing.in_turn(problem)),
    "random": _plain(placing.at_random),
}
NEED_METIS = ("hmap", "hmap-up", "metis", "metis-recursive")


def placed_by(name: str, problem: StreamProblem, asked: MethodOptions) -> FoundMapping:
    """Return the mapping that the method `name` makes.

    Raises UsageError for other names, and where METIS is missing; InfeasibleError where the
    method cannot place all filters.
    """
    one_of("method", name, METHODS)
    missing = metis.missing()
    if name in NEED_METIS and missing is not None:
        raise UsageError(f"{name} needs METIS: {missing}", hint="--method ours does without.")
    found = METHODS[name](problem, asked)
    if not np.isfinite(found.period):
        raise InfeasibleError(
            f"{name} puts a filter on a processor that cannot have it",
            hint="It knows no needs of filters. Use --method ours.",
        )
    return found

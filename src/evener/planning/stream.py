"""Maps the filters of a stream graph to the devices of a platform."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import Part
from evener.errors import InputError, UsageError, one_of
from evener.graphs.stream_graph import StreamGraph
from evener.planning.split import cpu_seconds_of_all
from evener.plans.stream_plan import StreamPlan
from evener.platforms.platform import Platform
from evener.streams.bounds import bounds_of
from evener.streams.methods import MethodOptions, placed_by
from evener.streams.period import Period, StreamProblem, period_of
from evener.streams.readings import CostReading
from evener.streams.replicating import bounds_with_copies, with_copies_by_search
from evener.streams.search import SearchLimits
from evener.wording import duration

BOUNDS = ("quick", "strong")
LINKS_KEPT = 10  # of the busiest links, in a plan
STOPPED = "The search stopped before its end: this is the best mapping found so far."
SAME = 1e-9  # relative difference up to which sums of seconds are the same


@dataclass(frozen=True)
class MapOptions:
    """How filters are mapped: the method, its time limit, and the seed of random numbers.

    seconds: limit of wall time; None: until the search is complete, so that the result depends only
    on the seed. bound: "quick", or "strong" for the lower bound that takes longer. replicate:
    whether stateless filters may have copies, which share their data; only for method "ours".
    """

    method: str = "ours"
    seconds: float | None = None
    seed: int = 7
    bound: str = "quick"
    replicate: bool = False

    def __post_init__(self) -> None:
        one_of("bound", self.bound, BOUNDS)
        if self.seed < 0 or (self.seconds is not None and not self.seconds > 0):
            raise UsageError(
                "the seed must not be negative, and the time limit (--seconds) must be above zero"
            )
        if self.replicate and (self.method != "ours" or self.bound != "quick"):
            raise UsageError("copies of filters need --method ours and --bound quick")


def map_filters(
    graph: StreamGraph,
    platform: Platform,
    options: MapOptions | None = None,
    reading: CostReading | None = None,
    *,
    inputs: Mapping[str, str] | None = None,
    notes: tuple[str, ...] = (),
    progress: Callable[[str, float], None] = lambda *_: None,
) -> StreamPlan:
    """Map each filter to a device such that the period is short; return the plan.

    reading: the cost model of an iteration. inputs: file name -> SHA-256, for the plan. Raises
    InputError if devices state no mips, or no device can run a filter; UsageError for invalid
    options; InfeasibleError if the method cannot map all filters.
    """
    options, reading = options or MapOptions(), reading or CostReading()
    problem = StreamProblem.of(graph, platform, reading)
    began = cpu_seconds_of_all()
    asked = MethodOptions(SearchLimits(seconds=options.seconds), options.seed, progress)
    copied = with_copies_by_search(problem, asked) if options.replicate else None
    found = placed_by(options.method, problem, asked) if copied is None else copied.found
    seconds = cpu_seconds_of_all() - began
    said = [*notes, *found.notes]
    if not found.ended:
        said.append(STOPPED)
    record = {**asdict(options), **asdict(reading), "start": found.start}
    if copied is None or copied.copies.counts.max(initial=1) == 1:
        return replace(_plan_of(problem, found.part, record, inputs, said), cpu_seconds=seconds)
    made = _plan_of(copied.problem, found.part, record, inputs, said)
    bound = bounds_with_copies(problem).best
    return replace(made, cpu_seconds=seconds, bound=bound, copy_of=copied.copies.of)


def evaluate_filters(
    graph: StreamGraph,
    platform: Platform,
    part: npt.ArrayLike,
    reading: CostReading | None = None,
    *,
    inputs: Mapping[str, str] | None = None,
    notes: tuple[str, ...] = (),
) -> StreamPlan:
    """Return the plan of any mapping; part (n,): the device of each filter.

    Raises the InputErrors of `map_filters`, and InputError if part does not fit graph and platform.
    """
    reading = reading or CostReading()
    problem = StreamProblem.of(graph, platform, reading)
    chosen = problem.refuse_misfit(part)
    return _plan_of(problem, chosen, {"method": "", **asdict(reading), "start": ""}, inputs, notes)


def _plan_of(
    problem: StreamProblem,
    part: Part,
    options: Mapping[str, Any],
    inputs: Mapping[str, str] | None,
    notes: Sequence[str],
) -> StreamPlan:
    period = period_of(problem, part)
    return StreamPlan(
        part,
        problem.graph,
        problem.processors.platform,
        period.seconds,
        bounds_of(problem, strong=options.get("bound") == "strong").best,
        period.computing,
        period.communicating,
        _busiest_links(period),
        options,
        inputs or {},
        {name: version(name) for name in ("evener", "numpy", "scipy")},
        (*notes, *_notes(period)),
    )


def problem_of(plan: StreamPlan) -> StreamProblem:
    """Return the problem that a plan solves. Raises InputError if its options are invalid."""
    words = {field.name: plan.options.get(field.name) for field in fields(CostReading)}
    if not isinstance(words["overlap"], bool):
        raise InputError(f"holds invalid options: overlap is {words['overlap']!r:.40}")
    try:
        return StreamProblem.of(plan.graph, plan.platform, CostReading(**words))  # type: ignore[arg-type]
    except (TypeError, UsageError) as error:
        raise InputError(f"holds invalid options: {error}") from error


def counted(plan: StreamPlan, problem: StreamProblem) -> Period:
    """Return the period of a plan's mapping, computed from its graph and its devices.

    Raises InputError if the plan states another period.
    """
    period = period_of(problem, plan.part)
    said = np.stack([plan.computing, plan.communicating])
    found = np.stack([period.computing, period.communicating])
    if not np.allclose(said, found, rtol=SAME, atol=0.0) or not np.isclose(
        plan.period, period.seconds, rtol=SAME, atol=0.0
    ):
        raise InputError(
            f"states a period of {plan.period:.6g} s, but its mapping has a period of "
            f"{period.seconds:.6g} s",
            hint="Make it again with `evener map`.",
        )
    return period


def _notes(period: Period) -> list[str]:
    said = []
    if period.cycle > period.loads.max():
        said.append(
            f"A cycle of filters takes {duration(period.cycle)} per token, longer than any device "
            "is busy: more tokens on the cycle would shorten the period."
        )
    if period.slowest_link > period.seconds:
        name = period.link_names[int(np.argmax(period.links))]
        said.append(
            f"Link {name} is busy for longer than any device; the period does not include this."
        )
    return said


def _busiest_links(period: Period) -> dict[str, float]:
    order = np.argsort(-period.links, kind="stable")[:LINKS_KEPT]
    return {period.link_names[i]: float(period.links[i]) for i in order if period.links[i] > 0}

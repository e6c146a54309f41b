"""Run several methods of mapping filters, and compare their periods, bounds and CPU seconds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evener.errors import EvenerError, one_of
from evener.graphs.stream_graph import StreamGraph
from evener.planning.stream import MapOptions, map_filters
from evener.plans.stream_plan import StreamPlan
from evener.platforms.platform import Device, Platform
from evener.streams.methods import METHODS
from evener.streams.processors import MIPS
from evener.streams.readings import CostReading
from evener.wording import brief

MOST_EXACT = 48  # filters x processors up to which `exact` is among the methods that are not named

LOADING = 0.01  # seconds of the search that loads its kernels


@dataclass(frozen=True, eq=False)
class StreamComparison:
    """One method's plan of a stream graph, or None and a note that says why the method failed."""

    method: str
    plan: StreamPlan | None = None
    note: str = ""

    def __repr__(self) -> str:
        return brief(self)


def compare_filters(
    graph: StreamGraph,
    platform: Platform,
    methods: Sequence[str] | None = None,
    options: MapOptions | None = None,
    reading: CostReading | None = None,
    *,
    inputs: Mapping[str, str] | None = None,
    progress: Callable[[str, float], None] = lambda *_: None,
) -> list[StreamComparison]:
    """Return a StreamComparison for each method, the shortest period first, failed ones last.

    methods: names; None: all, but `exact` only for small graphs. options: the same for all methods;
    the time limit applies to each of them. Raises UsageError for an unknown method.
    """
    chosen = list(METHODS) if methods is None else list(methods)
    for method in chosen:
        one_of("method", method, METHODS)
    if methods is None and graph.n * platform.k > MOST_EXACT:
        chosen.remove("exact")
    found = []
    for i, method in enumerate(chosen):
        progress(method, i / len(chosen))
        try:
            asked = replace(options or MapOptions(), method=method)
            _load_kernels(asked, reading)
            plan = map_filters(graph, platform, asked, reading, inputs=inputs)
            found.append(StreamComparison(method, plan))
        except EvenerError as error:
            found.append(StreamComparison(method, note=error.message))
    return sorted(found, key=lambda one: float("inf") if one.plan is None else one.plan.period)


def _load_kernels(asked: MapOptions, reading: CostReading | None) -> None:
    """Map a few filters first, so that no method's time includes loading code."""
    n = 4
    ends = np.arange(n - 1)
    graph = StreamGraph(
        tuple(map(str, range(n))), np.ones(n), np.ones(n), ends, ends + 1, np.ones(n - 1)
    )
    devices = tuple(Device(name, 1.0, capabilities={MIPS: 1.0}) for name in "ab")
    map_filters(graph, Platform(devices), replace(asked, seconds=LOADING), reading)

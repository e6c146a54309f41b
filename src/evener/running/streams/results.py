"""StreamRun: the outputs of a stream program, and the times of its filters and processors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evener.arrays import FloatArray
from evener.running.records import MICROSECOND, named, sorted_by
from evener.running.streams.processor import FilterTimes
from evener.running.streams.program import Array, Outputs
from evener.wording import duration, plural, two_lines


@dataclass(frozen=True, eq=False)
class StreamRun:
    """The result of a stream program on the processors of a plan.

    outputs: name of each filter without outgoing channels -> what it returned (iterations, ...), in
    order. iterations: their number. seconds: from the beginning of the first filter until all have
    ended. period [s]: between the ends of iterations in steady state; None if there were too few
    iterations. predicted [s]: the plan's period. filters: times of each filter, in the program's
    order. names: of the plan's processors. is_emulated: whether seconds are those of a virtual
    clock.
    """

    outputs: Outputs
    iterations: int
    seconds: float
    period: float | None
    predicted: float
    filters: tuple[FilterTimes, ...]
    names: tuple[str, ...]
    is_emulated: bool = False

    def __repr__(self) -> str:
        first = plural(self.iterations, "iteration"), duration(self.seconds)
        second = f"period {duration(self.period)}", f"predicted {duration(self.predicted)}"
        return two_lines("StreamRun", first, second)

    @property
    def throughput(self) -> float | None:
        """Iterations per second in steady state; None if there were too few."""
        return None if self.period is None else 1.0 / self.period

    @property
    def busy(self) -> FloatArray:
        """Seconds that each processor ran filters (k,)."""
        return self._sums("seconds")

    @property
    def cpu(self) -> FloatArray:
        """CPU seconds that each processor used for filters (k,)."""
        return self._sums("cpu")

    @property
    def no_input(self) -> FloatArray:
        """Seconds that each processor waited for data (k,)."""
        return self._sums("no_input")

    @property
    def no_room(self) -> FloatArray:
        """Seconds that each processor waited for room (k,)."""
        return self._sums("no_room")

    def _sums(self, name: str) -> FloatArray:
        values = [float(getattr(one, name)) for one in self.filters]
        places = [one.processor for one in self.filters]
        return np.bincount(places, values, len(self.names)).astype(np.float64)


def steady_period(ends: Sequence[Sequence[float]], depth: int) -> float | None:
    """Return the mean seconds between ends of iterations: the longest among the last filters.

    ends: for each of the last filters, when it ended each iteration [s]. The first and the last
    `depth` iterations are not steady and are ignored; None if fewer than two are left.
    """
    first, last = depth, len(ends[0]) - 1 - depth
    if last <= first:
        return None
    # Clocks of several computers differ: each filter is compared with itself.
    return max((own[last] - own[first]) / (last - first) for own in ends)


def ends_of(copies: Sequence[FilterTimes], iterations: int) -> list[float]:
    """Return when each iteration of a filter, and all earlier ones, had ended in all its copies."""
    ends = np.empty(iterations)
    for one in copies:
        ends[list(one.turns)] = one.ends
    return [float(end) for end in np.maximum.accumulate(ends)]


def outputs_of(given: Sequence[tuple[int, Array]], keep: int | None = None) -> Array:
    """Return the outputs of a filter (iterations, ...), in order.

    keep: number of last iterations to return; None: all.
    """
    kept = sorted(given, key=lambda one: one[0])
    return np.stack([array for _, array in kept[-(keep or len(kept)) :]])


def stream_trace_of(run: StreamRun) -> dict[str, Any]:
    """Return the trace of a run whose spans were recorded: a track for each processor.

    The trace has an event for each firing of a filter; see evener.running.records.
    """
    began = min((one.spans[0][0] for one in run.filters if one.spans), default=0.0)
    events = [named("process", 1, 0, "processors")]
    for device, name in enumerate(run.names):
        place = {"pid": 1, "tid": device + 1}
        events += [named("thread", 1, device + 1, name), sorted_by(place, device)]
    for one in run.filters:
        place = {"pid": 1, "tid": one.processor + 1}
        turns = one.turns or range(len(one.spans))
        for iteration, (start, end) in zip(turns, one.spans, strict=False):
            times = {"ts": round((start - began) / MICROSECOND, 3),
                     "dur": round((end - start) / MICROSECOND, 3)}  # fmt: skip
            events.append({"name": one.name, "cat": "filter", "ph": "X", **times, **place,
                           "args": {"iteration": iteration}})  # fmt: skip
    return {"traceEvents": events, "displayTimeUnit": "ms"}

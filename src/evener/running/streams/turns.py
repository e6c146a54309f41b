"""Which copy of a filter runs which iterations, if a plan has copies of filters.

A plan's copies share the data of an iteration. A function gets whole arrays, so here copies
alternate: each iteration t has a place x(t) in [0, 1), and the copy whose part of the data contains
x(t) runs the iteration. The places are those of a rotation by the golden ratio; the number in each
part is proportional to its length, at intervals that are as even as possible. All filters have the
same places, so the bytes that two copies exchange are on average those of the data that they have
in common.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from evener.arrays import IntArray
from evener.arrays_kernels import SPREAD
from evener.errors import UsageError
from evener.plans.stream_plan import StreamPlan
from evener.running.streams.program import StreamProgram
from evener.wording import plural

MOST_AHEAD = 32  # iterations that channels hold for copies at most: memory, not correctness


def places(begin: int, end: int) -> npt.NDArray[np.float64]:
    """Return the places in [0, 1) of iterations begin to end - 1 (end - begin,).

    The numbers may be negative.
    """
    with np.errstate(over="ignore"):
        turned = np.arange(begin, end).astype(np.uint64) * SPREAD
    return (turned >> np.uint64(11)).astype(np.float64) * 2.0**-53


@dataclass(frozen=True, eq=False)
class FilterTurns:
    """The iterations of each filter of a plan, which may be a copy of one of the program.

    iterations: number of iterations of the run. Raises UsageError for a plan of other filters than
    the program's, and if a filter with state has copies.
    """

    program: StreamProgram
    plan: StreamPlan
    iterations: int

    def __post_init__(self) -> None:
        names, of = self.program.graph.names, self.of
        counts = np.bincount(of, minlength=len(names)) if of.size else np.zeros(len(names), int)
        expected = tuple(
            f"{name} {j + 1}/{count}" if count > 1 else name
            for name, count in zip(names, counts.tolist(), strict=False)
            for j in range(count)
        )
        if (
            counts.size != len(names)
            or counts.min(initial=1) < 1
            or self.plan.names != expected
            or (np.diff(of) < 0).any()
        ):
            theirs, ours = self.plan.names, self.program.graph.names
            raise UsageError(
                f"the plan has {plural(len(theirs), 'filter')} ({_some(theirs)}), but "
                f"{self.program.name} has {len(ours):,} ({_some(ours)})",
                hint="Plan the graph of this program, which evener run --stream --calibrate "
                "writes.",
            )
        for one, count in zip(self.program.filters, counts.tolist(), strict=True):
            if count > 1 and one.state is not None:
                raise UsageError(f"filter {one.name!r} has state, so it cannot have {count} copies")

    @cached_property
    def of(self) -> IntArray:
        """The program's filter of which each filter of the plan is a copy (c,)."""
        copy_of = self.plan.copy_of
        return np.arange(len(self.plan.names)) if copy_of is None else np.asarray(copy_of)

    @cached_property
    def first(self) -> IntArray:
        """The plan's first filter for each filter of the program, and the end (n + 1,)."""
        return np.searchsorted(self.of, np.arange(len(self.program.filters) + 1))

    def copies(self, i: int) -> range:
        """Return the plan's filters that are copies of filter i of the program."""
        return range(int(self.first[i]), int(self.first[i + 1]))

    def owners(self, i: int, begin: int, end: int) -> IntArray:
        """Return the plan's filter that runs filter i in each iteration (end - begin,)."""
        own = self.copies(i)
        if len(own) == 1:
            return np.full(end - begin, own[0])
        ends = np.cumsum(self.plan.graph.vector[own.start : own.stop])
        chosen = np.searchsorted(ends[:-1] / ends[-1], places(begin, end), side="right")
        return np.asarray(own.start + chosen)

    def of_copy(self, c: int) -> range | list[int]:
        """Return the iterations that filter c of the plan runs, ascending."""
        i = int(self.of[c])
        if len(self.copies(i)) == 1:
            return range(self.iterations)
        return np.flatnonzero(self.owners(i, 0, self.iterations) == c).tolist()

    @cached_property
    def homes(self) -> IntArray:
        """The processor of each filter of the program (n,).

        A filter with copies has a negative number of its own instead, so that it counts as separate
        from all others.
        """
        part = self.plan.part.astype(np.int64)
        single = np.diff(self.first) == 1
        own = np.arange(single.size)
        return np.where(single, part[np.minimum(self.first[:-1], part.size - 1)], -1 - own)

    @cached_property
    def ahead(self) -> IntArray:
        """By how many iterations copies at the ends of channels may differ (m,).

        While a copy runs one iteration, other copies run iterations that begin in this time.
        """
        graph = self.program.graph
        gaps = np.zeros(len(self.program.filters), np.int64)
        for i in np.flatnonzero(np.diff(self.first) > 1).tolist():
            gaps[i] = min(max(map(self._meanwhile, self.copies(i))), MOST_AHEAD)
        return np.maximum(gaps[graph.tails], gaps[graph.heads])

    def _meanwhile(self, c: int) -> int:
        """Return one plus the number of iterations that begin, by the plan, while copy c runs one.

        The result is at most ceil(1 / (the copy's share of the data)): on average, the copy runs
        one of so many iterations.
        """
        own, plan = self.copies(int(self.of[c])), self.plan
        parts = plan.graph.vector[own.start : own.stop]
        between = int(np.ceil(parts.sum() / plan.graph.vector[c]))
        able = plan.platform.devices[int(plan.part[c])].capabilities
        if "mips" not in able or plan.period <= 0:
            return between
        passes = np.ceil(parts.sum() / able.get("vector_length", 1.0))
        seconds = plan.graph.scalar[c] * passes / (able["mips"] * 1e6)
        return min(between, int(np.ceil(seconds / plan.period)) + 1)


def _some(names: tuple[str, ...]) -> str:
    return ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")

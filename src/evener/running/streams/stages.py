"""How far filters run ahead of each other, and how many slots their channels have.

In steady state a filter of stage s is at iteration r - s while one of stage 0 is at iteration r.
A filter is a stage behind those of other processors that it needs: while it reads what they gave
in one round, they fill another slot. So a channel between neighbouring stages has two slots, one
that passes over stages as many more. With a slot beyond what lies there at first no filters can
wait for each other in a circle, whatever the mapping: each such circle has a free slot or a token.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evener.arrays import IntArray, Part
from evener.errors import UsageError
from evener.running.streams.program import StreamProgram

SLOTS = 2  # of a channel between neighbouring stages: one is filled while the other is read


@dataclass(frozen=True, eq=False)
class PipelineStages:
    """The stage of each filter of a program on processors, and the slots of its channels.

    part (n,): processor of each filter. slots: of a channel between neighbouring stages, 2 or
    more. ahead (m,): more slots of channels, whose ends have copies; None: no more. Raises
    UsageError for fewer slots.
    """

    program: StreamProgram
    part: Part | IntArray
    slots: int = SLOTS
    ahead: IntArray | None = None

    def __post_init__(self) -> None:
        if self.slots < 2:
            raise UsageError(
                f"a channel needs at least 2 slots, not {self.slots}: one is filled while "
                "another is read"
            )

    @cached_property
    def of_filters(self) -> IntArray:
        """(n,) stages, from 0."""
        program, graph = self.program, self.program.graph
        found = np.zeros(graph.n, np.int64)
        for v in program.order:
            for e in program.incoming[v]:
                if not program.channels[e].initial:
                    u = graph.tails[e]
                    found[v] = max(found[v], found[u] + (self.part[u] != self.part[v]))
        return found

    @cached_property
    def of_channels(self) -> IntArray:
        """(m,) slots."""
        graph = self.program.graph
        apart = self.of_filters[graph.heads] - self.of_filters[graph.tails]
        tokens = np.array([len(one.initial) for one in self.program.channels], np.int64)
        more = 0 if self.ahead is None else self.ahead
        return np.asarray(np.maximum(apart, 0) + tokens + more + self.slots - 1)

    @cached_property
    def depth(self) -> int:
        """Iterations by which the first filter may be ahead of the last: before, nothing is steady.

        All slots on the way that has most of them.
        """
        program, graph = self.program, self.program.graph
        ahead = np.zeros(graph.n, np.int64)
        for v in program.order:
            for e in program.incoming[v]:
                if not program.channels[e].initial:
                    ahead[v] = max(ahead[v], ahead[graph.tails[e]] + self.of_channels[e])
        return int(ahead.max(initial=0))

    @cached_property
    def last(self) -> IntArray:
        """Filters with which an iteration ends: their arrays are for later ones, if for any."""
        program = self.program
        return np.array(
            [
                v
                for v in range(len(program.filters))
                if all(program.channels[e].initial for e in program.outgoing[v])
            ],
            np.int64,
        )

"""How far filters run ahead of each other, and how many slots their channels have.

In steady state a filter of stage s is at iteration r - s while one of stage 0 is at iteration r. A
filter is one stage behind the filters on other processors that it needs: while it reads what they
wrote in one round, they fill another slot. So a channel between neighbouring stages has two slots;
a channel that skips stages has one more for each. Each channel has at least one slot more than
initial arrays, so that filters never deadlock, whatever the mapping: each cycle of waiting filters
would have a free slot or a token.
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

    part (n,): processor of each filter. slots: number of slots of a channel between neighbouring
    stages, at least 2. ahead (m,): additional slots of channels whose ends have copies; None: none.
    Raises UsageError for fewer than 2 slots.
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
        """Stage of each filter (n,), from 0."""
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
        """Number of slots of each channel (m,)."""
        graph = self.program.graph
        apart = self.of_filters[graph.heads] - self.of_filters[graph.tails]
        tokens = np.array([len(one.initial) for one in self.program.channels], np.int64)
        more = 0 if self.ahead is None else self.ahead
        return np.asarray(np.maximum(apart, 0) + tokens + more + self.slots - 1)

    @cached_property
    def depth(self) -> int:
        """Largest number of iterations by which filters run ahead, until the run is steady.

        This is the largest number of slots on any path.
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
        """Filters that end an iteration: their arrays, if any, are read only in later ones."""
        program = self.program
        return np.array(
            [
                v
                for v in range(len(program.filters))
                if all(program.channels[e].initial for e in program.outgoing[v])
            ],
            np.int64,
        )

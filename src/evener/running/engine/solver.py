"""Solver: an application with a loop of its own, as a VertexProgram is one without."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from evener.plans.partition import Partition
from evener.running.engine.program import parameters_of
from evener.running.engine.recording import DeviceRun
from evener.running.local_graphs import Want


@dataclass(frozen=True, eq=False)
class Solver:
    """An application that each device runs by a function, which exchanges through a Halo.

    solve(comm, local, pool, tell, most=, **parameters): what one device does, for up to `most`
    supersteps; returns its values and what its supersteps took. want: the arcs that each device's
    part holds. parameters: their defaults. moves: whether `solve` takes `stretch`, a Stretch,
    so that vertices may change device while it runs. bytes_held(own vertices, local vertices, arcs,
    whether arcs have weights): of its arrays on a device; one of type `exchanged` is exchanged.
    bytes_on_devices(graph, partition): the same for each device, where it is known more exactly of
    a whole graph; it is None, or returns None, where it is not.
    solve_on_edges: the same as `solve` for an EdgeShare; None: it is not run on blocks of edges.
    """

    name: str
    solve: Callable[..., DeviceRun]
    bytes_held: Callable[[int, int, int, bool], int]
    parameters: Mapping[str, float] = field(default_factory=dict)
    want: Want = "both"
    moves: bool = False
    exchanged: str = "f8"
    bytes_on_devices: Callable[[Any, Partition], list[int] | None] | None = None
    solve_on_edges: Callable[..., DeviceRun] | None = None

    ends_by_itself = True
    schedule = "dense"  # every superstep looks at each arc once

    def given(self, parameters: Mapping[str, float]) -> tuple[float, ...]:
        """Return the values of all parameters, these instead of the defaults; see VertexProgram."""
        return tuple(parameters_of(self.name, self.parameters, parameters).values())

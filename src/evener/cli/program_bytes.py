"""Bytes that a run of a program allocates on each device, compared to the device's memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from evener.errors import InfeasibleError, UsageError

if TYPE_CHECKING:
    from evener.graphs.directed import DirectedGraph
    from evener.graphs.graph import Graph
    from evener.platforms.platform import Platform
    from evener.running.devices import Cuda
    from evener.running.engine.program import Solver, VertexProgram
    from evener.running.fitting import RunBytes


def program_of(
    app: str | None, program: str | None, graph: Graph | DirectedGraph
) -> VertexProgram | Solver:
    """Return the program of --app or --program, exactly one of which must be given."""
    from evener.running.apps.registry import find_app
    from evener.running.engine.program import VertexProgram

    if program is not None:
        if app is not None:
            raise UsageError("give either --app or --program")
        return VertexProgram.from_file(program)
    assert app is not None
    found = find_app(app)
    return found.program if found.program_for is None else found.program_for(graph)


def cores_in(devices: Sequence[Sequence[int] | Cuda]) -> list[int]:
    """Return the number of cores of each device; 0 for a CUDA device."""
    from evener.running.devices import Cuda

    return [0 if isinstance(device, Cuda) else len(device) for device in devices]


def cores_of_kinds(platform: Platform) -> list[int]:
    """Return one core for each device that is not a CUDA device, 0 for each that is."""
    return [0 if device.kind == "cuda" else 1 for device in platform.devices]


def bytes_rows(
    platform: Platform, needed: Sequence[RunBytes]
) -> tuple[tuple[str, ...], list[list[str]], list[dict[str, Any]]]:
    """Return columns and rows of the table of bytes, and its content for --json."""
    from evener.wording import memory

    found: list[dict[str, Any]] = []
    rows = []
    for device, one in zip(platform.devices, needed, strict=True):
        has = np.inf if device.memory is None else device.memory
        short = max(one.total - has, 0.0)
        rows.append([device.name, memory(one.graph), memory(one.arrays), memory(one.halo),
                     memory(one.total), memory(has), memory(short) if short else ""])  # fmt: skip
        found.append({"device": device.name, **one._asdict(), "total": one.total,
                      "memory_bytes": device.memory, "short_bytes": short})  # fmt: skip
    return ("device", "graph", "arrays", "messages", "in all", "memory", "short"), rows, found


def refuse_too_large(name: str, platform: Platform, needed: Sequence[RunBytes]) -> None:
    """Raise InfeasibleError if a device's memory does not suffice for what a run allocates."""
    from evener.wording import memory

    totals = np.array([one.total for one in needed], np.float64)
    short = totals - platform.memories
    if not (short > 0).any():
        return
    b = int(short.argmax())
    more = int((short > 0).sum()) - 1
    others = f"; {more} more of {platform.k:,} devices have too little memory" if more else ""
    raise InfeasibleError(
        f"{name} needs {memory(float(totals[b]))} on {platform.names[b]}, which has "
        f"{memory(float(platform.memories[b]))}: {memory(float(short[b]))} too little{others}",
        hint="evener fits GRAPH --machine FILE --app NAME shows how many devices the program "
        "needs.",
    )

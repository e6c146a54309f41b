"""`evener fits`: whether a graph fits into the devices' memories, and how much is missing."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evener.cli.graph_options import (
    ReadOptions,
    add_reading_options,
    graph_to_divide,
    read_workload,
)
from evener.cli.judged import add_epsilon, finite
from evener.cli.machines import MachineOptions, add_machine_options, machine_of
from evener.cli.options import options_from
from evener.cli.program_bytes import (
    bytes_rows,
    cores_in,
    cores_of_kinds,
    program_of,
    refuse_too_large,
)
from evener.errors import InfeasibleError, UsageError

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.graphs.directed import DirectedGraph
    from evener.graphs.graph import Graph
    from evener.plans.partition import Contract
    from evener.platforms.platform import Platform
    from evener.running.engine.program import Solver, VertexProgram

MAX_ROWS = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("graph", metavar="GRAPH", help="a mesh, matrix or graph file")
    parser.add_argument(
        "--app", metavar="NAME", help="check what `evener run --app NAME` allocates"
    )
    parser.add_argument(
        "--program", metavar="FILE.py", help="check what `evener run --program FILE.py` allocates"
    )
    parser.add_argument(
        "--devices",
        metavar="LIST",
        help="cores or GPU of each device, as for `evener run`; this computer need not have them "
        "(default: a GPU for a device of kind cuda, a core for others)",
    )
    add_epsilon(parser)
    add_machine_options(parser)
    add_reading_options(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Print what fits; exit 0 if the graph fits, 4 if it does not."""
    from evener.sizing.contracts import contract_for
    from evener.wording import memory

    platform = machine_of(options_from(args, MachineOptions), out)
    if args.app is not None or args.program is not None:
        graph = read_workload(args.graph, options_from(args, ReadOptions), out).graph
        program = program_of(args.app, args.program, graph)
        return _fits_program(graph, program, _cores(args.devices, platform), platform, out)
    if args.devices is not None:
        raise UsageError("--devices works with --app and --program only")
    graph = graph_to_divide(read_workload(args.graph, options_from(args, ReadOptions), out), out)
    devices = _shares_by_speed(graph, platform)
    answer = {"vertices": graph.n, "needed_bytes": graph.total_bytes,
              "memory_bytes": finite(platform.memories.sum())}  # fmt: skip
    try:
        contract, sizes = contract_for(graph, platform, args.epsilon)
        _refuse_impossible(graph, contract, platform)
    except InfeasibleError as error:
        out.result({"fits": False, **answer, "reason": error.message, "devices": devices})
        _print(devices, out)
        raise
    for device, target, saturated in zip(devices, sizes.targets, sizes.saturated, strict=True):
        device |= {"target": float(target), "saturated": bool(saturated)}
    out.result({"fits": True, **answer, "seconds": sizes.makespan, "devices": devices})
    _print(devices, out)
    full = int(sizes.saturated.sum())
    out.say(
        f"It fits: {graph.n:,} vertices, {memory(graph.total_bytes)}; "
        f"{full} of {platform.k} devices filled to their memory"
        + (", the others take the rest." if full else ".")
    )
    return 0


def _fits_program(
    graph: Graph | DirectedGraph,
    program: VertexProgram | Solver,
    cores: list[int],
    platform: Platform,
    out: Output,
) -> int:
    """Print what a run of a program allocates on each device of a plan; exit 0 if it fits."""
    from evener.planning.least_devices import MOST, planned_by_bytes
    from evener.wording import memory

    with out.progress("Planning") as progress:
        progress("plan", 0.1)
        found = planned_by_bytes(graph, program, platform, cores)
        least = _least(graph, program, platform, cores)
    needed = found.needed
    columns, rows, devices = bytes_rows(platform, needed)
    out.table(columns, rows, most=MAX_ROWS, what="devices")
    for one in least:
        of = "" if one.memory is None else f" of {memory(one.memory)}"
        fits = f"does not fit on {MOST:,}" if one.devices is None else f"fits on {one.devices:,}"
        out.say(f"{program.name} {fits} {one.kind}{of}, if no others are used.")
    out.result({"fits": all(not device["short_bytes"] for device in devices),
                "program": program.name, "vertices": graph.n,
                "needed_bytes": sum(one.total for one in needed),
                "memory_bytes": finite(platform.memories.sum()),
                "bytes_per_vertex": found.per_vertex, "bytes_per_edge": found.per_edge,
                "least": [{"kind": one.kind, "memory_bytes": one.memory, "devices": one.devices}
                          for one in least], "devices": devices})  # fmt: skip
    refuse_too_large(program.name, platform, needed)
    out.say(
        f"It fits: {program.name} takes {memory(sum(one.total for one in needed))} in all. Plan "
        f"with --bytes-per-vertex {found.per_vertex:.4g} --bytes-per-edge {found.per_edge:.4g}."
    )
    return 0


class _Least(NamedTuple):
    """Number of equal devices (kind, memory [B]) that a program needs; None: more than MOST."""

    kind: str
    memory: float | None
    devices: int | None


def _least(
    graph: Graph | DirectedGraph,
    program: VertexProgram | Solver,
    platform: Platform,
    cores: list[int],
) -> list[_Least]:
    """Return the number of devices of each kind and memory that the program needs."""
    from evener.planning.least_devices import least_devices

    kinds = {(one.kind, one.memory): cores[b] for b, one in enumerate(platform.devices)}
    return [
        _Least(kind, has, 1 if has is None else least_devices(graph, program, has, count))
        for (kind, has), count in kinds.items()
    ]


def _cores(devices: str | None, platform: Platform) -> list[int]:
    """Return the number of cores of each device; 0 for a CUDA device."""
    from evener.running.devices import devices_named

    if devices is None:
        return cores_of_kinds(platform)
    cores = cores_in(devices_named(devices))
    if len(cores) != platform.k:
        raise UsageError(f"--devices names {len(cores)} devices, but the machine has {platform.k}")
    return cores


def _refuse_impossible(graph: Graph, contract: Contract, platform: Platform) -> None:
    """Raise InfeasibleError, like `plan`, if a single vertex is too heavy."""
    from evener.partitioning.repair.proofs import prove_possible
    from evener.partitioning.repair.state import State
    from evener.plans.partition import Partition

    anything = Partition(np.zeros(graph.n, np.int32), contract.k)
    prove_possible(State.of(graph, anything, contract, 0), platform.names)


def _shares_by_speed(graph: Graph, platform: Platform) -> list[dict[str, Any]]:
    """Return each device's share by speed only, and how much of it exceeds the device's memory."""
    from evener.platforms.with_curves import seconds_at
    from evener.sizing.memory_capped import unit_capacities

    per_unit = graph.total_bytes / max(graph.total_weight, 1e-300)
    speeds = platform.speeds
    if platform.has_curves:  # speeds at equal loads
        even = np.full(platform.k, graph.total_weight / platform.k)
        speeds = even / seconds_at(platform, even)
    share = graph.total_weight * speeds / speeds.sum()
    capacity = unit_capacities(platform, per_unit)
    if graph.is_unit:
        capacity = np.floor(capacity)  # whole vertices
    short = np.maximum(share - capacity, 0)
    return [
        {
            "device": platform.names[b],
            "by_speed": float(share[b]),
            "capacity": finite(capacity[b]),
            "short": float(short[b]),
            "short_bytes": float(short[b] * per_unit),
        }
        for b in range(platform.k)
    ]


def _print(devices: list[dict[str, Any]], out: Output) -> None:
    """Print the devices that lack most memory, if there are any."""
    from evener.wording import memory

    lacking = sorted((d for d in devices if d["short"] > 0), key=lambda d: -d["short"])
    if not lacking:
        return
    rows = [
        [d["device"], f"{d['by_speed']:,.0f}", f"{d['capacity']:,.0f}", f"{d['short']:,.0f}",
         memory(d["short_bytes"])]
        for d in lacking
    ]  # fmt: skip
    columns = ["device", "share by speed", "capacity [units]", "excess [units]", "beyond it"]
    out.table(columns, rows, most=MAX_ROWS, what="devices")
    out.say("If sized by speed only, these devices would get more than their memory holds.")

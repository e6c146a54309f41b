"""`evener fits`: whether a graph fits into the devices' memories, and how much they lack."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import numpy as np

from evener.cli.graph_options import (
    add_reading_options,
    graph_to_divide,
    read_options_from,
    read_workload,
)
from evener.cli.judged import add_epsilon, finite
from evener.cli.machines import add_machine_options, machine_of, machine_options_from

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.graphs.graph import Graph
    from evener.plans.partition import Contract
    from evener.platforms.platform import Platform

MAX_ROWS = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("graph", metavar="GRAPH", help="a mesh, matrix or graph file")
    add_epsilon(parser)
    add_machine_options(parser)
    add_reading_options(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Exit 0 where the graph fits, 4 where it does not."""
    from evener.errors import InfeasibleError
    from evener.sizing import contract_for
    from evener.wording import memory

    platform = machine_of(machine_options_from(args), out)
    graph = graph_to_divide(read_workload(args.graph, read_options_from(args), out), out)
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
        f"{full} of {platform.k} devices filled to their memory."
    )
    return 0


def _refuse_impossible(graph: Graph, contract: Contract, platform: Platform) -> None:
    """Raise InfeasibleError where a single vertex is too heavy, as `plan` would."""
    from evener.partitioning.repair.proofs import prove_possible
    from evener.partitioning.repair.state import State
    from evener.plans.partition import Partition

    anything = Partition(np.zeros(graph.n, np.int32), contract.k)
    prove_possible(State.of(graph, anything, contract, 0), platform.names)


def _shares_by_speed(graph: Graph, platform: Platform) -> list[dict[str, Any]]:
    """Return each device's share by speed alone, and how much of it exceeds its memory."""
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
    """Print the devices that lack most memory, if any lacks some."""
    from evener.wording import memory

    lacking = sorted((d for d in devices if d["short"] > 0), key=lambda d: -d["short"])
    if not lacking:
        return
    rows = [
        [d["device"], f"{d['by_speed']:,.0f}", f"{d['capacity']:,.0f}", f"{d['short']:,.0f}",
         memory(d["short_bytes"])]
        for d in lacking
    ]  # fmt: skip
    columns = ["device", "share by speed", "room [units]", "short [units]", "short"]
    out.table(columns, rows, most=MAX_ROWS, what="devices")

"""`evener map`: put the filters of a stream graph on processors, for a short period."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evener.cli.machines import add_machine_options, machine_of, machine_options_from
from evener.cli.values import positive_finite, refuse_outputs

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.plans.stream_plan import StreamPlan

SHOWN = 40  # devices in a table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "app",
        metavar="APP",
        help="a stream graph: .toml, .dot (also StreamIt's), GraphML, DAX, WfCommons, STG",
    )
    parser.add_argument(
        "-o", "--output", metavar="X.plan", help="the plan file (default: the graph's name.plan)"
    )
    parser.add_argument(
        "--method",
        default="ours",
        metavar="NAME",
        help="ours (default: direct search), exact, hmap, hmap-up, hmap-evener, metis, "
        "metis-recursive, greedy, list, round-robin, random",
    )
    parser.add_argument(
        "--reading",
        default="",
        metavar="WORD,...",
        help="how the cost is read: ceil (default), literal or max1; both (default) or sender "
        "pays; sum (default), least or transit; overlap",
    )
    parser.add_argument(
        "--seconds",
        type=positive_finite,
        metavar="S",
        help="search for so long at most (default: to its end, for results that depend on the "
        "seed alone)",
    )
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument(
        "--bound",
        default="quick",
        metavar="NAME",
        help="the lower bound beside the period: quick (default), or strong, which takes longer",
    )
    parser.add_argument(
        "--gpu-behind-host",
        action="store_true",
        help="devices that the machine file gives a host are reached through its link alone",
    )
    add_machine_options(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Read, place the filters, write the plan; print a row for each device and the verdict."""
    from evener.files.writing import refuse_binary
    from evener.io.dataflow.reading import read_stream_graph
    from evener.io.plans.stream_plan import write_stream_plan
    from evener.planning.stream import MapOptions, map_filters
    from evener.platforms.hosts import behind_hosts
    from evener.streams.readings import reading_of

    output = Path(args.output or f"{Path(args.app).name.split('.')[0]}.plan")
    refuse_binary(output)
    refuse_outputs([output], [args.app, args.machine])
    options = MapOptions(args.method, args.seconds, args.seed, args.bound)
    reading = reading_of(args.reading)
    platform = machine_of(machine_options_from(args), out)
    if args.gpu_behind_host:
        platform = behind_hosts(platform)
    read = read_stream_graph(args.app)
    with out.progress("Placing filters") as progress:
        plan = map_filters(
            read.graph, platform, options, reading,
            inputs={Path(args.app).name: read.sha256}, notes=read.notes, progress=progress,
        )  # fmt: skip
    write_stream_plan(output, plan)
    _say(plan, output, out)
    return 0


def _say(plan: StreamPlan, output: Path, out: Output) -> None:
    from evener.wording import duration, percent

    counts = [0] * plan.platform.k
    for device in plan.part.tolist():
        counts[device] += 1
    loads = plan.loads
    rows = [
        [
            name,
            f"{counts[p]:,}",
            duration(float(plan.computing[p])),
            duration(float(plan.communicating[p])),
            percent(loads[p] / plan.period if plan.period > 0 else 0.0),
        ]
        for p, name in enumerate(plan.platform.names)
    ]
    columns = ("device", "filters", "computing", "communicating", "of period")
    out.table(columns, rows, most=SHOWN, what="devices")
    for note in plan.notes:
        out.note(f"note: {note}")
    out.say(plan.verdict())
    out.say(f"Written: {output}")
    out.result(figures(plan) | {"written": str(output)})


def figures(plan: StreamPlan) -> dict[str, Any]:
    """Return the figures of a stream plan for --json; lists have an entry for each device."""
    return {
        "period": plan.period,
        "bound": plan.bound,
        "bottleneck": plan.bottleneck,
        "method": plan.options["method"],
        "start": plan.options["start"],
        "used": plan.used,
        "computing": plan.computing.tolist(),
        "communicating": plan.communicating.tolist(),
        "links": dict(plan.links),
        "cpu_seconds": plan.cpu_seconds,
        "notes": list(plan.notes),
        "verdict": plan.verdict(),
    }

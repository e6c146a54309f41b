"""`evener map`: assign the filters of a stream graph to processors, for a short period."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from evener.cli.kinds.filters import (
    add_search_seconds,
    add_stream_reading,
    print_loads,
    stream_figures,
)
from evener.cli.machines import MachineOptions, add_machine_options, machine_of
from evener.cli.options import options_from
from evener.cli.values import page, refuse_outputs, seed

if TYPE_CHECKING:
    from evener.cli.output import Output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "app",
        metavar="APP",
        help="a stream graph: .toml, .dot (also StreamIt's), GraphML, DAX, WfCommons",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="X.plan",
        help="the plan file (default: the graph's name with .plan)",
    )
    parser.add_argument(
        "--method",
        default="ours",
        metavar="NAME",
        help="ours (direct search), exact, hmap, hmap-up, hmap-evener, hmap-work, metis, "
        "metis-recursive, metis-work, greedy, list, round-robin, random (default ours)",
    )
    add_stream_reading(parser)
    add_search_seconds(parser)
    parser.add_argument(
        "--seed",
        type=seed,
        default=7,
        help="random seed; the same seed gives the same result (default 7)",
    )
    parser.add_argument(
        "--bound",
        default="quick",
        metavar="NAME",
        help="lower bound of the period: quick, or strong, which takes a second or more (default "
        "quick)",
    )
    parser.add_argument(
        "--gpu-behind-host",
        action="store_true",
        help="data to and from a device with a host pass only the link to its host",
    )
    parser.add_argument("--report", type=page, metavar="X.html", help="also write an HTML page")
    parser.add_argument(
        "--replicate",
        action="store_true",
        help="allow copies of stateless filters on several devices, which share the data",
    )
    add_machine_options(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Read, map the filters, write the plan; print a row for each device and the verdict."""
    from evener.files.writing import refuse_binary
    from evener.io.dataflow.reading import read_stream_graph
    from evener.io.plans.stream_plan import write_stream_plan
    from evener.planning.stream import MapOptions, map_filters
    from evener.platforms.hosts import behind_hosts
    from evener.streams.readings import reading_of

    output = Path(args.output or f"{Path(args.app).name.split('.')[0]}.plan")
    refuse_binary(output)
    refuse_outputs([output, *filter(None, [args.report])], [args.app, args.machine])
    options = options_from(args, MapOptions)
    reading = reading_of(args.reading)
    platform = machine_of(options_from(args, MachineOptions), out)
    if args.gpu_behind_host:
        platform = behind_hosts(platform)
    read = read_stream_graph(args.app)
    with out.progress("Placing filters") as progress:
        plan = map_filters(
            read.graph, platform, options, reading,
            inputs={Path(args.app).name: read.sha256}, notes=read.notes, progress=progress,
        )  # fmt: skip
    write_stream_plan(output, plan)
    print_loads(plan, out)
    out.say(f"Written: {output}")
    if args.report is not None:
        from evener.reporting.stream_report import write_stream_report

        write_stream_report(args.report, plan)
        out.say(f"Written: {args.report}")
    out.result(stream_figures(plan) | {"written": str(output)})
    return 0

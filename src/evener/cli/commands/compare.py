"""`evener compare`: several partitioners side by side."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from evener.cli.edges import add_edge_options, compare_edge_methods, edge_comparison_options_from
from evener.cli.filters import (
    add_search_seconds,
    add_stream_reading,
    compare_stream_methods,
    stream_comparison_options_from,
)
from evener.cli.graph_options import (
    ReadOptions,
    graph_to_divide,
    read_workload,
)
from evener.cli.judged import evaluation_to_dict, finite
from evener.cli.machines import MachineOptions, add_machine_options, machine_of
from evener.cli.options import options_from
from evener.cli.plan_options import add_plan_options, plan_options_from
from evener.cli.values import page, refuse_outputs
from evener.errors import UsageError

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.planning.compare import Comparison
    from evener.plans.plan import Evaluation
    from evener.platforms.platform import Platform


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("graph", metavar="GRAPH", help="a mesh, matrix or graph file")
    parser.add_argument(
        "--with",
        dest="tools",
        metavar="TOOL,TOOL,...",
        help="partitioners (default: all installed), or methods of --edges or --stream",
    )
    parser.add_argument("--report", type=page, metavar="X.html", help="also write an HTML page")
    parser.add_argument(
        "--edges",
        action="store_true",
        help="divide edges instead of vertices; --with names methods of `evener split`",
    )
    parser.add_argument(
        "--stream",
        action="store_true",
        help="place the filters of a stream graph; --with names methods of `evener map`",
    )
    add_stream_reading(parser)
    add_search_seconds(parser)
    add_machine_options(parser)
    add_plan_options(parser)
    add_edge_options(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Run every tool with the same targets and contract; exit 0 even if a tool fails."""
    from evener.partitioning.tools import find_tool
    from evener.planning.compare import PLAN, available_tools, compare, compared_plan

    filters = stream_comparison_options_from(args, add_arguments)
    if filters is not None:
        return compare_stream_methods(filters, out)
    if args.report is not None:
        refuse_outputs([args.report], [args.graph, args.machine, args.coords])
    platform = machine_of(options_from(args, MachineOptions), out)
    if args.edges:
        return compare_edge_methods(
            edge_comparison_options_from(args, add_arguments), platform, out
        )
    if args.weighted or args.of != "graph":
        raise UsageError("--as and --weighted work with --edges only")
    named = [name.strip() for name in args.tools.split(",")] if args.tools else []
    for name in named:
        if name not in ("auto", PLAN):
            find_tool(name)
    how_read = options_from(args, ReadOptions)
    reading = read_workload(args.graph, how_read, out)
    graph = graph_to_divide(reading, out)
    tools = named or available_tools(graph, platform)
    options = plan_options_from(args, "auto").sending(reading.exchange)
    best = replace(options, objective="auto").settled(graph, platform)
    planned = PLAN in named or (not named and best.objective == "seconds")
    with out.progress("Comparing") as progress:
        others = [name for name in tools if name != PLAN]
        results = compare(graph, platform, others, options, progress=progress)
        if planned:
            progress("the plan for seconds", 0.9)
            results.insert(0, compared_plan(graph, platform, best))
    rows = [_row(result) for result in results]
    work = float(options.workload.weighted(graph).total_weight)
    _print(rows, platform, work, out)
    if planned:
        out.say(
            "The plan of `evener plan` has its own sizes; all others have the sizes "
            "of `evener sizes`. Figures are after repair and mapping; figures in brackets are "
            "before both."
        )
    if args.report:
        from evener.reporting.html import write_comparison

        asked = {**asdict(options), "reading": how_read.recorded()}
        write_comparison(args.report, rows, graph, platform, options=asked, inputs=reading.inputs)
        out.say(f"Written: {args.report}")
    out.result({"tools": [_json(result, row, platform) for result, row in
                          zip(results, rows, strict=True)]})  # fmt: skip
    return 0


def _row(result: Comparison) -> dict[str, Any]:
    """Return the figures of a tool; those that could not be computed are None."""
    from evener.reporting.comparisons import row_of

    raw = result.raw
    return row_of(result) | {
        "held_before": None if raw is None else raw.certificate.all_hold,
        "raw": None if raw is None else _figures(raw),
        "hop_bytes_before": result.mapping.before.hop_bytes if result.mapping else None,
        "hop_bytes_after": result.mapping.after.hop_bytes if result.mapping else None,
    }


def _figures(judged: Evaluation) -> dict[str, Any]:
    return {
        "edge_cut": judged.edge_cut,
        "max_volume": judged.max_volume,
        "total_volume": judged.total_volume,
        "seconds": judged.prediction.makespan,
    }


def _print(rows: list[dict[str, Any]], platform: Platform, work: float, out: Output) -> None:
    from evener.reporting.tables import time_remarks
    from evener.wording import time_of

    time = partial(time_of, ideal=platform.relative_ideal(work))
    hops = any(row["hop_bytes_after"] is not None for row in rows)
    table = [
        [row["tool"], _both(row, "seconds", time), _both(row, "edge_cut", "{:,.6g}".format),
         _both(row, "max_volume", "{:,}".format), _both(row, "total_volume", "{:,}".format),
         _block_range(row), f"{row['moved']:,}", "yes" if row["holds"] else "no",
         f"{row['cpu_seconds']:.2f}", *([_hops(row)] if hops else [])]
        for row in rows
        if row["edge_cut"] is not None
    ]  # fmt: skip
    out.table(
        ["tool", "predicted", "edge cut", "largest volume", "total volume", "(block/target)",
         "moved", "holds",
         "CPU s", *(["bytes x hops, mapped"] if hops else [])],
        table,
    )  # fmt: skip
    for remark in time_remarks(platform, work):
        out.say(remark)
    for row in rows:
        if row["note"]:
            out.say(f"{row['tool']}: {row['note']}")


def _both(row: dict[str, Any], key: str, text: Callable[[Any], str]) -> str:
    """Return a figure after repair and, if it differs, the figure before repair in brackets."""
    now, came = text(row[key]), text(row["raw"][key])
    return now if now == came else f"{now} ({came})"


def _block_range(row: dict[str, Any]) -> str:
    """Return the range of block / target before repair; a dash for a plan, which has no targets."""
    from evener.planning.compare import PLAN

    return "–" if row["tool"] == PLAN else f"{row['smallest']:.2f} to {row['largest']:.2f}"


def _hops(row: dict[str, Any]) -> str:
    before, after = row["hop_bytes_before"], row["hop_bytes_after"]
    return "" if after is None else f"{before:,.4g} to {after:,.4g}"


def _json(result: Comparison, row: dict[str, Any], platform: Platform) -> dict[str, Any]:
    judged = {} if result.kept is None else evaluation_to_dict(result.kept, platform)
    numbers = ("imbalance", "smallest", "largest")
    return row | {key: finite(row[key]) for key in numbers} | judged

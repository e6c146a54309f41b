"""Commands on the filters of stream graphs: evaluate, compare, replay, export, report."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evener.cli.differences import differences, say_replayed
from evener.cli.graph_options import (
    ReadOptions,
    is_its_input,
    refuse_other_input,
)
from evener.cli.kinds.plan_file import ExportOptions, PlanFile
from evener.cli.machines import MachineOptions, machine_of
from evener.cli.options import options_from
from evener.cli.values import positive_finite, refuse_outputs
from evener.errors import EvenerError, InputError, UsageError

if TYPE_CHECKING:
    from evener.arrays import Part
    from evener.cli.output import Output
    from evener.graphs.stream_graph import StreamGraph
    from evener.io.dataflow.reading import StreamReading
    from evener.planning.compare import StreamComparison
    from evener.planning.stream_advice import StreamAdvice
    from evener.plans.stream_plan import StreamPlan


SHOWN = 40  # devices in a table


def add_stream_reading(parser: argparse._ActionsContainer) -> None:
    """Add --reading."""
    parser.add_argument(
        "--reading",
        default="",
        metavar="WORD,...",
        help="how to count costs of stream graphs, up to one word of each group: ceil (default), "
        "literal or max1; both (default) or sender, who pays for a transfer; sum (default), "
        "least or transit; overlap",
    )


def add_search_seconds(parser: argparse._ActionsContainer) -> None:
    """Add --seconds."""
    parser.add_argument(
        "--seconds",
        type=positive_finite,
        metavar="S",
        help="stop the search after S seconds (default: no limit, so that the result depends only "
        "on the seed)",
    )


def print_loads(plan: StreamPlan, out: Output) -> None:
    """Print a row for each device, notes, and the verdict."""
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


def print_advice(advice: StreamAdvice, plan: StreamPlan, out: Output) -> None:
    """Print what limits a plan, and changes that would make it faster."""
    from evener.reporting.stream_report import advice_table

    for one in advice.sentences:
        out.say(one)
    columns, rows = advice_table(advice, plan.period)
    if rows:
        out.table(list(columns), [list(row) for row in rows])


def advice_to_dict(advice: StreamAdvice) -> dict[str, Any]:
    """Return what limits a plan, and every change that helps, for --json."""
    changes = [
        {"change": one.text, "seconds": one.seconds, "moved": one.moved} for one in advice.changes
    ]
    return {"limits": list(advice.sentences), "changes": changes}


def stream_figures(plan: StreamPlan) -> dict[str, Any]:
    """Return the figures of a stream plan for --json; lists have an entry for each device.

    The list `copies` has an entry for each of the application's filters; None if no filter has
    several.
    """
    of = None if plan.copy_of is None else plan.copy_of.tolist()
    return {
        "period": plan.period,
        "bound": plan.bound,
        "bottleneck": plan.bottleneck,
        "method": plan.options["method"],
        "start": plan.options["start"],
        "used": plan.used,
        "copies": None if of is None else [of.count(i) for i in range(max(of) + 1)],
        "computing": plan.computing.tolist(),
        "communicating": plan.communicating.tolist(),
        "links": dict(plan.links),
        "cpu_seconds": plan.cpu_seconds,
        "notes": list(plan.notes),
        "verdict": plan.verdict(),
    }


# Arguments of both commands that say something of stream graphs.
SHARED = ("graph", "stream", "reading", "machine", "k", "speeds")


@dataclass(frozen=True)
class StreamEvaluationOptions:
    """Options for evaluating a mapping. plan: the stream plan that provides machine and reading.

    reading: words of --reading, "" for the plan's.
    """

    app: str
    part: str
    plan: str
    reading: str
    machine: MachineOptions = field(default_factory=MachineOptions)


@dataclass(frozen=True)
class StreamComparisonOptions:
    """Options for comparing methods. methods: None means all. report: the page's file, or None."""

    app: str
    methods: list[str] | None
    reading: str
    seconds: float | None
    seed: int
    report: str | None
    machine: MachineOptions = field(default_factory=MachineOptions)


def _refuse_others(given: Mapping[str, str], fit: Collection[str]) -> None:
    """Raise UsageError for a given option that is not in `fit`, the applicable options."""
    for name, flag in given.items():
        if name not in fit:
            raise UsageError(f"{flag} does not apply to stream graphs")


def evaluation_options_from(
    args: argparse.Namespace, given: Mapping[str, str]
) -> StreamEvaluationOptions | None:
    """Return the options if filters are mapped; None if vertices or edges are divided.

    Filters are mapped with --stream, or if PART or the plan of --as is a stream plan. Raises
    UsageError for options that do not apply to filters.
    """
    from evener.io.plans.kinds import FILTERS, kind_in

    plan = next((one for one in (args.plan, args.part) if one and kind_in(one) == FILTERS), "")
    if not args.stream and not plan:
        if args.reading:
            raise UsageError("--reading works with stream graphs only", hint="Add --stream.")
        return None
    if args.plan and plan != args.plan:
        raise UsageError(f"--as: {args.plan} is not a plan of a stream graph")
    _refuse_others(given, (*SHARED, "part", "plan"))
    return options_from(args, StreamEvaluationOptions, app=args.graph, plan=plan)


def evaluate(options: StreamEvaluationOptions, out: Output) -> int:
    """Read stream graph and mapping, recount, print the time of an iteration."""
    from evener.io.dataflow.reading import read_stream_graph
    from evener.io.plans.stream_plan import read_stream_plan
    from evener.planning.stream import evaluate_filters, problem_of
    from evener.streams.readings import reading_of

    plan = read_stream_plan(options.plan) if options.plan else None
    read = read_stream_graph(options.app)
    reading = reading_of(options.reading)
    if plan is not None and not options.reading:
        reading = problem_of(plan).reading
    platform = machine_of(options.machine, out) if plan is None or options.machine.given else None
    judged = evaluate_filters(
        read.graph,
        platform or plan.platform,  # type: ignore[union-attr] # one of both is there
        _part_in(options.part, read.graph),
        reading,
        inputs={Path(options.app).name: read.sha256},
        notes=read.notes,
    )
    print_loads(judged, out)
    words = [
        reading.compute,
        reading.pays,
        reading.route,
        *(["overlap"] if reading.overlap else []),
    ]
    out.say(f"Cost read as {', '.join(words)}.")
    if plan is not None and not is_its_input(plan, judged.inputs):
        out.note(f"note: the plan was not made from {options.app}")
    figures = stream_figures(judged)
    out.result(
        {key: figures[key] for key in figures if key not in ("method", "start", "cpu_seconds")}
    )
    return 0


def _part_in(file: str, graph: StreamGraph) -> Part:
    """Return the device of each filter stored in a file of any tool, by number or by name."""
    import numpy as np

    from evener.io.plans.partitions import read_part

    try:
        return read_part(file, graph.n, labels=np.array(graph.names))
    except InputError as error:
        for one, other in (("vertices", "filters"), ("vertex", "filter")):
            error.message = error.message.replace(one, other)
        raise


def comparison_options_from(
    args: argparse.Namespace, given: Mapping[str, str]
) -> StreamComparisonOptions | None:
    """Return the options if --stream is given, else None.

    Raises UsageError for options that do not work with --stream, or that need it.
    """
    if not args.stream:
        if args.reading or args.seconds is not None:
            name = "--reading" if args.reading else "--seconds"
            raise UsageError(f"{name} works with stream graphs only", hint="Add --stream.")
        return None
    _refuse_others(given, (*SHARED, "tools", "seconds", "seed", "report"))
    methods = [name.strip() for name in args.tools.split(",")] if args.tools else None
    return options_from(args, StreamComparisonOptions, app=args.graph, methods=methods)


def compare(options: StreamComparisonOptions, out: Output) -> int:
    """Run every method; exit 0 even if a method fails."""
    from evener.io.dataflow.reading import read_stream_graph
    from evener.planning.compare import compare_filters
    from evener.planning.stream import MapOptions
    from evener.streams.readings import reading_of

    if options.report is not None:
        refuse_outputs([options.report], [options.app, options.machine.machine])
    asked = MapOptions(seconds=options.seconds, seed=options.seed)
    reading = reading_of(options.reading)
    platform = machine_of(options.machine, out)
    read = read_stream_graph(options.app)
    for note in read.notes:
        out.note(f"note: {note}")
    with out.progress("Comparing") as progress:
        results = compare_filters(
            read.graph, platform, options.methods, asked, reading, progress=progress
        )
    _print(results, out)
    if options.report is not None:
        from evener.reporting.stream_report import write_stream_comparison

        words: dict[str, Any] = {"cost": options.reading or "ceil", "seed": options.seed}
        if options.seconds is not None:
            words["seconds"] = options.seconds
        write_stream_comparison(
            options.report, results, read.graph, platform, options=words,
            inputs={Path(options.app).name: read.sha256},
        )  # fmt: skip
        out.say(f"Written: {options.report}")
    out.result({"methods": [_json(one) for one in results]})
    return 0


def _print(results: list[StreamComparison], out: Output) -> None:
    from evener.wording import duration, percent, ratio

    plans = [(one.method, one.plan) for one in results if one.plan is not None]
    rows = []
    for method, plan in plans:
        at = int(plan.loads.argmax())
        busy = plan.communicating[at] / plan.period if plan.period > 0 else 0.0
        rows.append([
            method,
            duration(plan.period),
            ratio(plan.period / plans[0][1].period if plans[0][1].period > 0 else None),
            ratio(plan.period / plan.bound if plan.bound > 0 else None),
            f"{plan.used:,}",
            plan.bottleneck,
            percent(busy),
            f"{plan.cpu_seconds:.2f}",
        ])  # fmt: skip
    columns = ("method", "period", "against best", "against bound", "devices", "busiest",
               "communicating", "CPU s")  # fmt: skip
    out.table(list(columns), rows)
    if plans:
        out.say(f"Lower bound: {duration(plans[0][1].bound)}.")
    for one in results:
        if one.note:
            out.say(f"{one.method}: {one.note}")


def _json(result: StreamComparison) -> dict[str, Any]:
    figures = {} if result.plan is None else stream_figures(result.plan)
    return {**figures, "method": result.method, "note": result.note}


def report(file: PlanFile, output: str, out: Output) -> int:
    """Write the page of a stream plan; print what limits it and what would help."""
    from evener.reporting.stream_report import write_stream_report

    plan = _checked(file)
    with out.progress("Drawing the report") as progress:
        progress("report", 0.1)
        try:
            advice = write_stream_report(output, plan)
        except EvenerError as error:
            error.file = error.file or file.plan
            raise
    out.say(plan.verdict())
    print_advice(advice, plan, out)
    out.say(f"Written: {output}")
    out.result({"verdict": plan.verdict(), "written": output, **advice_to_dict(advice)})
    return 0


def export(file: PlanFile, options: ExportOptions, out: Output) -> int:
    """Write the device of each filter in the requested format."""
    from evener.io.dataflow.placed import write_placed
    from evener.reporting.stream_report import device_colours

    output = options.needed_output(file)
    plan = _checked(file)
    write_placed(output, plan, options.to, device_colours(plan))
    out.say(f"Written: {output}")
    out.result({"written": output, "format": options.to, "filters": plan.graph.n})
    return 0


def replay(file: PlanFile, out: Output) -> int:
    """Make a stream plan again; exit 3 if the input differs, 5 if only the result differs."""
    from evener.io.dataflow.reading import read_stream_graph
    from evener.planning.stream import MapOptions, map_filters, problem_of

    app = file.needed_source("stream graph")
    old = _plan_in(file)
    read = read_stream_graph(app)
    try:
        asked = MapOptions(**{one.name: old.options[one.name] for one in fields(MapOptions)})
        reading = problem_of(old).reading
        with out.progress("Placing filters") as progress:
            new = map_filters(
                read.graph, old.platform, asked, reading, inputs=_inputs(app, read),
                notes=read.notes, progress=progress,
            )  # fmt: skip
    except (KeyError, TypeError, UsageError) as error:
        raise InputError(f"holds invalid options: {error}", file=file.plan) from error
    timed = old.options.get("seconds") is not None
    why = " (its search had a time limit, so results may differ)" if timed else ""
    where = f"on another device{why}"
    found = differences((old, new), (old.part, new.part), "filters", where, _record)
    return say_replayed(file.plan, app, found, out, is_its_input=is_its_input(old, new.inputs))


def _plan_in(file: PlanFile) -> StreamPlan:
    """Return the plan. Raises UsageError for options on how meshes and graphs are read."""
    from evener.io.plans.stream_plan import read_stream_plan

    if file.reading != ReadOptions():
        raise UsageError(f"reading options do not apply to {file.plan}, a plan of a stream graph")
    return read_stream_plan(file.plan)


def _checked(file: PlanFile) -> StreamPlan:
    """Return the plan. Raises InputError if a given file is not the plan's file."""
    from evener.io.dataflow.reading import read_stream_graph

    plan = _plan_in(file)
    if file.source is not None:
        refuse_other_input(plan, _inputs(file.source, read_stream_graph(file.source)), file.source)
    return plan


def _inputs(app: str, read: StreamReading) -> dict[str, str]:
    return {Path(app).name: read.sha256}


def _record(plan: StreamPlan) -> dict[str, Any]:
    from evener.io.plans.stream_plan import stream_manifest

    loads = {"computing": plan.computing.tolist(), "communicating": plan.communicating.tolist()}
    return stream_manifest(plan) | loads

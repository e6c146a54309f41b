"""`evener evaluate` and `evener compare` of stream graphs: mappings of any tool, and methods."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evener.cli.machines import MachineOptions, machine_of
from evener.cli.options import options_from
from evener.cli.stream_options import print_loads, stream_figures
from evener.cli.values import refuse_outputs
from evener.errors import InputError, UsageError

if TYPE_CHECKING:
    from evener.arrays import Part
    from evener.cli.output import Output
    from evener.graphs.stream_graph import StreamGraph
    from evener.planning.compare_streams import StreamComparison

AddArguments = Callable[[argparse.ArgumentParser], None]
# Arguments of both commands that say something of stream graphs.
SHARED = ("graph", "stream", "reading", "machine", "k", "speeds")


@dataclass(frozen=True)
class StreamEvaluationOptions:
    """What is evaluated, on which machine; plan: the stream plan whose machine and reading count.

    reading: words of --reading, "" for the plan's.
    """

    app: str
    part: str
    plan: str
    reading: str
    machine: MachineOptions = field(default_factory=MachineOptions)


@dataclass(frozen=True)
class StreamComparisonOptions:
    """What is compared on which machine; methods: None for all; report: a page, or None."""

    app: str
    methods: list[str] | None
    reading: str
    seconds: float | None
    seed: int
    report: str | None
    machine: MachineOptions = field(default_factory=MachineOptions)


def unfit_options_from(
    args: argparse.Namespace, add_arguments: AddArguments, fit: Collection[str]
) -> list[str]:
    """Return the options of a command that are given, and whose names are not among those fit."""
    parser = argparse.ArgumentParser(add_help=False)
    add_arguments(parser)
    return [
        action.option_strings[0] if action.option_strings else action.dest
        for action in parser._actions  # noqa: SLF001
        if action.dest not in fit
        and getattr(args, action.dest, None) != parser.get_default(action.dest)
    ]


def _refuse(unfit: list[str]) -> None:
    if unfit:
        raise UsageError(f"{unfit[0]} says nothing of stream graphs")


def stream_evaluation_options_from(
    args: argparse.Namespace, add_arguments: AddArguments
) -> StreamEvaluationOptions | None:
    """Return the options where filters have devices; None where vertices or edges are divided.

    Filters have where --stream says so, or PART or the plan of --as is a stream plan. Raises
    UsageError for options that say nothing of them.
    """
    from evener.io.plans.stream_plan import is_stream_plan

    plan = next((one for one in (args.plan, args.part) if one and is_stream_plan(one)), "")
    if not args.stream and not plan:
        if args.reading:
            raise UsageError("--reading is of stream graphs", hint="Add --stream.")
        return None
    if args.plan and plan != args.plan:
        raise UsageError(f"--as: {args.plan} is no plan of a stream graph")
    _refuse(unfit_options_from(args, add_arguments, (*SHARED, "part", "plan")))
    return options_from(args, StreamEvaluationOptions, app=args.graph, plan=plan)


def evaluate_stream(options: StreamEvaluationOptions, out: Output) -> int:
    """Read both, count, print what an iteration takes with the filters there."""
    from evener.cli.graph_options import is_its_input
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
    """Return the device of each filter that a file of any tool holds, by number or by name."""
    import numpy as np

    from evener.io.plans.partitions import read_part

    try:
        return read_part(file, graph.n, labels=np.array(graph.names))
    except InputError as error:
        for one, other in (("vertices", "filters"), ("vertex", "filter")):
            error.message = error.message.replace(one, other)
        raise


def stream_comparison_options_from(
    args: argparse.Namespace, add_arguments: AddArguments
) -> StreamComparisonOptions | None:
    """Return the options where --stream is given. Raises UsageError for those that do not go with
    it, and for its own without it.
    """
    if not args.stream:
        if args.reading or args.seconds is not None:
            name = "--reading" if args.reading else "--seconds"
            raise UsageError(f"{name} is of stream graphs", hint="Add --stream.")
        return None
    _refuse(
        unfit_options_from(args, add_arguments, (*SHARED, "tools", "seconds", "seed", "report"))
    )
    methods = [name.strip() for name in args.tools.split(",")] if args.tools else None
    return options_from(args, StreamComparisonOptions, app=args.graph, methods=methods)


def compare_stream_methods(options: StreamComparisonOptions, out: Output) -> int:
    """Run every method; exit 0 also where one of them fails."""
    from evener.io.dataflow.reading import read_stream_graph
    from evener.planning.compare_streams import compare_filters
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
        from evener.reporting.stream_comparisons import write_stream_comparison

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

"""`evener replay`, `export` and `report` of stream plans."""

from __future__ import annotations

import argparse
import json
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evener.cli.differences import differing_entries, say_replayed
from evener.cli.graph_options import (
    ReadOptions,
    is_its_input,
    refuse_other_input,
)
from evener.cli.options import options_from
from evener.cli.stream_options import advice_to_dict, print_advice
from evener.errors import EvenerError, InputError, UsageError

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.io.dataflow.reading import StreamReading
    from evener.plans.stream_plan import StreamPlan


class StreamFileOptions(NamedTuple):
    """A stream plan's file, and the file that it was made from, if it is given."""

    plan: str
    app: str | None


def stream_file_options_from(args: argparse.Namespace, app: str | None) -> StreamFileOptions | None:
    """Return the options where the plan named is a stream plan; None for all other files.

    Raises UsageError for options on how meshes and graphs are read.
    """
    from evener.io.plans.stream_plan import is_stream_plan

    if not is_stream_plan(args.plan):
        return None
    if options_from(args, ReadOptions) != ReadOptions():
        raise UsageError(
            f"{args.plan} is a plan of a stream graph, which has no options on reading"
        )
    return StreamFileOptions(args.plan, app)


def report_filters(options: StreamFileOptions, output: str, out: Output) -> int:
    """Write the page of a stream plan; print what limits it and what would help."""
    from evener.reporting.stream_report import write_stream_report

    plan = _checked(options)
    with out.progress("Drawing the report") as progress:
        progress("report", 0.1)
        try:
            advice = write_stream_report(output, plan)
        except EvenerError as error:
            error.file = error.file or options.plan
            raise
    out.say(plan.verdict())
    print_advice(advice, plan, out)
    out.say(f"Written: {output}")
    out.result({"verdict": plan.verdict(), "written": output, **advice_to_dict(advice)})
    return 0


def export_filters(options: StreamFileOptions, to: str, output: str, out: Output) -> int:
    """Write the device of each filter as asked."""
    from evener.io.dataflow.placed import write_placed
    from evener.reporting.stream_report import device_colours

    plan = _checked(options)
    write_placed(output, plan, to, device_colours(plan))
    out.say(f"Written: {output}")
    out.result({"written": output, "format": to, "filters": plan.graph.n})
    return 0


def replay_filters(options: StreamFileOptions, out: Output) -> int:
    """Make a stream plan again; 3 where the input differs, 5 where only the result does."""
    from evener.io.plans.stream_plan import read_stream_plan
    from evener.planning.stream import MapOptions, map_filters, problem_of

    if options.app is None:
        raise UsageError("a plan is made again from its stream graph", hint="Give that file, too.")
    old = read_stream_plan(options.plan)
    read = _read(options.app)
    try:
        asked = MapOptions(**{one.name: old.options[one.name] for one in fields(MapOptions)})
        reading = problem_of(old).reading
        with out.progress("Placing filters") as progress:
            new = map_filters(
                read.graph, old.platform, asked, reading, inputs=_inputs(options.app, read),
                notes=read.notes, progress=progress,
            )  # fmt: skip
    except (KeyError, TypeError, UsageError) as error:
        raise InputError(f"holds invalid options: {error}", file=options.plan) from error
    same = is_its_input(old, new.inputs)
    return say_replayed(options.plan, options.app, _differences(old, new), out, is_its_input=same)


def _checked(options: StreamFileOptions) -> StreamPlan:
    """Return the plan. Raises InputError where a file is given that is not the plan's."""
    from evener.io.plans.stream_plan import read_stream_plan

    plan = read_stream_plan(options.plan)
    if options.app is not None:
        refuse_other_input(plan, _inputs(options.app, _read(options.app)), options.app)
    return plan


def _read(app: str) -> StreamReading:
    from evener.io.dataflow.reading import read_stream_graph

    return read_stream_graph(app)


def _inputs(app: str, read: StreamReading) -> dict[str, str]:
    return {Path(app).name: read.sha256}


def _differences(old: StreamPlan, new: StreamPlan) -> list[str]:
    """Return what differs, most important first."""

    found = []
    if sorted(old.inputs.values()) != sorted(new.inputs.values()):
        found.append("the input files differ (SHA-256)")
    if old.graph.n != new.graph.n:
        return [*found, f"{old.graph.n:,} filters then, {new.graph.n:,} now"]
    moved = int((old.part != new.part).sum())
    if moved:
        timed = old.options.get("seconds") is not None
        why = " (its search had a time limit, and ends elsewhere each time)" if timed else ""
        found.append(f"{moved:,} of {new.graph.n:,} filters are on another device{why}")
    for name, version in old.versions.items():
        if new.versions.get(name) != version:
            found.append(f"{name} {version} then, {new.versions.get(name, 'absent')} now")
    then, now = (_record(plan) for plan in (old, new))
    for record in (then, now):
        del record["inputs"], record["versions"]
    return found + list(differing_entries(then, now))


def _record(plan: StreamPlan) -> dict[str, Any]:
    from evener.io.plans.stream_plan import stream_manifest

    loads = {"computing": plan.computing.tolist(), "communicating": plan.communicating.tolist()}
    return dict(json.loads(json.dumps(stream_manifest(plan) | loads)))

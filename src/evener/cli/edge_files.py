"""`evener replay`, `export` and `report` of edge plans."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar

from evener.cli.differences import differing_entries, say_replayed
from evener.cli.edge_options import edge_options_of, read_edges_as
from evener.cli.graph_options import (
    ReadOptions,
    is_its_input,
    refuse_other_input,
)
from evener.cli.options import options_from
from evener.errors import InputError, UsageError

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.io.edges import EdgeReading
    from evener.plans.edge_plan import EdgePlan

Chosen = TypeVar("Chosen")


@dataclass(frozen=True)
class EdgeFileOptions:
    """An edge plan's file, the file that it was made from, if it is given, and how that is read."""

    plan: str
    graph: str | None
    reading: ReadOptions


def edge_file_options_from(args: argparse.Namespace, graph: str | None) -> EdgeFileOptions | None:
    """Return the options where the plan named is an edge plan; None for all other files."""
    from evener.io.plans.edge_plan import is_edge_plan

    if not is_edge_plan(args.plan):
        return None
    return EdgeFileOptions(args.plan, graph, options_from(args, ReadOptions))


def replay_edges(options: EdgeFileOptions, out: Output) -> int:
    """Make an edge plan again; 3 where the input differs, 5 where only the result does."""
    from evener.io.plans.edge_plan import read_edge_plan

    if options.graph is None:
        raise UsageError("a plan is made again from its graph", hint="Give that file, too.")
    old = read_edge_plan(options.plan)
    with out.progress("Splitting") as progress:
        progress(str(old.options.get("method", "")), 0.1)
        new = _made_again(old, options, out)
    same_input = is_its_input(old, new.inputs)
    return say_replayed(
        options.plan, options.graph, _differences(old, new), out, is_its_input=same_input
    )


def export_edges(options: EdgeFileOptions, to: str, output: str, out: Output) -> int:
    """Write the block of each edge as asked; with the graph its ends, too."""
    from evener.io.plans.edge_exports import EdgeEnds, write_edge_part
    from evener.io.plans.edge_plan import read_edge_plan

    plan = read_edge_plan(options.plan)
    ends = None
    if options.graph is not None:
        reading = _checked_again(plan, options, out)
        ends = EdgeEnds(reading.ends, reading.edges.weights)
    written = write_edge_part(output, plan, to, ends=ends)
    out.say(f"Written: {output}")
    out.result({"written": output, "files": written, "format": to, "edges": plan.partition.m})
    return 0


def report_edges(options: EdgeFileOptions, output: str, out: Output) -> int:
    """Write the page of an edge plan; with the graph, how its vertices are copied."""
    from evener.io.plans.edge_plan import read_edge_plan
    from evener.reporting.edge_report import write_edge_report

    plan = read_edge_plan(options.plan)
    reading = None
    if options.graph is not None:
        reading = _checked_again(plan, options, out)
    with out.progress("Drawing the report") as progress:
        progress("report", 0.1)
        write_edge_report(output, plan, None if reading is None else reading.edges)
    out.say(plan.verdict())
    out.say(f"Written: {output}")
    if reading is None:
        out.note("note: not recounted: no graph given")
    out.result({"verdict": plan.verdict(), "written": output, "picture": reading is not None})
    return 0


def _read_again(plan: EdgePlan, options: EdgeFileOptions, out: Output) -> EdgeReading:
    assert options.graph is not None
    how = edge_options_of(plan, options.reading, options.graph, options.plan)
    return read_edges_as(options.graph, how, out)


def _checked_again(plan: EdgePlan, options: EdgeFileOptions, out: Output) -> EdgeReading:
    """Return the plan's edges. Raises InputError for another file, and where the plan is forged."""
    from evener.planning.evaluate_edges import refuse_forged_edges

    reading = _read_again(plan, options, out)
    refuse_other_input(plan, reading.inputs, str(options.graph))
    refuse_forged_edges(plan, reading, options.plan)
    return reading


def _made_again(plan: EdgePlan, options: EdgeFileOptions, out: Output) -> EdgePlan:
    """Return the plan made with the options of `plan`, of a file that is read in pieces or not."""
    from evener.planning.split import SplitOptions, split
    from evener.planning.split_file import StreamOptions, split_file

    assert options.graph is not None
    if plan.options.get("stream"):
        streamed = _options_in(plan, StreamOptions, options.plan)
        return split_file(options.graph, plan.platform, streamed)
    how = _options_in(plan, SplitOptions, options.plan)
    return split(_read_again(plan, options, out), plan.platform, how)


def _options_in(plan: EdgePlan, kind: type[Chosen], file: str) -> Chosen:
    """Return the options the plan was made with. Raises InputError where they are not valid."""
    chosen: dict[str, Any] = {}
    for field in fields(kind):  # type: ignore[arg-type] # SplitOptions or StreamOptions
        value = plan.options.get(field.name, field.default)
        if isinstance(field.default, float) and type(value) is int:
            value = float(value)
        known = int if field.default is None else type(field.default)
        if value is not None and type(value) is not known:
            raise InputError(f"holds an invalid option: {field.name}", file=file)
        chosen[field.name] = value
    try:
        return kind(**chosen)
    except (TypeError, UsageError) as error:
        raise InputError(f"holds invalid options: {error}", file=file) from error


def _differences(old: EdgePlan, new: EdgePlan) -> list[str]:
    """Return what differs, most important first."""
    from evener.io.plans.edge_plan import edge_manifest

    found = []
    if sorted(old.inputs.values()) != sorted(new.inputs.values()):
        found.append("the input files differ (SHA-256)")
    if old.partition.m != new.partition.m:
        return [*found, f"{old.partition.m:,} edges then, {new.partition.m:,} now"]
    moved = int((old.partition.part != new.partition.part).sum())
    if moved:
        found.append(f"{moved:,} of {new.partition.m:,} edges are in another block")
    for name, version in old.versions.items():
        if new.versions.get(name) != version:
            found.append(f"{name} {version} then, {new.versions.get(name, 'absent')} now")
    then, now = (json.loads(json.dumps(edge_manifest(plan))) for plan in (old, new))
    for record in (then, now):
        del record["inputs"], record["versions"]
    return found + list(differing_entries(then, now))

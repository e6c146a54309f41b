"""`evener replay`: make a plan or decisions again, and report whether they are identical."""

from __future__ import annotations

import argparse
import json
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from evener.cli.differences import (
    SHOWN,
    differing_entries,
    differing_parts,
    digests,
    only_known,
    say_replayed,
)
from evener.cli.edges import edge_file_options_from, replay_edges
from evener.cli.filters import replay_filters, stream_file_options_from
from evener.cli.graph_options import (
    ReadOptions,
    add_rereading_options,
    read_again,
    recorded_options,
    recorded_reading,
)
from evener.cli.oddities import notes_on
from evener.cli.options import options_from
from evener.cli.plan_in_slices import SliceWords, planned_in_slices, recorded_memory

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.graphs.graph import Graph
    from evener.planning.options import PlanOptions
    from evener.plans.plan import Plan

WITH_OWN_MESSAGE = ("versions", "inputs")  # entries of a plan's record


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("plan", metavar="PLAN", help="a plan file or a decision log")
    parser.add_argument("graph", nargs="?", metavar="GRAPH", help="the file a plan was made from")
    add_rereading_options(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Exit 0 if identical, 3 if the input differs, 5 if only the result differs."""
    from evener.errors import UsageError
    from evener.io.plans.plan import read_plan
    from evener.planning.in_memory import plan
    from evener.rebalancing.decision_log import is_decisions

    if is_decisions(args.plan):
        return _decisions(args.plan, args.graph, out)
    filters = stream_file_options_from(args, args.graph)
    if filters is not None:
        return replay_filters(filters, out)
    edges = edge_file_options_from(args, args.graph)
    if edges is not None:
        return replay_edges(edges, out)
    old = read_plan(args.plan)
    if args.graph is None:
        raise UsageError(
            "replay needs the file that the plan was made from",
            hint="Give that file after the plan.",
        )
    options = options_of(old, args.plan)
    _refuse_of_ranks(old, args.plan)
    memory = recorded_memory(old, args.plan)
    if memory is not None:
        given = recorded_options(recorded_reading(old), args.plan)
        words = SliceWords.again(args.graph, given, options_from(args, ReadOptions), memory)
        new = planned_in_slices(words, memory, None, options, old.platform, out)
        return _say_replayed(old, new, args.plan, args.graph, out)
    reading = read_again(args.graph, old, options_from(args, ReadOptions), out, args.plan)
    with out.progress("Planning") as progress:
        new = plan(
            reading.graph,
            old.platform,
            options,
            inputs=reading.inputs,
            reading=recorded_reading(old),
            notes=(*reading.notes, *notes_on(reading)),
            progress=progress,
        )
        new = _with_rival(old, new, reading.undirected, options)
    return _say_replayed(old, new, args.plan, args.graph, out)


def _refuse_of_ranks(old: Plan, file: str) -> None:
    """Raise UsageError for a plan made on ranks: one process would make other blocks.

    The plan records that the graph was divided in slices, but not how they were read.
    """
    from evener.errors import UsageError

    if old.options.get("sliced") == {}:
        raise UsageError(
            "was made on ranks of mpiexec; replay runs in one process and cannot repeat it",
            file=file,
            hint="Run `mpiexec -n 2 evener plan` with the same options; `evener evaluate` "
            "recounts this plan.",
        )


def _say_replayed(old: Plan, new: Plan, file: str, graph: str, out: Output) -> int:
    """Print whether two plans, the old one from `file`, are identical; return the exit code."""
    from evener.io.plans.plan import manifest_in

    differences = _differences(old, new, manifest_in(file))
    same_input = digests(old) == digests(new)
    return say_replayed(file, graph, differences, out, is_its_input=same_input)


def _decisions(file: str, graph: str | None, out: Output) -> int:
    """Make the decisions of a log again from its measurements; this needs no graph."""
    from evener.errors import ToolError, UsageError
    from evener.rebalancing.decision_log import read_decisions, replay

    if graph is not None:
        raise UsageError("replay of a decision log takes no graph", hint=f"Leave out {graph}.")
    log = read_decisions(file)
    made = replay(log)
    out.result({"identical": not made.differences, "differences": made.differences,
                "decisions": made.decisions, "moves": made.moves, "cut": log.cut})  # fmt: skip
    if made.differences:
        raise ToolError(f"not identical: {'; '.join(made.differences[:SHOWN])}", file=file)
    cut = " The last line was cut off, and is left out." if log.cut else ""
    out.say(f"Identical: {made.decisions:,} decisions, {made.moves:,} of them to move.{cut}")
    return 0


def options_of(old: Plan, file: str) -> PlanOptions:
    """Return the options of the plan. Raises InputError if they are invalid."""
    from evener.errors import InputError, UsageError
    from evener.planning.options import PlanOptions

    chosen = {
        field.name: old.options.get(field.name, field.default) for field in fields(PlanOptions)
    }
    try:
        chosen["workload"] = old.workload
    except InputError as error:
        raise InputError(f"holds an invalid workload: {error}", file=file) from error
    for field in fields(PlanOptions):
        kinds = (int, float) if isinstance(field.default, float) else type(field.default)
        if not isinstance(chosen[field.name], kinds):
            raise InputError(f"holds an invalid plan option: {field.name}", file=file)
    try:
        for field in fields(PlanOptions):
            if isinstance(field.default, float):
                chosen[field.name] = float(chosen[field.name])
        return PlanOptions(**chosen)
    except (OverflowError, UsageError) as error:
        raise InputError(f"holds invalid options: {error}", file=file) from error


def _leave_out_unknown(then: dict[str, Any], now: dict[str, Any]) -> None:
    """Remove from both records the figures that the older version of Evener did not predict."""
    if not any(then["prediction"]["interior"]):
        for record in (then, now):
            del record["prediction"]["interior"]
    if all(stage["seconds"] is None for stage in then["stages"]):
        for stage in (*then["stages"], *now["stages"]):
            del stage["seconds"]


def _with_rival(old: Plan, new: Plan, graph: Graph, options: PlanOptions) -> Plan:
    """Return the new plan with the old plan's rival, if any, run again."""
    if old.rival is None:
        return new
    from evener.errors import InputError, UsageError
    from evener.planning.compare import rival_of

    try:
        return replace(
            new,
            rival=rival_of(
                graph, old.platform, old.rival.tool, options, new.certificate.vertices > 0
            ),
        )
    except UsageError as error:
        raise InputError(
            f"names an invalid tool for the comparison (--versus): {error.message}"
        ) from error


def _differences(old: Plan, new: Plan, stored: dict[str, Any]) -> list[str]:
    """Return the differences, most important first. stored: the old record as it is in the file."""
    from evener.io.json_text import dumps
    from evener.io.plans.manifest import manifest
    from evener.planning.evaluate import differing

    parts = old.partition.part, new.partition.part
    found = differing_parts((old, new), parts, "vertices", "in another block")
    if old.partition.n != new.partition.n:
        return found
    then, now = (json.loads(dumps(manifest(plan))) for plan in (old, new))
    _leave_out_unknown(then, now)
    for record in (then, now, stored):
        for key in WITH_OWN_MESSAGE:
            record.pop(key, None)
    if "bytes_per_value" in stored.get("options", {}):
        del stored["options"]  # in the layout of an older version; `then` has them in this one's
    found += differing(old.evaluation.exchange, new.evaluation.exchange, "exchange")
    found += differing_entries(then, now)
    # Entries that are computed from others are not read: what the file says of them may be wrong.
    known = only_known(stored, json.loads(dumps(manifest(old))))
    seen = {entry.split(" ", 1)[0] for entry in found}
    found += [
        entry for entry in differing_entries(stored, known) if entry.split(" ", 1)[0] not in seen
    ]
    return found

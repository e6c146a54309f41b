"""Commands on blocks of vertices: evaluate, compare, replay, export, report."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evener.cli.differences import (
    differing_entries,
    differing_parts,
    digests,
    only_known,
    say_replayed,
)
from evener.cli.graph_options import (
    ReadOptions,
    graph_to_divide,
    is_its_input,
    read_again,
    read_as,
    read_workload,
    recorded_options,
    recorded_reading,
    refuse_other_input,
)
from evener.cli.judged import (
    OWN,
    WorkloadOptions,
    evaluation_to_dict,
    figures_of,
    finite,
    partition_in,
    print_time_remarks,
    say_bottleneck,
)
from evener.cli.kinds.plan_file import ExportOptions, PlanFile
from evener.cli.machines import MachineOptions, machine_of
from evener.cli.oddities import notes_on
from evener.cli.options import options_from
from evener.cli.plan_in_slices import SliceWords, planned_in_slices, recorded_memory
from evener.cli.plan_options import plan_options_from
from evener.cli.values import refuse_outputs
from evener.errors import InputError, UsageError

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.graphs.graph import Graph
    from evener.io import Reading
    from evener.io.plans.promises import Promise
    from evener.planning.compare import Comparison
    from evener.planning.options import PlanOptions
    from evener.plans.partition import Contract
    from evener.plans.plan import Certificate, Evaluation, Plan
    from evener.plans.workload import Workload
    from evener.platforms.platform import Platform

EPSILON = 0.03


class AskedTerms(NamedTuple):
    """--epsilon and --constraints; None and "" if they are not given."""

    epsilon: float | None
    shares: str


@dataclass(frozen=True)
class EvaluationOptions:
    """Options for evaluating a partition. plan: the plan of --as, or None."""

    graph: str
    part: str
    plan: str | None
    asked: AskedTerms
    machine: MachineOptions = field(default_factory=MachineOptions)
    workload: WorkloadOptions = field(default_factory=WorkloadOptions)
    reading: ReadOptions = field(default_factory=ReadOptions)


def evaluation_options_from(
    args: argparse.Namespace, given: Mapping[str, str]
) -> EvaluationOptions:
    """Return the options. Raises UsageError for options that apply to edges only."""
    if "weighted" in given:
        raise UsageError(f"{given['weighted']} works with --edges only")
    return options_from(args, EvaluationOptions, asked=AskedTerms(args.epsilon, args.shares))


def evaluate(options: EvaluationOptions, out: Output) -> int:
    """Read graph and partition, evaluate, print; the exit code does not depend on the contract."""
    from evener.graphs.joined import split_groups
    from evener.planning.evaluate import evaluate
    from evener.planning.in_memory import describe
    from evener.plans.plan import arcs_remark
    from evener.wording import plural

    platform, promise = judging_devices(options.machine, options.plan, options.part, out)
    workload = options.workload.workload(promise.workload if promise else None)
    recorded = recorded_options(promise.reading if promise else {}, options.plan or options.part)
    reading = read_as(options.graph, recorded, options.reading, out)
    graph = graph_to_divide(reading, out)
    workload = workload.settled(reading.exchange)
    partition = partition_in(options.part, graph, platform.k)
    terms = judging_terms(options.asked, promise, reading, platform, workload)
    judged = evaluate(graph, partition, platform, terms.contract, workload=workload)
    _print_evaluation(judged, platform, out)
    verdict = judged.verdict(platform)
    if remark := arcs_remark(judged, platform, workload, describe(graph)):
        verdict = f"{verdict} {remark}"
    out.say(verdict)
    out.say(f"Judged by {terms.source}.")
    split = None if graph.together is None else split_groups(partition.part, graph.together)
    if split:
        groups = plural(split, "group is", "groups are")
        out.say(f"{groups} in several blocks, although the vertices of a group must share one.")
    bottleneck = say_bottleneck(judged, platform, workload, out)
    out.result({**evaluation_to_dict(judged, platform), "verdict": verdict,
                "judged_by": terms.source, "limits": bottleneck,
                **({} if split is None else {"split_groups": split})})  # fmt: skip
    return 0


def judging_devices(
    machine: MachineOptions, plan: str | None, part: str, out: Output
) -> tuple[Platform, Promise | None]:
    """Return the machine, and the contract stored in the plan of --as or in the partition's file.

    The contract is None if neither contains one.
    """
    from evener.io.plans.plan import read_plan
    from evener.io.plans.promises import promise_in, promise_of

    promise = None if plan is None else promise_of(read_plan(plan))
    if promise is not None and not machine.given:
        assert promise.platform is not None
        return promise.platform, promise
    if promise is None and not machine.given:
        promise = promise_in(part, None)
        if promise is not None and promise.platform is not None:
            return promise.platform, promise
        _refuse_broken_plan(part)
    platform = machine_of(machine, out)
    return platform, promise or promise_in(part, platform.k)


def _refuse_broken_plan(part: str) -> None:
    """Raise InputError if a file cannot be read, or is named like a plan but is not one.

    Without this check, the error would be that no machine is given, although plans contain one.
    """
    from evener.io.plans.plan import read_plan
    from evener.io.sources import open_source

    if part.lower().endswith(".plan"):
        read_plan(part)
    else:
        open_source(part)


@dataclass(frozen=True, eq=False)
class JudgingTerms:
    """A contract, and a phrase that states its origin."""

    contract: Contract
    source: str


def judging_terms(
    asked: AskedTerms,
    promise: Promise | None,
    reading: Reading,
    platform: Platform,
    workload: Workload,
) -> JudgingTerms:
    """Return the plan's contract if graph, machine and workload are the same, else a similar one.

    Without a plan, return the contract that `evener plan` would make. With --epsilon or
    --constraints, the contract has sizes by speed.
    """
    from evener.io.plans.promises import platform_digest
    from evener.planning.options import PlanOptions
    from evener.sizing.contracts import contract_for, contract_for_seconds

    graph = reading.undirected
    by_speed = asked.epsilon is not None or bool(asked.shares)
    if promise is not None and not by_speed:
        known = set(promise.inputs.values())
        same_graph = not known or bool(known & set(reading.inputs.values()))
        if promise.digest == platform_digest(platform) and same_graph:
            if promise.workload == workload:
                return JudgingTerms(promise.contract, OWN)
            if promise.contract.may_be_unused:
                contract = replace(contract_for_seconds(graph, platform, workload), further=())
                return JudgingTerms(
                    contract,
                    "the plan's contract without its time limit, because the kernel differs",
                )
    options = {} if promise is None or by_speed else dict(promise.options)
    seconds = options.get("objective") == "seconds" or (
        promise is None
        and not by_speed
        and PlanOptions().settled(platform, weights=graph.n_constraints).objective == "seconds"
    )
    if seconds:
        contract = contract_for_seconds(graph, platform, workload)
        return JudgingTerms(
            contract, "memory, the user's limits and predicted time, like plans for seconds"
        )
    epsilon = options.get("epsilon", EPSILON) if asked.epsilon is None else asked.epsilon
    shares = (asked.shares or str(options.get("shares", ""))).split(",")
    contract, _ = contract_for(
        workload.weighted(graph), platform, float(epsilon), shares=[s for s in shares if s]
    )
    return JudgingTerms(contract, f"the sizes of least time, with tolerance {float(epsilon):.3g}")


def _by_weight(certificate: Certificate) -> list[list[str]]:
    """Return two rows for each weight, if there are several."""
    if not certificate.contract.further:
        return []
    return [
        [f"  weight {i}: {what}", f"{value:.3f}"]
        for i, column in enumerate(certificate.fullness.T)
        for what, value in (("smallest / target", column.min()), ("largest / target", column.max()))
    ]


def _balance(judged: Evaluation, figures: dict[str, str]) -> list[list[str]]:
    """Return rows on blocks and targets; in plans for seconds, targets are not binding."""
    certificate = judged.certificate
    has_target = certificate.contract.targets > 0
    ratios = certificate.fullness[has_target]
    if certificate.contract.may_be_unused:
        used = certificate.vertices > 0
        smallest = certificate.fullness[has_target & used].min(initial=float("inf"))
        what = "best size without messages"
        return [
            ["unused devices", f"{int((~used).sum()):,}"],
            [f"smallest block / {what}", f"{smallest:.3f}"],
            [f"largest block / {what}", f"{ratios.max(initial=0.0):.3f}"],
        ]
    return [
        ["imbalance against targets", figures["imbalance against targets"]],
        ["smallest block / target", f"{float(ratios.min()):.3f}"],
        *_by_weight(certificate),
    ]


def _print_evaluation(judged: Evaluation, platform: Platform, out: Output) -> None:
    from evener.wording import percent

    prediction, figures = judged.prediction, figures_of(judged, platform)
    first = ("edge cut", "total volume", "largest volume", "boundary vertices")
    rows = [
        *([name, figures[name]] for name in first),
        *_balance(judged, figures),
        ["predicted", figures["predicted"]],
        ["  lower bound", prediction.clock(prediction.bound)],
        ["  above the bound", percent(judged.above_bound)],
        ["  slowest device", platform.names[prediction.bottleneck]],
        ["blocks within contract", figures["blocks within contract"]],
    ]
    out.table(["measure", "value"], rows)
    print_time_remarks(judged, platform, out)


@dataclass(frozen=True)
class ComparisonOptions:
    """Options for comparing partitioners. tools: empty: all; report: the page's file, or None."""

    graph: str
    tools: list[str]
    options: PlanOptions
    report: str | None
    machine: MachineOptions = field(default_factory=MachineOptions)
    reading: ReadOptions = field(default_factory=ReadOptions)


def comparison_options_from(
    args: argparse.Namespace, given: Mapping[str, str]
) -> ComparisonOptions:
    """Return the options. Raises UsageError for options that apply to edges only."""
    for name in ("weighted", "of"):
        if name in given:
            raise UsageError(f"{given[name]} works with --edges only")
    tools = [name.strip() for name in args.tools.split(",")] if args.tools else []
    options = plan_options_from(args, "auto")
    return options_from(args, ComparisonOptions, tools=tools, options=options)


def compare(comparison: ComparisonOptions, out: Output) -> int:
    """Run every tool with the same targets and contract; exit 0 even if a tool fails."""
    from evener.partitioning.tools import find_tool
    from evener.planning.compare import PLAN, available_tools, compare, compared_plan

    if comparison.report is not None:
        refuse_outputs(
            [comparison.report],
            [comparison.graph, comparison.machine.machine, comparison.reading.coords],
        )
    platform = machine_of(comparison.machine, out)
    for name in comparison.tools:
        if name not in ("auto", PLAN):
            find_tool(name)
    reading = read_workload(comparison.graph, comparison.reading, out)
    graph = graph_to_divide(reading, out)
    tools = comparison.tools or available_tools(graph, platform)
    options = comparison.options.sending(reading.exchange)
    best = replace(options, objective="auto").settled(platform, weights=graph.n_constraints)
    planned = PLAN in comparison.tools or (not comparison.tools and best.objective == "seconds")
    with out.progress("Comparing") as progress:
        others = [name for name in tools if name != PLAN]
        results = compare(graph, platform, others, options, progress=progress)
        if planned:
            progress("the plan for seconds", 0.9)
            results.insert(0, compared_plan(graph, platform, best))
    rows = [_row(result) for result in results]
    work = float(options.workload.weighted(graph).total_weight)
    _print_comparison(rows, platform, work, out)
    if planned:
        out.say(
            "The plan of `evener plan` has its own sizes; all others have the sizes "
            "of `evener sizes`. Figures are after repair and mapping; figures in brackets are "
            "before both."
        )
    if comparison.report:
        from evener.reporting.html import write_comparison

        shown = {**asdict(options), "reading": comparison.reading.recorded()}
        write_comparison(
            comparison.report, rows, graph, platform, options=shown, inputs=reading.inputs
        )
        out.say(f"Written: {comparison.report}")
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


def _print_comparison(
    rows: list[dict[str, Any]], platform: Platform, work: float, out: Output
) -> None:
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


def replay(file: PlanFile, out: Output) -> int:
    """Make a plan again; exit 3 if the input differs, 5 if only the result differs."""
    from evener.io.plans.plan import manifest_in, read_plan

    old = read_plan(file.plan)
    source = file.needed_source()
    new = _made_again(old, file, source, out)
    found = _differences(old, new, manifest_in(file.plan))
    same_input = digests(old) == digests(new)
    return say_replayed(file.plan, source, found, out, is_its_input=same_input)


def _made_again(old: Plan, file: PlanFile, source: str, out: Output) -> Plan:
    """Return the plan made again with the options of `old`, in memory or in slices."""
    from evener.planning.in_memory import plan

    options = options_of(old, file.plan)
    _refuse_of_ranks(old, file.plan)
    memory = recorded_memory(old, file.plan)
    if memory is not None:
        given = recorded_options(recorded_reading(old), file.plan)
        words = SliceWords.again(source, given, file.reading, memory)
        return planned_in_slices(words, memory, None, options, old.platform, out)
    reading = read_again(source, old, file.reading, out, file.plan)
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
        return _with_rival(old, new, reading.undirected, options)


def _refuse_of_ranks(old: Plan, file: str) -> None:
    """Raise UsageError for a plan made on ranks: one process would make other blocks.

    The plan records that the graph was divided in slices, but not how they were read.
    """
    if old.options.get("sliced") == {}:
        raise UsageError(
            "was made on ranks of mpiexec; replay runs in one process and cannot repeat it",
            file=file,
            hint="Run `mpiexec -n 2 evener plan` with the same options; `evener evaluate` "
            "recounts this plan.",
        )


def options_of(old: Plan, file: str) -> PlanOptions:
    """Return the options of the plan. Raises InputError if they are invalid."""
    from evener.planning.options import PlanOptions

    chosen = {one.name: old.options.get(one.name, one.default) for one in fields(PlanOptions)}
    try:
        chosen["workload"] = old.workload
    except InputError as error:
        raise InputError(f"holds an invalid workload: {error}", file=file) from error
    for one in fields(PlanOptions):
        kinds = (int, float) if isinstance(one.default, float) else type(one.default)
        if not isinstance(chosen[one.name], kinds):
            raise InputError(f"holds an invalid plan option: {one.name}", file=file)
    try:
        for one in fields(PlanOptions):
            if isinstance(one.default, float):
                chosen[one.name] = float(chosen[one.name])
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
        for key in ("versions", "inputs"):  # differences of these have their own sentences
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


NAMED = 4  # files that are named one by one


def export(file: PlanFile, options: ExportOptions, out: Output) -> int:
    """Write `part[v]`, the index of v's device in the machine's order, in the requested format."""
    from evener.integrations.exports import EXPORTERS

    if options.to in EXPORTERS:
        return _export_to_program(file, options, out)
    return _export_part(file, options.to, options.needed_output(file), out)


def _export_to_program(file: PlanFile, options: ExportOptions, out: Output) -> int:
    """Write the input of another program: one file, several files, or files in its case folder."""
    from evener.integrations.exports import export
    from evener.integrations.requests import ExportRequest

    plan, reading = _read(file, out)
    source, target = (None if p is None else Path(p) for p in (file.source, options.output))
    if target is not None and not target.is_dir():
        refuse_outputs([target], [file.plan, file.source, file.reading.coords])
    written = export(ExportRequest(plan, reading, source, target), options.to, force=options.force)
    paths = written.paths if len(written.paths) <= NAMED else written.paths[-1:]
    for path in paths:
        out.say(f"Written: {path}")
    if len(paths) < len(written.paths):
        out.say(f"Written: {len(written.paths) - 1:,} more files in {written.folder}")
    for note in written.notes:
        out.note(f"note: {note}")
    result: dict[str, Any] = {"written": options.output or str(written.folder)}
    result |= {"files": [str(path) for path in written.paths], "format": options.to}
    out.result(result | {"vertices": plan.partition.n, "notes": list(written.notes)})
    return 0


def _export_part(file: PlanFile, to: str, output: str, out: Output) -> int:
    """Write the block of each vertex to the file `output`."""
    from evener.io.plans.partitions import write_part
    from evener.io.plans.promises import promise_of, promise_to_dict
    from evener.planning.evaluate import refuse_forged

    plan, reading = _read(file, out)
    is_its = reading is not None and is_its_input(plan, reading.inputs)
    if reading is not None:
        plan.partition.checked_for(reading.graph.n)
        if is_its:
            refuse_forged(plan, reading.undirected, file.plan)
    write_part(
        output,
        plan.partition.part,
        to,
        mesh=None if reading is None else reading.mesh,
        graph=None if reading is None else reading.undirected,
        by=recorded_reading(plan).get("by", "cells"),
        devices=plan.platform.names,
        terms=promise_to_dict(promise_of(plan)),
        first=plan.graph.get("first_label", 0),
    )
    if reading is not None and not is_its:
        out.note(
            f"note: figures are not recounted, because the plan was not made from {file.source}"
        )
    out.say(f"Written: {output}")
    if to == "vtu" and reading is not None and _has_polyhedra(reading):
        out.note(
            f"note: {output} contains polyhedra: ParaView and VTK read them; meshio confuses or "
            "refuses polyhedra of different shapes"
        )
    out.result({"written": output, "format": to, "vertices": plan.partition.n})
    return 0


def _read(file: PlanFile, out: Output) -> tuple[Plan, Reading | None]:
    from evener.io.plans.plan import read_plan

    plan = read_plan(file.plan)
    if (idle := idle_devices(plan)) is not None:
        out.note(idle)
    if file.source is None:
        return plan, None
    return plan, read_again(file.source, plan, file.reading, out, file.plan)


def idle_devices(plan: Plan) -> str | None:
    """Return a note on devices without a block; each of them would nevertheless have a rank."""
    from evener.wording import ranges

    unused = [plan.platform.names[b] for b in (plan.certificate.vertices == 0).nonzero()[0]]
    if not unused:
        return None
    whose = "its rank has" if len(unused) == 1 else "their ranks have"
    return (
        f"note: {ranges(unused)}: no block assigned, so {whose} nothing to do; `evener plan "
        "--only-used` leaves out such devices"
    )


def _has_polyhedra(reading: Reading) -> bool:
    from evener.graphs.polymesh import PolyMesh

    return isinstance(reading.mesh, PolyMesh)


def report(file: PlanFile, output: str, out: Output) -> int:
    """Write the page of a plan; with a picture if the graph is given."""
    from evener.io.plans.plan import read_plan
    from evener.planning.evaluate import refuse_forged
    from evener.reporting.html import write_report

    plan = read_plan(file.plan)
    graph = mesh = None
    if file.source is not None:
        reading = read_again(file.source, plan, file.reading, out, file.plan)
        refuse_other_input(plan, reading.inputs, file.source)
        graph, mesh = reading.undirected, reading.mesh
        refuse_forged(plan, graph, file.plan)
    with out.progress("Drawing the report") as progress:
        progress("report", 0.1)
        write_report(output, plan, graph, mesh)
    out.say(plan.verdict())
    bottleneck = say_bottleneck(plan.evaluation, plan.platform, plan.workload, out)
    out.say(f"Written: {output}")
    picture = graph is not None
    if graph is None:
        out.note("note: figures are not recounted, because no graph is given")
    out.result(
        {"verdict": plan.verdict(), "written": output, "picture": picture, "limits": bottleneck}
    )
    return 0

"""Commands on blocks of edges: read, evaluate, compare, replay, export, report."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar

from evener.cli.differences import differences, say_replayed
from evener.cli.graph_options import (
    ReadOptions,
    add_reading_options,
    is_its_input,
    read_options_again,
    recorded_options,
    recorded_reading,
    refuse_other_input,
)
from evener.cli.judged import OWN
from evener.cli.kinds.plan_file import ExportOptions, PlanFile
from evener.cli.machines import MachineOptions, machine_of
from evener.cli.options import add_options, option, options_from
from evener.cli.values import refuse_outputs
from evener.errors import InputError, UsageError

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.io.edges import EdgeReading
    from evener.planning.compare import EdgeComparison
    from evener.plans.edge_partition import EdgePartition
    from evener.plans.edge_plan import EdgePlan
    from evener.plans.partition import Contract
    from evener.platforms.platform import Platform


KINDS = ("graph", "arcs", "matrix")
SHOWN = 40  # devices in a table


@dataclass(frozen=True)
class EdgeOptions:
    """Which edges of a file are divided, and how it is read.

    of, weighted: see `read_edges`; reading: see `read`.
    """

    of: str = option(
        "what to divide. graph: undirected edges, each once; arcs: directed edges, one for each "
        "line or entry; matrix: the stored entries of a matrix (default graph)",
        "--as",
        default="graph",
        choices=KINDS,
    )
    weighted: bool = option(
        "use edge weights and matrix values as work (default: one unit each)",
        default=False,
    )
    reading: ReadOptions = field(default_factory=ReadOptions)


def add_edge_options(parser: argparse.ArgumentParser) -> None:
    """Add --as and --weighted, and the options for reading a graph."""
    add_options(parser, EdgeOptions)
    add_reading_options(parser)


def read_edges_as(
    path: str, options: EdgeOptions, out: Output, *, has_notes: bool = True
) -> EdgeReading:
    """Read `path` with these options, with a progress bar; notes on the file go to stderr.

    has_notes: False if the same file was read before, and its notes were printed.
    """
    from evener.io.edges import read_edges

    with out.progress(f"Reading {path}") as progress:
        reading = read_edges(
            path,
            of=options.of,
            weighted=options.weighted,
            progress=progress,
            **options.reading.given(),
        )
    for note in reading.notes if has_notes else ():
        out.note(f"note: {note}")
    return reading


def edge_options_of(plan: EdgePlan, given: ReadOptions, path: str, file: str) -> EdgeOptions:
    """Return the options with which `plan` read its edges, to read them again from `path`.

    Options in `given` take precedence; `file`, the plan's file, is named in errors. Raises
    InputError if the plan contains unknown read options.
    """
    reading = read_options_again(path, recorded_options(recorded_reading(plan), file), given)
    return EdgeOptions(plan.of, bool(plan.options.get("weighted", False)), reading)


def print_blocks(plan: EdgePlan, out: Output) -> None:
    """Print a row for each device: work, deviation from its target, vertices, memory."""
    from evener.wording import memory, signed_percent

    relative, metrics = plan.relative_loads, plan.metrics
    rows = [
        [
            name,
            f"{metrics.loads[b]:,.6g}" if metrics.loads[b] % 1 else f"{metrics.loads[b]:,.0f}",
            signed_percent(relative[b] - 1),
            f"{metrics.vertices[b]:,}",
            memory(metrics.bytes[b]),
        ]
        for b, name in enumerate(plan.platform.names)
    ]
    what = "work" if plan.options.get("weighted") else "edges"
    columns = ("device", what, "off target", "vertices", "memory")
    out.table(columns, rows, most=SHOWN, what="devices")


def edge_figures(plan: EdgePlan) -> dict[str, Any]:
    """Return the figures of an edge plan for --json; lists have an entry for each device."""
    relative, metrics = plan.relative_loads, plan.metrics
    return {
        "copies": metrics.copies,
        "replication": metrics.replication,
        "smallest": float(relative.min()),
        "largest": float(relative.max()),
        "most_vertices": metrics.most_vertices,
        "exchanged_bytes": metrics.exchanged_bytes(),
        "n_edges": plan.partition.m,
        "n_vertices": int(plan.graph["touched"]),
        "loads": metrics.loads.tolist(),
        "edges": metrics.edges.tolist(),
        "vertices": metrics.vertices.tolist(),
        "bytes": metrics.bytes.tolist(),
        "holds": bool(plan.holds.all()),
        "of": plan.of,
        "verdict": plan.verdict(),
    }


EPSILON = 0.03
ORDERS = (*KINDS, "file")  # of the blocks in a partition file


# Options of `evener evaluate` and `compare` that apply to blocks of vertices only.
OF_VERTICES = {
    "objective", "sizing", "connected", "mapping", "threads", "time_limit", "shares", "kernel",
    "overlap",
    "exchange",
}  # fmt: skip


def _refuse_others(given: Mapping[str, str], *others: str) -> None:
    """Raise UsageError if an option in OF_VERTICES, or one of `others`, is given."""
    for name, flag in given.items():
        if name in OF_VERTICES or name in others:
            raise UsageError(f"{flag} applies to blocks of vertices, not of edges")


@dataclass(frozen=True)
class EdgeEvaluationOptions:
    """Options for evaluating an edge partition; None and "": not given.

    plan: the file of the edge plan that provides machine, contract and reading options.
    """

    graph: str
    part: str
    plan: str
    of: str
    weighted: bool
    epsilon: float | None
    bytes_per_value: float | None
    machine: MachineOptions = field(default_factory=MachineOptions)
    reading: ReadOptions = field(default_factory=ReadOptions)


def evaluation_options_from(
    args: argparse.Namespace, given: Mapping[str, str]
) -> EdgeEvaluationOptions | None:
    """Return the options if edges are divided; None if vertices are.

    Edges are divided if --edges is given, or if PART or the plan of --as is an edge plan. Raises
    UsageError for options that apply to blocks of vertices only.
    """
    from evener.io.plans.kinds import EDGES, kind_in

    named = args.plan if args.plan and args.plan not in ORDERS else None
    plan = next((one for one in (named, args.part) if one and kind_in(one) == EDGES), "")
    if not args.edges and not plan:
        return None
    _refuse_others(given)
    if named and plan != named:
        raise UsageError(f"--as: {named} is neither an edge plan nor one of {', '.join(ORDERS)}")
    of = args.plan if args.plan in ORDERS else ""
    return options_from(args, EdgeEvaluationOptions, plan=plan, of=of)


def evaluate(options: EdgeEvaluationOptions, out: Output) -> int:
    """Read edges and blocks, evaluate, print; the exit code does not depend on the contract."""
    from evener.io.plans.edge_plan import read_edge_plan
    from evener.plans.workload import BYTES_PER_VALUE

    plan = read_edge_plan(options.plan) if options.plan else None
    asked = EdgeOptions(options.of or "graph", options.weighted, options.reading)
    if plan is not None:
        asked = edge_options_of(plan, options.reading, options.graph, options.plan)
    judge = _judge_of_file if asked.of == "file" else _judge
    judged, own = judge(options, plan, asked, out)
    said = OWN if own else f"the sizes of least time, with tolerance {_epsilon(options, plan):.3g}"
    each = options.bytes_per_value
    _print(judged, BYTES_PER_VALUE if each is None else each, out)
    out.say(judged.verdict())
    out.say(f"Judged by {said}.")
    figures = edge_figures(judged)
    if each is not None:
        figures["exchanged_bytes"] = judged.metrics.exchanged_bytes(each)
    out.result({**figures, "judged_by": said})
    return 0


def _judge(
    options: EdgeEvaluationOptions, plan: EdgePlan | None, asked: EdgeOptions, out: Output
) -> tuple[EdgePlan, bool]:
    """Evaluate the blocks; return them as a plan, and whether the plan's own contract was used."""
    from evener.planning.split import evaluate_edges

    reading = read_edges_as(options.graph, asked, out)
    platform, epsilon = _platform(options, plan, out), _epsilon(options, plan)
    partition = _partition(options.part, reading.edges.m, platform.k)
    contract = _own_contract(options, plan, reading.inputs)
    judged = evaluate_edges(reading, partition, platform, contract, epsilon=epsilon)
    return judged, contract is not None


def _judge_of_file(
    options: EdgeEvaluationOptions, plan: EdgePlan | None, asked: EdgeOptions, out: Output
) -> tuple[EdgePlan, bool]:
    """Like `_judge`, for a file that is read twice in pieces, and is never wholly in memory."""
    from evener.io.edges import refuse_of_vertices
    from evener.planning.split_file import SurveyedFile, evaluate_file

    if asked.weighted:
        raise UsageError("--weighted does not work with --as file")
    refuse_of_vertices(asked.reading.given())
    with out.progress(f"Reading {options.graph}") as progress:
        progress("edges", 0.1)
        file = SurveyedFile.at(options.graph)
        platform, epsilon = _platform(options, plan, out), _epsilon(options, plan)
        partition = _partition(options.part, file.survey.m, platform.k)
        contract = _own_contract(options, plan, file.inputs)
        progress("copies", 0.5)
        judged = evaluate_file(file, partition, platform, contract, epsilon=epsilon)
    for note in judged.notes:
        out.note(f"note: {note}")
    return judged, contract is not None


def _platform(options: EdgeEvaluationOptions, plan: EdgePlan | None, out: Output) -> Platform:
    if plan is not None and not options.machine.given:
        return plan.platform
    return machine_of(options.machine, out)


def _own_contract(
    options: EdgeEvaluationOptions, plan: EdgePlan | None, inputs: Mapping[str, str]
) -> Contract | None:
    """Return the plan's contract if its own graph, machine and epsilon are used; else None."""
    if plan is None or options.epsilon is not None or options.machine.given:
        return None
    return plan.contract if is_its_input(plan, inputs) else None


def _partition(file: str, m: int, k: int) -> EdgePartition:
    """Return the partition of m edges stored in a file of any tool."""
    from evener.io.plans.edge_plan import read_edge_part
    from evener.plans.edge_partition import EdgePartition

    try:
        return EdgePartition.of(read_edge_part(file, m), k)
    except InputError as error:
        error.file = error.file or file
        raise


def _epsilon(options: EdgeEvaluationOptions, plan: EdgePlan | None) -> float:
    if options.epsilon is not None:
        return options.epsilon
    return EPSILON if plan is None else float(plan.options.get("epsilon", EPSILON))


def _print(judged: EdgePlan, bytes_per_value: float, out: Output) -> None:
    """Print the figures of all blocks together, then of each block."""
    from evener.wording import memory

    metrics, relative = judged.metrics, judged.relative_loads
    rows = [
        ["copies of vertices", f"{metrics.copies:,}"],
        ["replication", f"{metrics.replication:.3f}"],
        ["exchanged in an iteration", memory(metrics.exchanged_bytes(bytes_per_value))],
        ["most vertices in a block", f"{metrics.most_vertices:,}"],
        ["most memory of a block", memory(float(metrics.bytes.max()))],
        ["smallest block / target", f"{relative.min():.3f}"],
        ["largest block / target", f"{relative.max():.3f}"],
        ["blocks within contract", f"{int(judged.holds.sum()):,} of {judged.platform.k:,}"],
    ]
    out.table(["measure", "value"], rows)
    out.say("")
    print_blocks(judged, out)


@dataclass(frozen=True)
class EdgeComparisonOptions:
    """Options for comparing edge partitions.

    methods: None means all. report: the page's file, or None.
    """

    graph: str
    machine: MachineOptions
    methods: list[str] | None
    preset: str
    epsilon: float
    seed: int
    report: str | None
    edges: EdgeOptions = field(default_factory=EdgeOptions)

    def recorded(self) -> dict[str, Any]:
        """Return the options of all methods, for the page."""
        shown = {"preset": self.preset, "epsilon": self.epsilon, "seed": self.seed}
        reading = self.edges.reading.recorded() | {"as": self.edges.of}
        return shown | {"weighted": self.edges.weighted, "reading": reading}


def comparison_options_from(
    args: argparse.Namespace, given: Mapping[str, str]
) -> EdgeComparisonOptions | None:
    """Return the options if --edges is given, else None.

    Raises UsageError for options that apply to blocks of vertices only.
    """
    if not args.edges:
        return None
    _refuse_others(given, "bytes_per_value")
    methods = [name.strip() for name in args.tools.split(",")] if args.tools else None
    machine = options_from(args, MachineOptions)
    return options_from(args, EdgeComparisonOptions, machine=machine, methods=methods)


def compare(options: EdgeComparisonOptions, out: Output) -> int:
    """Run every method with the same targets and limits; exit 0 even if a method fails."""
    from evener.planning.compare import compare_edges

    if options.report is not None:
        inputs = [options.graph, options.machine.machine, options.edges.reading.coords]
        refuse_outputs([options.report], inputs)
    platform = machine_of(options.machine, out)
    reading = read_edges_as(options.graph, options.edges, out)
    with out.progress("Comparing") as progress:
        results = compare_edges(
            reading,
            platform,
            options.methods,
            preset=options.preset,
            epsilon=options.epsilon,
            seed=options.seed,
            progress=progress,
        )
    columns = ("method", "copies", "replication", "(load/target)", "most vertices", "exchanged",
               "holds", "CPU s")  # fmt: skip
    out.table(columns, [_row(one) for one in results if one.plan is not None])
    for one in results:
        if one.note:
            out.say(f"{one.method}: {one.note}")
    if options.report is not None:
        from evener.reporting.edge_report import write_edge_comparison

        write_edge_comparison(
            options.report, results, reading, platform, options=options.recorded()
        )
        out.say(f"Written: {options.report}")
    out.result({"methods": [_json(one) for one in results]})
    return 0


def _row(result: EdgeComparison) -> list[str]:
    from evener.wording import memory

    assert result.plan is not None
    metrics, relative = result.plan.metrics, result.plan.relative_loads
    return [
        result.method,
        f"{metrics.copies:,}",
        f"{metrics.replication:.3f}",
        f"{relative.min():.3f} to {relative.max():.3f}",
        f"{metrics.most_vertices:,}",
        memory(metrics.exchanged_bytes()),
        "yes" if result.plan.holds.all() else "no",
        f"{result.cpu_seconds:.2f}",
    ]


def _json(result: EdgeComparison) -> dict[str, Any]:
    figures = {} if result.plan is None else edge_figures(result.plan)
    return {
        "method": result.method,
        **figures,
        "cpu_seconds": result.cpu_seconds,
        "note": result.note,
    }


Chosen = TypeVar("Chosen")


def replay(file: PlanFile, out: Output) -> int:
    """Make an edge plan again; exit 3 if the input differs, 5 if only the result differs."""
    from evener.io.plans.edge_plan import edge_manifest, read_edge_plan

    source = file.needed_source()
    old = read_edge_plan(file.plan)
    with out.progress("Splitting") as progress:
        progress(str(old.options.get("method", "")), 0.1)
        new = _made_again(old, file, source, out)
    same_input = is_its_input(old, new.inputs)
    parts = old.partition.part, new.partition.part
    found = differences((old, new), parts, "edges", "in another block", edge_manifest)
    return say_replayed(file.plan, source, found, out, is_its_input=same_input)


def export(file: PlanFile, options: ExportOptions, out: Output) -> int:
    """Write the block of each edge in the requested format; with the graph also its ends."""
    from evener.io.plans.edge_exports import LISTS, EdgeEnds, write_edge_part
    from evener.io.plans.edge_plan import read_edge_plan

    output = options.needed_output(file, is_folder=options.to == LISTS)
    plan = read_edge_plan(file.plan)
    ends = None
    if file.source is not None:
        reading = _checked_again(plan, file, file.source, out)
        ends = EdgeEnds(reading.ends, reading.edges.weights)
    written = write_edge_part(output, plan, options.to, ends=ends)
    out.say(f"Written: {output}")
    out.result(
        {"written": output, "files": written, "format": options.to, "edges": plan.partition.m}
    )
    return 0


def report(file: PlanFile, output: str, out: Output) -> int:
    """Write the page of an edge plan; if the graph is given, with charts of copied vertices."""
    from evener.io.plans.edge_plan import read_edge_plan
    from evener.reporting.edge_report import write_edge_report

    plan = read_edge_plan(file.plan)
    reading = None
    if file.source is not None:
        reading = _checked_again(plan, file, file.source, out)
    with out.progress("Drawing the report") as progress:
        progress("report", 0.1)
        write_edge_report(output, plan, None if reading is None else reading.edges)
    out.say(plan.verdict())
    out.say(f"Written: {output}")
    if reading is None:
        out.note("note: figures are not recounted, because no graph is given")
    out.result({"verdict": plan.verdict(), "written": output, "picture": reading is not None})
    return 0


def _read_again(plan: EdgePlan, file: PlanFile, source: str, out: Output) -> EdgeReading:
    how = edge_options_of(plan, file.reading, source, file.plan)
    return read_edges_as(source, how, out)


def _checked_again(plan: EdgePlan, file: PlanFile, source: str, out: Output) -> EdgeReading:
    """Return the plan's edges. Raises InputError for another file, or if the plan is wrong."""
    from evener.planning.split import refuse_forged_edges

    reading = _read_again(plan, file, source, out)
    refuse_other_input(plan, reading.inputs, source)
    refuse_forged_edges(plan, reading, file.plan)
    return reading


def _made_again(plan: EdgePlan, file: PlanFile, source: str, out: Output) -> EdgePlan:
    """Return the plan made again with the options of `plan`, from a whole file or in pieces."""
    from evener.planning.split import SplitOptions, split
    from evener.planning.split_file import StreamOptions, split_file

    if plan.options.get("stream"):
        streamed = _options_in(plan, StreamOptions, file.plan)
        return split_file(source, plan.platform, streamed)
    how = _options_in(plan, SplitOptions, file.plan)
    return split(_read_again(plan, file, source, out), plan.platform, how)


def _options_in(plan: EdgePlan, kind: type[Chosen], file: str) -> Chosen:
    """Return the options of the plan. Raises InputError if they are invalid."""
    chosen: dict[str, Any] = {}
    for one in fields(kind):  # type: ignore[arg-type] # SplitOptions or StreamOptions
        value = plan.options.get(one.name, one.default)
        if isinstance(one.default, float) and type(value) is int:
            value = float(value)
        known = int if one.default is None else type(one.default)
        if value is not None and type(value) is not known:
            raise InputError(f"holds an invalid option: {one.name}", file=file)
        chosen[one.name] = value
    try:
        return kind(**chosen)
    except (TypeError, UsageError) as error:
        raise InputError(f"holds invalid options: {error}", file=file) from error

"""Files that `evener run` writes about a run: a page, speed samples, a trace; and its advice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evener.cli.graph_options import recorded_reading
from evener.cli.run_options import RunOptions
from evener.errors import UsageError

if TYPE_CHECKING:
    from evener.cli.divisions import Division
    from evener.graphs.directed import DirectedGraph
    from evener.graphs.graph import Graph
    from evener.planning.breakdown import Breakdown
    from evener.plans.edge_plan import EdgePlan
    from evener.plans.plan import Plan
    from evener.platforms.platform import Platform
    from evener.reporting.runs import RunAdvice
    from evener.running.engine.program import Solver, VertexProgram
    from evener.running.program_run import ProgramRun
    from evener.running.slicing import RankParts

PLAYED = "Threads of this computer stand in for devices that it does not have"
SAMPLES = "run.samples"  # default name of a file of samples in a suggested command


def records_asked(options: RunOptions) -> list[str]:
    """Return the files to write. Raises UsageError if the run cannot provide their content."""
    asked = [one for one in (options.report, options.samples, options.trace) if one is not None]
    if options.samples is not None and options.emulate:
        raise UsageError("--samples does not work with --emulate, whose speeds are given")
    if options.samples is not None and options.plan is None:
        raise UsageError(
            "--samples needs a plan, whose loads have the units of the samples",
            hint="Plan first: evener plan GRAPH --machine FILE --kernel pagerank -o X.plan",
        )
    return asked


def stood_in_for(options: RunOptions, platform: Platform) -> list[str]:
    """Return the devices that threads of this computer replace: GPUs, and other hosts' devices.

    Only for a run in one process without --devices; under MPI each process is on its device.
    """
    from evener.integrations.launching.placing import is_here

    if options.devices is not None or options.emulate:
        return []
    return [
        one.name
        for one in platform.devices
        if one.kind == "cuda" or one.gpu is not None or not is_here(one.node or "localhost")
    ]


def write_records(
    options: RunOptions,
    program: VertexProgram | Solver,
    graph: Graph | DirectedGraph | RankParts,
    division: Division,
    run: ProgramRun,
    played: Sequence[str],
) -> RunAdvice:
    """Write page, samples and trace if requested; return advice on what would make the run faster.

    run: on an emulated machine, EmulatedMachineRun.recorded. played: see
    `stood_in_for`.
    """
    from evener.io.machines.speeds import write_speeds
    from evener.reporting.runs import RunAdvice, advice_of, machine_names, write_run
    from evener.running.records import samples_of, trace_of, write_trace
    from evener.wording import ranges

    platform, plan = division.platform, division.plan
    if options.trace is not None:
        write_trace(options.trace, trace_of(run, platform.names, machine_names(platform)))
    recent = run.since_last_move()
    breakdown = _breakdown(graph, division, run, program)
    of = plan if division.edges is None else division.edges.plan
    if options.samples is not None and of is not None:
        write_speeds(options.samples, samples_of(recent, of, breakdown.loads))
    commands = _commands(options, plan)
    if division.edges is not None:
        commands = edge_commands(options, division.edges.plan)
    if run.is_emulated:  # whose speeds are of arcs, not of the plan's units
        commands.pop("loads", None)
    advice = advice_of(breakdown, platform.names, commands)
    if played:
        advice = RunAdvice(f"{PLAYED}: these seconds do not describe {ranges(played)}", "")
    if options.samples is None and f"--speeds {SAMPLES}" in advice.command:
        written = f"{advice.sentence}; this run writes these speeds if given --samples {SAMPLES}"
        advice = advice._replace(sentence=written)
    if options.report is not None:
        title = f"{program.name} on {Path(options.graph).name}, {platform.k:,} devices"
        write_run(options.report, run, platform, breakdown, advice, title)
    return advice


def _breakdown(
    graph: Graph | DirectedGraph | RankParts,
    division: Division,
    run: ProgramRun,
    program: VertexProgram | Solver,
) -> Breakdown:
    """Return how time was spent in a superstep, since vertices last changed device."""
    from evener.planning.breakdown import (
        breakdown_of,
        divided_anew,
        divided_by,
        divided_into,
        edge_breakdown_of,
    )
    from evener.plans.partition import Partition
    from evener.running.slicing import RankParts

    platform, plan, edges = division.platform, division.plan, division.edges
    if isinstance(graph, RankParts):  # then the plan's vertices have not moved
        assert plan is not None
        divided = divided_by(plan)
    elif edges is not None:
        n_arcs = graph.arcs_out().adjncy.size
        return edge_breakdown_of(run, edges.plan, edges.copies, program, n_arcs)
    elif plan is None:
        divided = divided_into(graph, division.partition, platform)
    elif run.part is None:
        divided = divided_by(plan)
    else:
        divided = divided_anew(plan, graph, Partition(run.part, platform.k))
    return breakdown_of(run.since_last_move(), divided, graph, program)


def _commands(options: RunOptions, plan: Plan | None) -> dict[str, list[str]]:
    """Return, for each possible bottleneck of a run, the commands that may help.

    Empty without a plan file.
    """
    if options.plan is None or plan is None:
        return {}
    planning = ["evener", "plan", options.graph, "--machine", options.plan]
    to = [*_reading(options, plan), "-o", str(Path(options.plan).with_suffix(".again.plan"))]
    samples = ["--speeds", options.samples or SAMPLES]
    asking = ["evener", "advise", options.graph, "--machine", options.plan]
    return {
        "units": [*planning, "--kernel", "pagerank", *to],
        "loads": [*planning, *samples, *_workload(plan), *to],
        "exchange": [*asking, *_workload(plan), *_reading(options, plan)],
    }


def edge_commands(options: RunOptions, plan: EdgePlan) -> dict[str, list[str]]:
    """Return, for each possible bottleneck of a run, commands that may help with an edge plan."""
    assert options.plan is not None
    words = ["evener", "split", options.graph, "--machine", options.plan]
    words += ["--speeds", options.samples or SAMPLES]
    words += _splitting(plan)
    again = str(Path(options.plan).with_suffix(".again.plan"))
    return {"loads": [*words, *_reading(options, plan), "-o", again]}


def _splitting(plan: EdgePlan) -> list[str]:
    """Return the options of `evener split` that made the plan."""
    streams = bool(plan.options.get("stream"))
    words = ["--stream"] if streams else [] if plan.of == "graph" else ["--as", plan.of]
    words += ["--weighted"] if plan.options.get("weighted") else []
    usual = {"method": "stream" if streams else "spac", "preset": "default", "epsilon": 0.03,
             "seed": 7, "order": "auto", "buffer": None, "memory": None}  # fmt: skip
    for name, default in usual.items():
        value = plan.options.get(name, default)
        if value != default:
            said = f"{value:.0f}" if name == "memory" else str(value)  # [B]
            words += [f"--{name}", said]
    return words


def _workload(plan: Plan) -> list[str]:
    """Return the options for the plan's workload, which defines the units of its loads."""
    from evener.plans.workload import WEIGHTS, WORKLOADS

    own = plan.workload
    known = WORKLOADS.get(own.name, WEIGHTS)
    words = ["--kernel", known.name] if known is not WEIGHTS else []
    if own.bytes_per_value != known.bytes_per_value:
        words += ["--bytes-per-value", f"{own.bytes_per_value:g}"]
    if own.of_faces != known.of_faces:
        words += ["--exchange", own.exchange]
    if own.overlap != known.overlap:
        words.append("--overlap" if own.overlap else "--no-overlap")
    return words


def _reading(options: RunOptions, plan: Plan | EdgePlan) -> list[str]:
    """Return the options with which the plan's graph was read."""
    words: list[str] = []
    for key, value in (recorded_reading(plan) | options.reading.given()).items():
        if (key, value) == ("couplings", False):
            words.append("--no-couplings")
        elif value is not False and (key, value) not in (("by", "cells"), ("couplings", True)):
            words += [f"--{key.replace('_', '-')}", *([] if value is True else [str(value)])]
    return words

"""`evener evaluate` of a partition of edges: an edge plan, or any tool's file of blocks."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evener.cli.edge_options import (
    KINDS,
    EdgeOptions,
    edge_figures,
    edge_options_of,
    print_blocks,
    read_edges_as,
)
from evener.cli.graph_options import ReadOptions, is_its_input
from evener.cli.judged import OWN
from evener.cli.machines import MachineOptions, machine_of
from evener.cli.options import options_from
from evener.errors import UsageError

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.plans.edge_partition import EdgePartition
    from evener.plans.edge_plan import EdgePlan
    from evener.plans.partition import Contract
    from evener.platforms.platform import Platform

EPSILON = 0.03
ORDERS = (*KINDS, "file")  # of the blocks in a partition file


@dataclass(frozen=True)
class EdgeEvaluationOptions:
    """What is evaluated, on which machine, by what terms; None and "": not given.

    plan: the edge plan whose machine, contract and reading options count, with its file.
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


def edge_evaluation_options_from(args: argparse.Namespace) -> EdgeEvaluationOptions | None:
    """Return the options where edges are divided; None where vertices are.

    Edges are where --edges says so, or PART or the plan of --as is an edge plan.
    """
    from evener.io.plans.edge_plan import is_edge_plan

    named = args.plan if args.plan and args.plan not in ORDERS else None
    plan = next((one for one in (named, args.part) if one and is_edge_plan(one)), "")
    if not args.edges and not plan:
        return None
    if named and plan != named:
        raise UsageError(
            f"--as: {named} is no edge plan, and no kind of edges: {', '.join(ORDERS)}"
        )
    of = args.plan if args.plan in ORDERS else ""
    return options_from(args, EdgeEvaluationOptions, plan=plan, of=of)


def evaluate_edge_partition(options: EdgeEvaluationOptions, out: Output) -> int:
    """Read both, judge, print; the exit code does not depend on whether the contract holds."""
    from evener.io.plans.edge_plan import read_edge_plan
    from evener.plans.edge_partition import BYTES_PER_VALUE

    plan = read_edge_plan(options.plan) if options.plan else None
    asked = EdgeOptions(options.of or "graph", options.weighted, options.reading)
    if plan is not None:
        asked = edge_options_of(plan, options.reading, options.graph, options.plan)
    judge = _judge_of_file if asked.of == "file" else _judge
    judged, own = judge(options, plan, asked, out)
    said = OWN if own else f"sizes of least time, within {_epsilon(options, plan):.3g} of each"
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
    """Return the blocks with their figures, and whether the plan's own contract judges them."""
    from evener.planning.evaluate_edges import evaluate_edges

    reading = read_edges_as(options.graph, asked, out)
    platform, epsilon = _platform(options, plan, out), _epsilon(options, plan)
    partition = _partition(options.part, reading.edges.m, platform.k)
    contract = _own_contract(options, plan, reading.inputs)
    judged = evaluate_edges(reading, partition, platform, contract, epsilon=epsilon)
    return judged, contract is not None


def _judge_of_file(
    options: EdgeEvaluationOptions, plan: EdgePlan | None, asked: EdgeOptions, out: Output
) -> tuple[EdgePlan, bool]:
    """Return what `_judge` does, of a file that is read in pieces, twice, not into memory."""
    from evener.planning.split_file import SurveyedFile, evaluate_file

    if asked.weighted:
        raise UsageError("--weighted does not go with edges in the order of their file")
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
    """Return the plan's contract where its own file is judged by its own terms."""
    if plan is None or options.epsilon is not None or options.machine.given:
        return None
    return plan.contract if is_its_input(plan, inputs) else None


def _partition(file: str, m: int, k: int) -> EdgePartition:
    """Return the blocks of m edges that a file of any tool holds."""
    from evener.errors import InputError
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
    """Print the figures of all blocks together, then those of each."""
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
        ["contracts kept", f"{int(judged.holds.sum()):,} of {judged.platform.k:,}"],
    ]
    out.table(["measure", "value"], rows)
    out.say("")
    print_blocks(judged, out)

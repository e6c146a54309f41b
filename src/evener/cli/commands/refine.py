"""`evener refine`: improve a partition from any tool; never increases the chosen objective."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evener.cli.graph_options import (
    ReadOptions,
    add_reading_options,
    graph_to_divide,
    read_as,
    recorded_options,
)
from evener.cli.judged import (
    WorkloadOptions,
    add_judging_options,
    evaluation_to_dict,
    figures_of,
    partition_in,
    print_time_remarks,
)
from evener.cli.kinds.vertices import (
    EPSILON,
    AskedTerms,
    JudgingTerms,
    judging_devices,
    judging_terms,
)
from evener.cli.machines import MachineOptions, add_machine_options
from evener.cli.options import options_from
from evener.cli.plan_options import add_effort_options
from evener.cli.values import refuse_outputs
from evener.errors import UsageError

if TYPE_CHECKING:
    from evener.arrays import BoolArray
    from evener.cli.output import Output
    from evener.graphs.graph import Graph
    from evener.partitioning.enforce import Enforced
    from evener.plans.partition import Partition
    from evener.plans.plan import Evaluation
    from evener.plans.workload import Workload
    from evener.platforms.platform import Platform

PLAIN = ("metis", "scotch", "npy", "csv", "json")  # formats that need no mesh


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("graph", metavar="GRAPH", help="a mesh, matrix or graph file")
    parser.add_argument(
        "part", metavar="PART", help="a partition file: METIS, Scotch, npy, csv, json, or a plan"
    )
    parser.add_argument(
        "--as", dest="plan", metavar="X.plan",
        help="use this plan's machine, kernel, contract and reading options",
    )  # fmt: skip
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the file to write")
    parser.add_argument("--to", choices=PLAIN, default="metis", help="format (default metis)")
    add_machine_options(parser)
    parser.add_argument(
        "--objective", choices=("cut", "total_volume", "max_volume"), default="cut",
        help="what to minimise within the contract (default cut); other figures, such as "
        "predicted seconds, may get worse",
    )  # fmt: skip
    parser.add_argument(
        "--fixed", metavar="FILE",
        help="file of vertices that must keep their block: for each vertex 1 (keeps it) or 0; one "
             "number a line, a column of a table (FILE:COLUMN) or .npy",
    )  # fmt: skip
    add_effort_options(parser)
    add_judging_options(parser)
    add_reading_options(parser)
    parser.set_defaults(epsilon=None, by=None)  # None: as the plan has them


def run(args: argparse.Namespace, out: Output) -> int:
    """Repair, refine and write the partition; print its figures before and after."""
    from evener.io.plans.partitions import write_part
    from evener.io.weights import find_flags
    from evener.planning.evaluate import evaluate

    _refuse_plan(args.output, args.to)
    refuse_outputs(
        [args.output], [args.graph, args.part, args.machine, args.coords, args.fixed, args.plan]
    )
    asked = AskedTerms(args.epsilon, args.shares)
    platform, promise = judging_devices(
        options_from(args, MachineOptions), args.plan, args.part, out
    )
    workload = options_from(args, WorkloadOptions).workload(promise.workload if promise else None)
    recorded = recorded_options(promise.reading if promise else {}, args.plan or args.part)
    reading = read_as(args.graph, recorded, options_from(args, ReadOptions), out)
    graph = graph_to_divide(reading, out)
    workload = workload.settled(reading.exchange)
    given = partition_in(args.part, graph, platform.k)
    if workload.of_faces and args.objective != "cut":
        raise UsageError(
            f"--objective {args.objective} supports one value per vertex only, not per face",
            hint="Choose --objective cut, which counts faces, or --exchange vertices.",
        )
    fixed = None if args.fixed is None else find_flags(args.fixed, graph.n)
    terms = judging_terms(asked, promise, reading, platform, workload)
    with out.progress("Refining") as progress:
        progress("refining", 0.1)
        kept, best = _refined(
            (graph, workload),
            given,
            terms,
            options_from(args, RefineEffort, fixed=fixed),
            platform.names,
        )
    before, after = (
        evaluate(graph, partition, platform, terms.contract, workload=workload)
        for partition in (given, best)
    )
    write_part(args.output, best.part, args.to, graph=graph, devices=platform.names)
    _print(before, after, platform, out)
    out.say(f"Judged by {terms.source}.")
    if kept.moved:
        out.say(f"Before refinement, {kept.moved:,} vertices moved to meet every contract.")
    out.say(f"Written: {args.output}")
    moved = int((best.part != given.part).sum())
    out.result({"objective": args.objective, "moved": moved, "repaired": kept.moved,
                "judged_by": terms.source, "written": args.output,
                "before": evaluation_to_dict(before, platform),
                "after": evaluation_to_dict(after, platform)})  # fmt: skip
    return 0


def _refuse_plan(output: str, to: str) -> None:
    """Raise UsageError if the output is named like a plan: other commands would read it as one."""
    if output.lower().endswith(".plan"):
        raise UsageError(
            f"{output} would not be a plan: refine writes a partition in the format {to}",
            hint="Name it X.part, for example. `evener evaluate GRAPH X.part --as OLD.plan` "
            "evaluates it with the machine and contract of OLD.plan.",
        )


@dataclass(frozen=True)
class RefineEffort:
    """What to minimise, and how: arguments of `evener.refine`.

    fixed (n,): vertices that must stay in their blocks.
    """

    objective: str
    preset: str
    seed: int
    threads: int
    fixed: BoolArray | None


def _refined(
    divided: tuple[Graph, Workload],
    given: Partition,
    terms: JudgingTerms,
    effort: RefineEffort,
    names: Sequence[str],
) -> tuple[Enforced, Partition]:
    """Return the partition after repair, and after refinement.

    divided: the graph as it was read, and the workload. If the contract is for seconds, it limits
    memory only; each block then keeps about its work.
    """
    from evener.partitioning.enforce import Enforced, enforce
    from evener.partitioning.refine import own_contract, refine, scored

    graph, workload = divided
    weighted, contract = workload.weighted(graph), terms.contract
    by_seconds = contract.may_be_unused
    repairing = graph if by_seconds else weighted
    if by_seconds and scored(graph, given.part, contract, effort.objective).holds:
        kept = Enforced(given, 0, 0.0)  # a repair would give unused devices a vertex
    else:
        kept = enforce(repairing, given, contract, names=list(names), fixed=effort.fixed)
    if by_seconds:
        own = own_contract(weighted, kept.partition, EPSILON)
        contract = replace(own, caps=contract.caps, may_be_unused=True)
    refined = refine(weighted, kept.partition, contract, **vars(effort))
    return kept, refined.partition


def _print(before: Evaluation, after: Evaluation, platform: Platform, out: Output) -> None:
    first, second = figures_of(before, platform), figures_of(after, platform)
    out.table(["measure", "before", "after"], [[name, first[name], second[name]] for name in first])
    print_time_remarks(before, platform, out)

"""`evener refine`: improve a partition from any tool, without making it worse in anything."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from evener.cli.graph_options import add_reading_options, read_workload
from evener.cli.judged import add_judging_options, evaluation_to_dict, workload_of
from evener.cli.machines import add_machine_options, machine_of
from evener.cli.plan_options import add_effort_options

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.graphs.graph import Graph
    from evener.io import Reading
    from evener.partitioning.enforce import Enforced
    from evener.plans.partition import Contract, Partition
    from evener.plans.plan import Evaluation
    from evener.platforms.platform import Platform

PLAIN = ("metis", "scotch", "npy", "csv", "json")  # formats that need no mesh


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("graph", metavar="GRAPH", help="a mesh, matrix or graph file")
    parser.add_argument(
        "part", metavar="PART", help="a partition file: METIS, Scotch, npy, csv, json or a plan"
    )
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="where to write")
    parser.add_argument("--to", choices=PLAIN, default="metis", help="format (default metis)")
    add_machine_options(parser)
    parser.add_argument(
        "--objective", choices=("cut", "total_volume", "max_volume"), default="cut",
        help="what is lowered (default cut)",
    )  # fmt: skip
    add_effort_options(parser, "blocks")
    add_judging_options(parser)
    add_reading_options(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Read both, repair what breaks the contract, refine, write; print before and after."""
    from evener.io.plans.partitions import write_part
    from evener.planning.evaluate import evaluate
    from evener.sizing import contract_for

    platform = machine_of(args, out)
    _refuse_output(args)
    reading = read_workload(args.graph, args, out)
    graph, given = reading.graph, _partition(args.part, reading, platform)
    workload = workload_of(args)
    counted = workload.weighted(graph)
    contract, _ = contract_for(counted, platform, args.epsilon)
    with out.progress("Refining") as progress:
        progress("refining", 0.1)
        kept, best = _refined(counted, given, contract, args, platform)
    before, after = (
        evaluate(graph, partition, platform, contract, workload=workload)
        for partition in (given, best)
    )
    write_part(args.output, best.part, args.to, graph=graph, devices=platform.names)
    _print(before, after, platform, out)
    if kept.moved:
        out.say(f"Before that, {kept.moved:,} vertices moved to keep every contract.")
    out.say(f"Written: {args.output}")
    moved = int((best.part != given.part).sum())
    out.result({"objective": args.objective, "moved": moved, "repaired": kept.moved,
                "written": args.output, "before": evaluation_to_dict(before, platform),
                "after": evaluation_to_dict(after, platform)})  # fmt: skip
    return 0


def _refined(
    graph: Graph, given: Partition, contract: Contract, args: argparse.Namespace,
    platform: Platform,
) -> tuple[Enforced, Partition]:  # fmt: skip
    """Return what the repair did, and the partition refined after it."""
    from evener.partitioning.enforce import enforce
    from evener.partitioning.refine import refine

    kept = enforce(graph, given, contract, names=platform.names)
    refined = refine(
        graph, kept.partition, contract, objective=args.objective, preset=args.preset,
        seed=args.seed, threads=args.threads,
    )  # fmt: skip
    return kept, refined.partition


def _partition(file: str, reading: Reading, platform: Platform) -> Partition:
    from evener.errors import InputError
    from evener.io.plans.partitions import read_part
    from evener.plans.partition import Partition

    graph = reading.graph
    try:
        part = read_part(file, graph.n, labels=graph.labels)
        return Partition(part, platform.k)
    except InputError as error:
        error.file = error.file or file
        raise


def _refuse_output(args: argparse.Namespace) -> None:
    """Refuse, before any work, a name that cannot be written or is an input's."""
    from evener.errors import UsageError
    from evener.files.writing import refuse_unwritable

    output = Path(args.output)
    refuse_unwritable(output)
    for given in (args.graph, args.part, args.machine, args.coords):
        there = given is not None and output.exists() and Path(given).exists()
        if there and output.samefile(given):
            raise UsageError(f"{output} is an input; the output needs a name of its own")


def _print(before: Evaluation, after: Evaluation, platform: Platform, out: Output) -> None:
    from evener.reporting.numbers import signed_percent
    from evener.reporting.tables import time_remarks
    from evener.wording import time_of

    work = float(before.certificate.weights.sum())
    ideal = platform.relative_ideal(work)
    rows = [
        [name, show(before), show(after)]
        for name, show in (
            ("edge cut", lambda judged: f"{judged.edge_cut:,.6g}"),
            ("total volume", lambda judged: f"{judged.total_volume:,}"),
            ("largest volume", lambda judged: f"{judged.max_volume:,}"),
            ("imbalance against targets", lambda judged: signed_percent(judged.imbalance)),
            ("predicted", lambda judged: time_of(judged.prediction.makespan, ideal)),
            ("contracts kept", lambda judged: f"{int(judged.certificate.holds.sum()):,}"),
        )
    ]
    out.table(["measure", "before", "after"], rows)
    for remark in time_remarks(platform, work):
        out.say(remark)

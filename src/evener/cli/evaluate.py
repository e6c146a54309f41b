"""`evener evaluate`: judge a partition from any tool."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from evener.cli.judging import add_judging_options, evaluation_to_dict, fullness, workload_of
from evener.cli.limiting import say_limits
from evener.cli.machines import add_machine_options, machine_of
from evener.cli.reading import add_reading_options, read_workload

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.graphs import Graph
    from evener.partitions import Contract
    from evener.plans import Certificate, Evaluation, Plan
    from evener.platforms import Platform

EPSILON = 0.03


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("graph", metavar="GRAPH", help="a mesh, matrix or graph file")
    parser.add_argument(
        "part", metavar="PART", help="a partition file: METIS, Scotch, npy, csv, json or a plan"
    )
    add_machine_options(parser)
    add_judging_options(parser)
    parser.set_defaults(epsilon=None)  # unless given, a plan's own contract holds
    add_reading_options(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Read both, judge, print; the exit code does not depend on whether the contract holds."""
    from evener.errors import InputError
    from evener.evaluating import evaluate
    from evener.filing.partitions import read_part
    from evener.filing.plans import plan_in
    from evener.partitions import Partition

    platform = machine_of(args, out)
    plan = plan_in(args.part)
    workload = workload_of(args, None if plan is None else plan.workload)
    graph = read_workload(args.graph, args, out).graph
    try:
        part = read_part(args.part, graph.n, labels=graph.labels)
        partition = Partition(part, platform.k)
    except InputError as error:
        error.file = error.file or args.part
        raise
    contract = _contract(args, plan, workload.weighted(graph), platform)
    judged = evaluate(graph, partition, platform, contract, workload=workload)
    _print(judged, platform, out)
    if plan is not None and contract is plan.certificate.contract:
        out.say(
            "The contract is the plan's own, made for seconds: only memory binds, and devices "
            "left out have nothing. --epsilon asks for sizes by speed."
        )
    limits = say_limits(judged, platform, workload, out)
    out.result({**evaluation_to_dict(judged, platform), "limits": limits})
    return 0


def _contract(
    args: argparse.Namespace, plan: Plan | None, graph: Graph, platform: Platform
) -> Contract:
    """Return that of a plan for seconds on the same devices; else, or if asked, by the speeds."""
    from evener.sizing import contract_for

    mine = plan is not None and plan.platform.names == platform.names
    if plan is not None and mine and args.epsilon is None and not args.shares:
        same = plan.platform.memories.tolist() == platform.memories.tolist()
        if plan.is_for_seconds and same:
            return plan.certificate.contract
    shares = args.shares.split(",") if args.shares else []
    epsilon = EPSILON if args.epsilon is None else args.epsilon
    return contract_for(graph, platform, epsilon, shares=shares)[0]


def _by_weight(certificate: Certificate) -> list[list[str]]:
    """Two rows a weight, where there are several."""
    if not certificate.contract.further:
        return []
    return [
        [f"  weight {i}: {what}", f"{value:.3f}"]
        for i, column in enumerate(fullness(certificate).T)
        for what, value in (("smallest / target", column.min()), ("largest / target", column.max()))
    ]


def _print(judged: Evaluation, platform: Platform, out: Output) -> None:
    from evener.reporting.numbers import duration

    certificate, prediction = judged.certificate, judged.prediction
    kept = int(certificate.holds.sum())
    asked = certificate.contract.targets > 0
    smallest = float(fullness(certificate)[asked].min())
    rows = [
        ["edge cut", f"{judged.edge_cut:,.6g}"],
        ["total volume", f"{judged.total_volume:,}"],
        ["largest volume", f"{judged.max_volume:,}"],
        ["boundary vertices", f"{judged.boundary:,}"],
        ["imbalance against targets", f"{judged.imbalance:+.2%}"],
        ["smallest block / target", f"{smallest:.3f}"],
        *_by_weight(certificate),
        ["predicted seconds", duration(prediction.makespan)],
        ["  over the bound", f"{prediction.makespan / prediction.bound:.3f}x"],
        ["  bottleneck", platform.names[prediction.bottleneck]],
        ["contracts kept", f"{kept:,} of {platform.k:,}"],
    ]
    out.table(["measure", "value"], rows)
    broken = [platform.names[b] for b in range(platform.k) if not certificate.holds[b]]
    if broken:
        more = f" and {len(broken) - 8} more" if len(broken) > 8 else ""
        out.say(f"Outside their contract: {', '.join(broken[:8])}{more}")

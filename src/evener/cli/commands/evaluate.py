"""`evener evaluate`: evaluate a partition from any tool."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from evener.cli.edges import EdgeOptions, edge_evaluation_options_from, evaluate_edge_partition
from evener.cli.filters import add_stream_reading, evaluate_stream, stream_evaluation_options_from
from evener.cli.graph_options import (
    ReadOptions,
    add_reading_options,
    graph_to_divide,
    read_as,
    recorded_options,
)
from evener.cli.judged import (
    OWN,
    WorkloadOptions,
    add_judging_options,
    evaluation_to_dict,
    figures_of,
    partition_in,
    print_time_remarks,
    say_bottleneck,
)
from evener.cli.machines import (
    MachineOptions,
    add_machine_options,
    machine_of,
)
from evener.cli.options import add_options, options_from

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.io import Reading
    from evener.io.plans.promises import Promise
    from evener.plans.partition import Contract
    from evener.plans.plan import Certificate, Evaluation
    from evener.plans.workload import Workload
    from evener.platforms.platform import Platform

EPSILON = 0.03


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("graph", metavar="GRAPH", help="a mesh, matrix or graph file")
    parser.add_argument(
        "part",
        metavar="PART",
        help="a partition file: METIS, Scotch, npy, npz, csv, json, OpenFOAM, or a plan",
    )
    parser.add_argument(
        "--as",
        dest="plan",
        metavar="X.plan",
        help="take the machine, kernel, contract and reading options from this plan; with "
        "--edges, also whether the edges are of a graph, arcs, a matrix or a file",
    )
    parser.add_argument(
        "--edges",
        action="store_true",
        help="PART holds a block for each edge, in the order of `evener split` (implied by a plan "
        "of edges)",
    )
    parser.add_argument(
        "--stream",
        action="store_true",
        help="GRAPH is a stream graph, and PART holds the device of each filter, by number or name "
        "(implied by a plan of `evener map`)",
    )
    add_stream_reading(parser)
    add_options(parser, EdgeOptions, ["weighted"])
    add_machine_options(parser)
    add_judging_options(parser)
    add_reading_options(parser)
    parser.set_defaults(epsilon=None, by=None)  # None: as the plan has them


def run(args: argparse.Namespace, out: Output) -> int:
    """Read graph and partition, evaluate, print; the exit code does not depend on the contract."""
    from evener.graphs.joined import split_groups
    from evener.planning.evaluate import evaluate
    from evener.planning.in_memory import describe
    from evener.plans.plan import arcs_remark
    from evener.wording import plural

    filters = stream_evaluation_options_from(args, add_arguments)
    if filters is not None:
        return evaluate_stream(filters, out)
    edges = edge_evaluation_options_from(args)
    if edges is not None:
        return evaluate_edge_partition(edges, out)
    asked = AskedTerms(args.epsilon, args.shares)
    platform, promise = judging_devices(
        options_from(args, MachineOptions), args.plan, args.part, out
    )
    workload = options_from(args, WorkloadOptions).workload(promise.workload if promise else None)
    recorded = recorded_options(promise.reading if promise else {}, args.plan or args.part)
    reading = read_as(args.graph, recorded, options_from(args, ReadOptions), out)
    graph = graph_to_divide(reading, out)
    workload = workload.settled(reading.exchange)
    partition = partition_in(args.part, graph, platform.k)
    terms = judging_terms(asked, promise, reading, platform, workload)
    judged = evaluate(graph, partition, platform, terms.contract, workload=workload)
    _print(judged, platform, out)
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


class AskedTerms(NamedTuple):
    """--epsilon and --constraints; None and "" if they are not given."""

    epsilon: float | None
    shares: str


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
        and PlanOptions(workload=workload).settled(graph, platform).objective == "seconds"
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
    asked = certificate.contract.targets > 0
    ratios = certificate.fullness[asked]
    if certificate.contract.may_be_unused:
        used = certificate.vertices > 0
        smallest = certificate.fullness[asked & used].min(initial=float("inf"))
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


def _print(judged: Evaluation, platform: Platform, out: Output) -> None:
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

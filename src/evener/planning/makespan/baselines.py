"""Baselines: the plan of least cut, and METIS at its sizes; the chosen plan is never slower."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from evener.arrays import BoolArray, FloatArray, Part
from evener.errors import EvenerError, UsageError
from evener.graphs.graph import Graph
from evener.partitioning.registry import Result, partition_with
from evener.partitioning.requests import Request
from evener.partitioning.tools import TOOLS
from evener.planning.makespan.candidates import Candidate, CandidateMaker
from evener.planning.makespan.problem import MakespanProblem, OrderedGraph
from evener.planning.options import PlanOptions
from evener.planning.steps import PlanTerms, divide, enforced, mapped, terms_of
from evener.plans import metrics
from evener.plans.partition import RELATIVE_SLACK, Contract, Partition
from evener.plans.plan import CUT_STAGE, METIS_STAGE, SAME_DEVICES_STAGE
from evener.platforms.platform import Platform, with_only
from evener.sizing.contracts import contract_for_seconds

METIS_TOOLS = {"metis": "METIS k-way", "metis-recursive": "METIS recursive bisection"}
LEAST_CUT = "minimum-cut plan"  # how the candidate is called


@dataclass(frozen=True, eq=False)
class Baselines:
    """The candidates of least cut and of METIS, if they could be made, and how they were made.

    terms: the sizes and contract of both; None if no contract exists for this graph and platform.
    refused: why there is no plan of least cut. made: results of the partitioners. notes: why there
    is no plan of METIS.
    """

    cut: Candidate | None = None
    metis: tuple[Candidate, ...] = ()
    terms: PlanTerms | None = None
    refused: EvenerError | None = None
    made: tuple[Result, ...] = ()
    notes: tuple[str, ...] = ()


def baselines_of(
    maker: CandidateMaker,
    ordered: OrderedGraph,
    given: Graph,
    options: PlanOptions,
    *,
    with_metis: bool = True,
) -> Baselines:
    """Make the plan of least cut and, at the same time in a thread, those of both methods of METIS.

    ordered: the graph of the search; given: the same graph, weighted, in the order of its file,
    which is passed to METIS. METIS's blocks are mapped to devices here; those of least cut are
    mapped at the end of the search, by `mapped_least_cut`.
    """
    graph = maker.problem.weighted
    try:
        terms = terms_of(graph, maker.problem.platform, options)
    except EvenerError as error:
        return Baselines(refused=error)
    cut, refused, made, metis, notes = None, None, [], [], []
    with ThreadPoolExecutor(1) as aside:
        calls = {
            tool: aside.submit(metis_blocks, given, terms, options, tool)
            for tool in (METIS_TOOLS if with_metis else ())
        }
        try:
            made.append(divide(graph, terms, options))
            blocks = enforced(graph, made[-1].part, terms, options).partition
            cut = maker.make(LEAST_CUT, blocks.part, terms.contract.targets, CUT_STAGE)
        except EvenerError as error:
            refused = error
        for tool, call in calls.items():
            try:
                made.append(call.result())
                part = enforced_and_mapped(graph, ordered.ordered(made[-1].part), terms, options)
                one = maker.make(METIS_TOOLS[tool], part, terms.contract.targets, METIS_STAGE)
                metis += [] if one is None else [one]
            except EvenerError as error:
                notes.append(f"without {METIS_TOOLS[tool]}: {error.message}")
    return Baselines(cut, tuple(metis), terms, refused, tuple(made), tuple(notes))


def metis_blocks(graph: Graph, terms: PlanTerms, options: PlanOptions, tool: str) -> Result:
    """Return METIS's blocks at the sizes of `terms`; graph: weighted, tool: one of METIS_TOOLS.

    Raises UsageError if METIS is not installed, ToolError if it fails.
    """
    absent = TOOLS[tool].available()
    if absent is not None:
        raise UsageError(absent)
    request = Request(
        terms.contract.targets, options.epsilon, options.seed, time_limit=options.time_limit
    )
    return partition_with(tool, graph, request)


def metis_on(
    maker: CandidateMaker,
    ordered: OrderedGraph,
    given: Graph,
    used: BoolArray,
    options: PlanOptions,
) -> tuple[list[Candidate], list[Result]]:
    """Return METIS's blocks, by both methods, only on the devices `used` (k,).

    Their sizes are those that are best on these devices if nothing is exchanged, given the devices'
    fixed seconds. Returns nothing for one device; and nothing if all devices are used and none has
    fixed seconds, because the sizes would equal those of `baselines_of`.
    """
    problem, platform, devices = maker.problem, maker.problem.platform, np.flatnonzero(used)
    candidates, made = list[Candidate](), list[Result]()
    as_before = devices.size == platform.k and not problem.costs.fixed.any()
    if devices.size < 2 or as_before:
        return candidates, made
    for tool, name in METIS_TOOLS.items():
        try:
            terms = _for_seconds(problem, with_only(platform, devices.tolist()), options)
            result = metis_blocks(given, terms, options, tool)
            blocks = ordered.ordered(result.part)
            part = enforced_and_mapped(problem.weighted, blocks, terms, options)
        except EvenerError:
            continue  # the notes of `baselines_of` say why METIS makes no blocks
        targets = np.zeros(platform.k)
        targets[devices] = terms.contract.targets
        where = f"{name} on the same devices"
        one = maker.make(where, devices[part].astype(np.int32), targets, SAME_DEVICES_STAGE)
        made.append(result)
        candidates += [] if one is None else [one]
    return candidates, made


def _for_seconds(problem: MakespanProblem, platform: Platform, options: PlanOptions) -> PlanTerms:
    """Return terms for these devices: best sizes without exchange, with tolerance epsilon."""
    terms = terms_of(problem.weighted, platform, options)
    free = contract_for_seconds(problem.graph, platform, problem.workload)
    low, high = (free.targets * (1 + sign * options.epsilon) for sign in (-1, 1))
    contract = Contract(
        free.targets, np.minimum(low, free.high), np.minimum(high, free.high), free.caps
    )
    return replace(terms, contract=contract)


def enforced_and_mapped(graph: Graph, part: Part, terms: PlanTerms, options: PlanOptions) -> Part:
    """Repair blocks (n,) to satisfy their contract, and map them to the best devices."""
    partition = enforced(graph, part, terms, options).partition
    mapping = mapped(graph, partition, terms, options)
    return np.asarray(partition.part if mapping is None else mapping.applied(partition).part)


def mapped_least_cut(
    maker: CandidateMaker, baselines: Baselines, options: PlanOptions, best_seconds: float
) -> Candidate | None:
    """Return the plan of least cut, mapped to devices; None if mapping cannot help.

    Mapping takes longer than computing a lower bound. If the bound shows that no mapping is faster
    than `best_seconds` [s], the seconds of the fastest candidate so far, no mapping is computed.
    """
    problem, terms, known = maker.problem, baselines.terms, baselines.cut
    if terms is None or known is None or not (options.mapping and problem.platform.has_links):
        return None
    if not may_be_mapped_below(best_seconds, problem, known, terms.contract):
        return None
    blocks = Partition(known.part, problem.platform.k)
    mapping = mapped(problem.weighted, blocks, terms, options)
    part = known.part if mapping is None else np.asarray(mapping.applied(blocks).part)
    return maker.make(f"{LEAST_CUT}, mapped", part, terms.contract.targets, CUT_STAGE)


def may_be_mapped_below(
    seconds: float, problem: MakespanProblem, one: Candidate, contract: Contract
) -> bool:
    """Return whether some mapping may take less than `seconds` [s], by a lower bound.

    A necessary condition: a perfect matching of blocks and devices in which each block fits the
    device's contract and takes less than `seconds`, by `least_seconds_on`.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    sooner = least_seconds_on(problem, one, contract) < seconds
    if not sooner.any(axis=1).all():
        return False
    return bool((maximum_bipartite_matching(csr_array(sooner), "column") >= 0).all())


def least_seconds_on(problem: MakespanProblem, one: Candidate, contract: Contract) -> FloatArray:
    """Return a lower bound on each block's seconds on each device [s], at [b, d] (k, k).

    Infinity if the block does not fit. A block's largest message is priced at the cheapest beta of
    the device's links, its second largest at the second cheapest, and so on; alphas likewise.
    """
    k, costs, loads = problem.platform.k, problem.costs, one.loads
    slack = RELATIVE_SLACK * np.maximum(contract.targets, 1e-300)
    fits = (loads[:, None] >= contract.low - slack) & (loads[:, None] <= contract.high + slack)
    np.fill_diagonal(fits, True)
    seconds = np.empty((k, k))
    for model in {id(model): model for model in problem.models}.values():
        own = np.array([other is model for other in problem.models])
        seconds[:, own] = (loads / np.asarray(model.speed(loads)))[:, None]
    quotient, many = one.quotient, metrics.neighbours(one.quotient)
    if not costs.overlap and many.any():
        # Rows of links without that of a device with itself, the cheapest first.
        alpha, per_value = (
            np.sort(cost[~np.eye(k, dtype=bool)].reshape(k, k - 1), axis=1)[:, : many.max()]
            for cost in (costs.alpha, costs.per_value)
        )
        values = np.zeros((k, many.max()))
        values[np.arange(values.shape[1]) < many[:, None]] = quotient.sent + quotient.received
        fixed = np.cumsum(np.pad(alpha, ((0, 0), (1, 0))), axis=1)
        seconds += fixed[:, many].T + -np.sort(-values, axis=1) @ per_value.T
    return np.where(fits, seconds + costs.fixed, np.inf)

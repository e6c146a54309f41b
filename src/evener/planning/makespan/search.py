"""The search for the plan of least predicted seconds; `solve_seconds` runs all steps.

Baselines (METIS and the least cut, at sizes optimal without messages) -> one device, slabs -> slabs
at sizes that allow for their halos -> plans on a coarse graph -> blocks from scratch -> the best
refined by seconds -> the fastest candidate; of equally fast ones, the one that sends least.

Each step returns the candidates that it made; `solve_seconds` collects all candidates and passes
the best of them to later steps. Seconds of all candidates are predicted in the same way, and the
baselines are candidates too, so the chosen plan is never slower than a baseline.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evener.arrays import BoolArray, FloatArray, Part
from evener.errors import NotFoundError
from evener.graphs.graph import Graph
from evener.graphs.joined import joined
from evener.machine_code.clock import cpu_seconds
from evener.partitioning.registry import Result, partition_with
from evener.partitioning.requests import Request
from evener.planning.device_sets.estimate import Estimator
from evener.planning.device_sets.exchange_laws import halo_law_of
from evener.planning.device_sets.set_loads import ExchangeLaw
from evener.planning.device_sets.sets import few_sets, signature
from evener.planning.makespan.baselines import (
    Baselines,
    baselines_of,
    mapped_least_cut,
    metis_on,
)
from evener.planning.makespan.candidates import (
    Candidate,
    CandidateMaker,
    fastest,
    fastest_baselines,
    least_sending,
    stages_of,
)
from evener.planning.makespan.coarse_search import CoarseSearch
from evener.planning.makespan.improvements import DeviceSwaps, moves_clusters, refined
from evener.planning.makespan.problem import EFFORTS, MakespanProblem, SearchEffort, order_vertices
from evener.planning.makespan.size_rounds import SLAB_POWER, SizeRounds, law_through
from evener.planning.makespan.slabs import Slabs
from evener.planning.options import PlanOptions
from evener.planning.steps import Progress, no_progress, notes_on_unused
from evener.plans.plan import CUT_STAGE, METIS_STAGE, SLABS_STAGE, Stage
from evener.platforms.platform import Platform
from evener.sizing.contracts import contract_for_seconds
from evener.sizing.rounding import limits

# Runs on the coarse graph: at least four; more while the machine has at most 512 devices over all
# runs, and the graph 8,192 vertices for each, which bounds the time. Plans with other values of
# these, and of all below, 2026-11: docs/results/README.md, Seconds.
MIN_COARSE_RUNS, DEVICES_OVER_RUNS, VERTICES_PER_RUN = 4, 512, 1 << 13
CLUSTER_RUNS = 24  # the most where the graph is one of clusters, on which a plan costs little
# Coarse plans that are projected to the graph: two at most, within 5 % of the best.
MAX_PROJECTED, PROJECTED_WITHIN = 2, 1.05
# Over the fastest candidate's seconds: slower baselines are not refined; the second where clusters
# of vertices move. One of 117 plans on 13 meshes becomes 13 % faster by it, for 2 % more CPU time
# on average; the least cut of fe_body, 1.5 times as slow as the fastest plan, ends 20 % faster.
BASELINE_NEAR, CLUSTERS_NEAR = 1.05, 1.6


@dataclass(frozen=True, eq=False)
class Solved:
    """The best blocks found, the steps that led there, and notes for the user.

    part (n,): the block of every vertex. room (k,) [units]: maximum load of each device. versions:
    of the tools that made candidates, by name. cpu_seconds [s]: of the whole search.
    """

    best: Candidate
    part: Part
    room: FloatArray
    stages: tuple[Stage, ...]
    versions: dict[str, str]
    notes: tuple[str, ...]
    cpu_seconds: float

    @property
    def seconds_of_all_devices(self) -> float:
        """Seconds of the fastest baseline or slabs that use all devices [s]; inf if none exist."""
        roles = (METIS_STAGE, CUT_STAGE, SLABS_STAGE)
        return min(
            (one.seconds or np.inf for one in self.stages if one.role in roles), default=np.inf
        )


def solve_seconds(
    graph: Graph,
    platform: Platform,
    options: PlanOptions,
    *,
    progress: Progress | None = None,
    with_metis: bool = True,
) -> Solved:
    """Divide `graph` over `platform` so that the last device is done as early as possible.

    Blocks must satisfy memory and the user's limits, but no tolerance; devices may be left without
    a block. with_metis: whether METIS's blocks are tried, too, each in a process of its own. Raises
    InfeasibleError if the graph does not fit. The same arguments give the same
    result, whatever the number of threads.
    """
    if graph.together is not None:
        small = joined(options.workload.weighted(graph))
        options = replace(options, workload=options.workload.without_work())
        solved = solve_seconds(
            small.graph, platform, options, progress=progress, with_metis=with_metis
        )
        return replace(solved, part=small.spread(solved.part))
    began, effort = cpu_seconds(), EFFORTS[options.preset]
    weighted, ordered = options.workload.weighted(graph), order_vertices(graph, options.threads)
    problem = MakespanProblem.of(ordered.graph, platform, options.workload).checked()
    maker, slabs = (
        CandidateMaker(problem, options.connected, progress or no_progress),
        Slabs(problem),
    )

    baselines = baselines_of(maker, ordered, weighted, options, with_metis=with_metis)
    found, results = searched(maker, slabs, baselines, effort, options)
    if baselines.metis:
        used = least_sending(found, options.alike).used
        metis, again = metis_on(maker, ordered, weighted, used, options)
        found, results = [*found, *metis], [*results, *again]

    best, made = least_sending(found, options.alike), (*baselines.made, *results)
    return Solved(
        best,
        ordered.given(best.part),
        problem.room,
        stages_of(found, best, contract_for_seconds(graph, platform, options.workload).targets),
        {one.tool: one.version for one in made},
        (*baselines.notes, *notes_on_unused(problem.platform, ~best.used)),
        # METIS runs in a process of its own, which cpu_seconds() does not count.
        cpu_seconds() - began + sum(o.cpu_seconds for o in made if o.tool.startswith("metis")),
    )


def searched(
    maker: CandidateMaker,
    slabs: Slabs,
    baselines: Baselines,
    effort: SearchEffort,
    options: PlanOptions,
) -> tuple[list[Candidate], list[Result]]:
    """Return all candidates, those of the baselines first, and the results of partitioners.

    If there is no candidate at all, raises the error of the baseline.
    """
    problem = maker.problem
    alone = on_one_device(maker, slabs)
    all_slabs = slabs_of_all(maker, slabs, targets_of(problem, baselines))
    found = present(baselines.cut, *baselines.metis, alone, all_slabs)
    if not found:
        raise baselines.refused or NotFoundError("no partition fits the devices' memory")

    reference = found[0]  # its halos serve to estimate the seconds of sets of devices
    estimator = estimator_by(problem, reference)
    swaps = DeviceSwaps(problem) if effort.swaps and options.mapping else None
    rounds = SizeRounds(maker, estimator.equal_finish, swaps)
    found += slab_rounds(rounds, slabs, all_slabs, estimator, effort, fastest(found).seconds)
    starts = block_starts(estimator, reference, effort, fastest(found).seconds)
    found += coarse_plans(maker, estimator, starts, effort, options)
    scratch, results = scratch_blocks(
        rounds, estimator, starts, effort, options, fastest(found).seconds
    )
    found += scratch
    found += refined_best(maker, found, effort, options)
    found += present(mapped_least_cut(maker, baselines, options, fastest(found).seconds))
    return found, results


def present(*candidates: Candidate | None) -> list[Candidate]:
    """Return the candidates that are not None."""
    return [one for one in candidates if one is not None]


def targets_of(problem: MakespanProblem, baselines: Baselines) -> FloatArray:
    """Return the sizes that would be best if nothing were exchanged (k,) [units]."""
    if baselines.terms is not None:
        return baselines.terms.contract.targets
    speeds = problem.platform.speeds
    return np.asarray(speeds * (problem.load / speeds.sum()))


def on_one_device(maker: CandidateMaker, slabs: Slabs) -> Candidate | None:
    """Return the whole graph on the fastest single device; None for a machine of one device."""
    problem = maker.problem
    if problem.platform.k == 1:
        return None
    loads = np.zeros(problem.platform.k)
    loads[int(np.argmin(problem.seconds_alone))] = problem.load
    return maker.make("one device", slabs.blocks(loads), loads)


def slabs_of_all(maker: CandidateMaker, slabs: Slabs, targets: FloatArray) -> Candidate | None:
    """Return slabs of all devices at these sizes; None for a machine of one device."""
    if maker.problem.platform.k == 1:
        return None
    return maker.make("slabs", slabs.blocks(targets), targets, SLABS_STAGE)


def estimator_by(problem: MakespanProblem, reference: Candidate) -> Estimator:
    """Return an estimator of the seconds of sets of devices, with the halos of the reference."""
    law = halo_law_of(problem.graph, reference.quotient, reference.sizes)
    return Estimator(law, problem.costs, problem.load, problem.room)


@dataclass(frozen=True, eq=False)
class Start:
    """Initial sizes: loads (k,) [units], zero for devices left out; estimated seconds [s]."""

    loads: FloatArray
    seconds: float

    @property
    def count(self) -> int:
        """Number of devices with a load."""
        return int((self.loads > 0).sum())

    @property
    def name(self) -> str:
        """Name of the candidates that begin with these sizes."""
        return "one device" if self.count == 1 else f"{self.count} devices"


def starts_of(
    estimator: Estimator, sets: BoolArray, exchanged: ExchangeLaw, within: float
) -> list[Start]:
    """Return initial sizes, the lowest estimate first; only one of equivalent sets.

    sets: masks (s, k). Devices of a set get no load if their exchange and fixed seconds alone
    would take too long. within [s]: sets with higher estimates are left out.
    """
    found = estimator.equal_finish.loads_of(sets, exchanged, drop=True)
    kinds = estimator.kinds if len(sets) > 1 else np.arange(estimator.k)
    starts: dict[object, Start] = {}
    for i in found.seconds.argsort(kind="stable").tolist():
        if found.seconds[i] <= within:
            own = found.loads[i]
            alike = signature(np.flatnonzero(own > 0), own, kinds)
            starts.setdefault(alike, Start(own, float(found.seconds[i])))
    return list(starts.values())


def slab_rounds(
    rounds: SizeRounds,
    slabs: Slabs,
    known: Candidate | None,
    estimator: Estimator,
    effort: SearchEffort,
    best_seconds: float,
) -> list[Candidate]:
    """Return slabs at sizes that allow for their halos, for the sets of the lowest estimates.

    known: slabs of all devices; if None, no slabs are tried. best_seconds [s]: of the fastest
    candidate so far.
    """
    if known is None:
        return []
    problem, tried = rounds.maker.problem, list[Candidate]()
    k, within = problem.platform.k, effort.hopeful * best_seconds
    few = not effort.smaller_sets and k <= problem.graph.n
    sets = np.ones((1, k), np.bool_) if few else few_sets(estimator)
    starts = starts_of(estimator, sets, slabs.exchanged(known), within)
    if effort.smaller_sets:  # all devices are tried, too, by what their own slabs exchange
        law = law_through(known, problem, SLAB_POWER)
        every = estimator.equal_finish.loads_of(np.ones((1, k), np.bool_), law)
        starts.insert(1, Start(every.loads[0], float(every.seconds[0])))
    for start in starts[: effort.slab_starts]:
        if start.seconds <= effort.hopeful * best_seconds:
            name, turns = f"{start.name}, slabs", effort.slab_rounds
            tried += rounds.run(
                name, start.loads, turns, SLAB_POWER, lambda loads, _: slabs.blocks(loads)
            )
            best_seconds = min([best_seconds, *(one.seconds for one in tried)])
    return tried


def block_starts(
    estimator: Estimator, reference: Candidate, effort: SearchEffort, best_seconds: float
) -> list[Start]:
    """Return initial sizes of blocks, the lowest estimate first; none if no step needs them.

    best_seconds [s]: of the fastest candidate so far.
    """
    if estimator.k == 1 or not (effort.coarse_runs or effort.block_starts):
        return []
    exchanged = estimator.corrected(reference.loads, reference.prediction.communicate)
    return starts_of(estimator, few_sets(estimator), exchanged, effort.hopeful * best_seconds)


def coarse_plans(
    maker: CandidateMaker,
    estimator: Estimator,
    starts: Sequence[Start],
    effort: SearchEffort,
    options: PlanOptions,
) -> list[Candidate]:
    """Return the best plans on a coarse graph, for all devices and for the devices of the starts.

    Empty for a single device, and for fewer than two vertices per device.
    """
    problem, seed = maker.problem, options.seed
    k, n = problem.platform.k, problem.graph.n
    if not effort.coarse_runs or k == 1 or n < 2 * k:
        return []
    search = CoarseSearch(
        problem, estimator.equal_finish, options.threads, contracted=effort.contracted
    )
    sets = [np.ones(k, np.bool_), *(one.loads > 0 for one in starts)]
    wished = CLUSTER_RUNS if effort.contracted else min(effort.coarse_runs, n // VERTICES_PER_RUN)
    runs = max(min(wished, DEVICES_OVER_RUNS // k), MIN_COARSE_RUNS)
    found = search.best(sets, runs, seed)
    good = [one for one in found if one.seconds <= PROJECTED_WITHIN * found[0].seconds]
    return present(
        *(
            maker.make(f"{one.used.sum()} devices, sketched", search.projected(one, seed))
            for one in good[:MAX_PROJECTED]
        )
    )


SCRATCH_EPSILON, SCRATCH_ROUNDS = 0.01, 2  # of blocks from scratch: imbalance, rounds of sizes


def scratch_blocks(
    rounds: SizeRounds,
    estimator: Estimator,
    starts: Sequence[Start],
    effort: SearchEffort,
    options: PlanOptions,
    best_seconds: float,
) -> tuple[list[Candidate], list[Result]]:
    """Make blocks from scratch in rounds of sizes; return candidates and partitioner results.

    best_seconds [s]: of the fastest candidate so far.
    """
    problem, results = rounds.maker.problem, list[Result]()
    graph, tried = problem.weighted, list[Candidate]()

    def make(loads: FloatArray, turn: int) -> Part:
        if (loads > 0).sum() == 1:
            return np.full(graph.n, int(loads.argmax()), np.int32)
        low, high = limits(loads, SCRATCH_EPSILON, problem.max_units, whole=graph.is_unit)
        request = Request(
            loads, SCRATCH_EPSILON, options.seed + turn, options.threads,
            "max_volume", "default", options.time_limit, low, high,
        )  # fmt: skip
        results.append(partition_with(options.tool, graph, request))
        return results[-1].part

    power = estimator.law.exponent
    for start in starts[: effort.block_starts]:
        if 1 < start.count <= graph.n and start.seconds < effort.hopeful * best_seconds:
            tried += rounds.run(start.name, start.loads, SCRATCH_ROUNDS, power, make)
            best_seconds = min([best_seconds, *(one.seconds for one in tried)])
    return tried, results


def refined_best(
    maker: CandidateMaker, found: Sequence[Candidate], effort: SearchEffort, options: PlanOptions
) -> list[Candidate]:
    """Refine the fastest candidate that uses several devices, then a baseline.

    The baseline is the fastest other one that is nearly as fast as the best candidate and sends
    less. After refinement it mostly still sends less; if it is then equally fast, it is the better
    plan; with `alike` at 0, no two times count as equal. Where clusters move, a baseline may be
    much slower, and become the fastest plan.
    """
    several = [one for one in found if one.used.sum() > 1]
    if not several:
        return []
    seed, threads = options.seed, options.threads
    best = fastest(several)
    tried = refined(best, maker, effort, seed, threads)
    first = fastest([*found, *tried])

    def is_near(one: Candidate) -> bool:
        if moves_clusters(one, effort):
            return one.seconds <= CLUSTERS_NEAR * first.seconds
        may_tie = options.alike > 0 and one.sent < first.sent
        return may_tie and one.seconds <= BASELINE_NEAR * first.seconds

    near = [one for one in fastest_baselines(found) if one is not best and is_near(one)]
    if near:
        tried += refined(fastest(near), maker, effort, seed, threads)
    return tried

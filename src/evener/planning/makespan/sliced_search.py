"""The search for least predicted seconds of a graph in slices: `seconds_in_slices` runs all of it.

Search of search.py on the graph of clusters, where one value stands for several values of the whole
graph -> its best plans -> their borders, vertex by vertex -> refinement to lower the makespan ->
the same for slabs cut vertex by vertex, and for the least cut if it is nearly as fast -> repeated
for the fastest plan, with its new borders, while that helps.

Seconds predicted on a graph of borders equal those on the whole graph; on the graph of clusters
they are estimates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray, IntArray, Part
from evener.errors import MemoryShortError
from evener.graphs.graph import Graph
from evener.partitioning.initial.bisection import recursive_bisection
from evener.partitioning.levels.levels import finest
from evener.planning.device_sets.estimate import Estimator
from evener.planning.device_sets.exchange_laws import HaloLaw, line_of
from evener.planning.device_sets.sets import few_sets
from evener.planning.makespan.baselines import LEAST_CUT, Baselines
from evener.planning.makespan.border_search import BorderSearch, BorderTurn, SlicedTask
from evener.planning.makespan.candidates import Candidate, CandidateMaker
from evener.planning.makespan.improvements import MIN_GAIN
from evener.planning.makespan.problem import EFFORTS
from evener.planning.makespan.search import Start, searched, starts_of
from evener.planning.makespan.slabs import Slabs
from evener.plans import metrics
from evener.plans.partition import Partition
from evener.plans.plan import CHOSEN_STAGE, CUT_STAGE, Stage
from evener.sliced.blocks import (
    ACROSS,
    ClusterSizes,
    SmallGraph,
    blocks_of_clusters,
    divided_clusters,
    small_graph_within,
)
from evener.sliced.border_graph import BorderGraph, near_within
from evener.sliced.gathering import of_root
from evener.sliced.memory import KEPT_BESIDE, least_bytes, too_little
from evener.sliced.slabs import SliceSlabs, directions_of

CLUSTERS = 1000  # for each device, on average, unless clusters are larger than `heaviest` then
# At least so many clusters, unless they then have fewer vertices than this. The search goes through
# a coarser graph: between 7,000 clusters and 6,000 coarse vertices too little was refined, and
# plans of triangulated grids took 7 to 15 % longer.
LEAST_CLUSTERS, LEAST_VERTICES = 24_000, 8.0
# Share of the edges inside slices, below which clusters are made across them. Where a slice is one
# layer of a grid (0.67), its clusters are flat, and what they send depends on the direction.
LEAST_INSIDE = 0.8
PROBE_BLOCKS, PROBE_EPSILON = 8, 0.03  # blocks by which the values that a cluster sends are counted
# Ratio of what blocks of clusters of so many vertices send once their borders are refined, to
# before: 0.63 to 0.74 on Delaunay graphs of 2^18 vertices where communication is heavy. At 0.85
# devices with expensive messages get too little, at 0.6 too much. Nearer to 1 for small clusters.
REFINED_VALUES, OF_CLUSTERS = 0.7, 37.0
# Plans of clusters whose borders are refined: their number, seconds over the best's, and the share
# of clusters that are in other blocks. Slabs become faster by more than others.
MOST_STARTS, START_WITHIN, SLABS_WITHIN, LEAST_APART = 2, 1.1, 1.3, 0.02
CUT_WITHIN = 1.1  # times the fastest plan's seconds: a least cut that is slower is not refined
# Slabs are refined if their estimate is at most so many times the fastest plan's seconds.
HOPEFUL = 1.05
MOST_TURNS = 6  # in which the borders of the fastest plan are read
# Times the fastest plan's seconds: a plan that gained in its last turn goes on up to it. One device
# is faster than eight now and then, whose borders are not done yet.
NEXT_WITHIN = 1.1


class SecondsBlocks(NamedTuple):
    """The result: blocks and the plans that were counted.

    part (n_own,) int32: the blocks of this process's vertices. stages: the counted plans, the
    chosen one last. left_out: number of plans skipped because they need more memory than allowed.
    """

    part: Part
    stages: tuple[Stage, ...]
    left_out: int


def seconds_in_slices(task: SlicedTask) -> SecondsBlocks:
    """Return blocks of least predicted seconds, and the same stages on all processes. Collective.

    The chosen plan is no slower than that of least cut. Bytes are ignored. Raises the errors of
    `solve_seconds`; and MemoryShortError, before the search begins, if memory does not suffice to
    refine the borders of the plan of least cut.
    """
    task = _within_memory(task)
    graph, comm = task.graph, task.graph.comm
    wished = min(
        task.sliced.heaviest, graph.n / (CLUSTERS * task.platform.k),
        max(graph.n / LEAST_CLUSTERS, LEAST_VERTICES),
    )  # fmt: skip
    load = float(task.terms.contract.targets.sum())
    clusters = ClusterSizes(wished, ACROSS * wished, graph.n, load / graph.n, task.platform.k)
    small = small_graph_within(graph, clusters, task.sliced, LEAST_INSIDE)
    values = _values_of_clusters(task, small)
    cut = of_root(comm, lambda: divided_clusters(small.graph, task.terms.contract, task.sliced))
    if task.sliced.is_bounded:
        near_within(graph, small, cut, task.platform.k, task.sliced)
    plans = of_root(comm, lambda: _plans_of_clusters(task, small.graph, values, cut))
    search = BorderSearch(task, small)
    best, stages = _refined(search, plans)
    chosen = replace(best.stage, name=f"chosen: {best.stage.name}", role=CHOSEN_STAGE)
    left_out = search.left_out
    return SecondsBlocks(best.blocks[: graph.n_own], (*stages, chosen), left_out)


def _within_memory(task: SlicedTask) -> SlicedTask:
    """Return the task; if memory is limited, its memory estimate then includes the search."""
    if not task.sliced.is_bounded:
        return task
    sizes, memory = task.sliced.sizes_of(task.graph).searched(), task.sliced.memory
    least = least_bytes(sizes, task.platform.k)
    if least > memory:
        raise too_little("the search for least seconds needs", least, memory)
    return replace(task, sliced=replace(task.sliced, sizes=sizes))


def _refined(search: BorderSearch, plans: _Plans) -> tuple[BorderTurn, list[Stage]]:
    """Refine the borders of all plans; return the fastest, and all counted plans in order."""
    task, small, alike = search.task, search.small, search.task.options.alike
    best: BorderTurn | None = None
    going: BorderTurn | None = None  # the fastest that gained in its last turn
    stages = list[Stage]()

    def better(one: BorderTurn) -> BorderTurn:
        nonlocal going
        stages.append(one.stage)
        found = one if best is None or one.better_than(best, alike) else best
        if one.gained > MIN_GAIN and (going is None or one.seconds < going.seconds):
            going = one
        return found

    for name, part in plans.fastest:
        with search.where_memory_suffices():
            best = better(search.turn(name, part[small.of]))
    with search.where_memory_suffices():
        slabs = _slabs(search, best)
        if slabs is not None:
            best = better(search.turn(*slabs))
    least_cut = _least_cut(task, small, plans.cut)
    try:
        cut = search.turn(LEAST_CUT, least_cut, mapped=True, refine=False)
    except MemoryShortError:
        search.left_out += 1
        cut = search.as_it_is(LEAST_CUT, least_cut)
    best = better(cut)
    if cut.seconds <= CUT_WITHIN * best.seconds:
        with search.where_memory_suffices():
            best = better(search.turn(f"{LEAST_CUT}, refined", cut.blocks))
    del cut, least_cut
    for number in range(2, MOST_TURNS + 1):
        if going is None or going.seconds > NEXT_WITHIN * best.seconds:
            break
        name, blocks = going.stage.name.partition(", turn ")[0], going.blocks
        going = None
        try:
            turned = search.turn(f"{name}, turn {number}", blocks)
        except MemoryShortError:  # borders became longer than those that were read before
            break
        best = better(turned)
        del blocks, turned
    return best, stages


def _slabs(search: BorderSearch, best: BorderTurn | None) -> tuple[str, Part] | None:
    """Return name and blocks (n_local,) of slabs that may be faster than the best plan. Collective.

    Slabs are cut vertex by vertex, because the slab of a slow device may be thinner than a cluster.
    None if no slabs can be faster, or if the graph has no coordinates.
    """
    task, graph = search.task, search.task.graph
    if not graph.dimension:
        return None
    targets, coarse = task.terms.contract.targets, search.small.graph
    problem = task.problem(coarse)
    line = line_of(problem.costs, task.platform.speeds, float(graph.n) ** (1 - 1 / graph.dimension))
    slabs, known = _fastest_slabs(search, line, targets)
    start = of_root(graph.comm, lambda: _slab_start(task, coarse, known))
    if start is None or (best is not None and start.seconds > HOPEFUL * best.seconds):
        return None
    return f"{start.name}, slabs", slabs.blocks(line, start.loads)


def _fastest_slabs(
    search: BorderSearch, line: IntArray, loads: FloatArray
) -> tuple[SliceSlabs, Candidate | None]:
    """Choose the direction of the fastest slabs of these loads (k,); return slabs and candidate.

    The candidate is at rank 0, None elsewhere.
    """
    graph = search.task.graph
    extents = of_root(graph.comm, lambda: np.ptp(np.asarray(search.small.graph.coords), axis=0))
    tried = [SliceSlabs.along(graph, one) for one in directions_of(extents)]
    found = [search.counted("slabs", one.blocks(line, loads)) for one in tried]
    seconds = [np.inf if one is None else one.seconds for one in found]
    best = graph.comm.bcast(int(np.argmin(seconds)))
    return tried[best], found[best]


def _slab_start(task: SlicedTask, coarse: Graph, known: Candidate | None) -> Start | None:
    """Return the initial sizes of slabs with the lowest estimate, from slabs of all devices.

    Sets of devices are chosen as in `slab_rounds`. None if no set has several devices.
    """
    assert known is not None  # at rank 0
    problem, n, dimension = task.problem(coarse), task.graph.n, task.graph.dimension
    sent = known.quotient.sent + known.quotient.received
    section = 0.5 * float(np.median(sent)) if sent.size else 0.0
    power = 1 - 1 / max(dimension, 2)
    halos = HaloLaw(n, 2 * section / ((1 - power) * n**power), power, 3 / (1 - power))
    estimator = Estimator(halos, problem.costs, problem.load, problem.room)
    starts = starts_of(estimator, few_sets(estimator), estimator.slabs, np.inf)
    return next((one for one in starts if one.count > 1), None)


def _least_cut(task: SlicedTask, small: SmallGraph, part: Part) -> Part:
    """Return the blocks (n_local,) of least cut, given those of clusters."""
    graph, own, sliced = task.graph, small.of.copy(), task.sliced
    # Memory also holds the clusters and the best blocks. More than one turn lowers no seconds.
    sliced = replace(sliced, memory=sliced.memory - KEPT_BESIDE * graph.n, turns=1)
    blocks_of_clusters(graph, small._replace(of=own), part, task.terms.contract, sliced)
    graph.fill(own)  # blocks are written over clusters
    return own


def _values_of_clusters(task: SlicedTask, small: SmallGraph) -> float:
    """Return the mean number of values that a cluster sends to each block that it touches.

    Counted for a few blocks; the same on all processes.
    """
    graph, coarse = task.graph, small.graph
    if coarse.n == graph.n:
        return 1.0
    blocks = min(PROBE_BLOCKS, coarse.n)
    part = None
    if graph.comm.rank == 0:
        level = finest(coarse, np.arange(coarse.n), None, np.empty(0, np.int32), 1)
        part = recursive_bisection(level, np.ones(blocks), PROBE_EPSILON, 1)
    part = graph.comm.bcast(part)
    assert part is not None
    borders = BorderGraph.read(graph, small, part[small.of], blocks, replace(task.sliced, hops=0))
    values = 1.0
    if borders.graph is not None:
        few = metrics.quotient(coarse, Partition(part, blocks)).sent.sum()
        many = metrics.quotient(borders.graph, Partition(borders.part, blocks)).sent.sum()
        power = min(np.log(graph.n / coarse.n) / np.log(OF_CLUSTERS), 1.0)
        values = REFINED_VALUES**power * float(many / few) if few else 1.0
    return graph.comm.bcast(values)


class _Plans(NamedTuple):
    """Plans of clusters.

    fastest: names and blocks (c,) of clusters; cut (c,): blocks of least cut at sizes by speed.
    """

    fastest: list[tuple[str, Part]]
    cut: Part


def _plans_of_clusters(task: SlicedTask, coarse: Graph, values: float, cut: Part) -> _Plans:
    """Return plans of clusters; a cluster sends `values` values to each block it touches.

    cut (c,): the blocks of least cut.
    """
    problem, terms = task.problem(coarse, values).checked(), task.terms
    options = replace(task.options, tool="evener", threads=1, workload=problem.workload)
    effort = replace(EFFORTS[options.preset], contracted=True, by_clusters=False)
    maker = CandidateMaker(problem)
    first = maker.make(LEAST_CUT, cut, terms.contract.targets, CUT_STAGE)
    found, _ = searched(maker, Slabs(problem), Baselines(first, terms=terms), effort, options)
    starts = _starts(found, slabs=not task.graph.dimension)
    return _Plans([(one.name, one.part) for one in starts], cut)


def _starts(found: Sequence[Candidate], *, slabs: bool) -> list[Candidate]:
    """Return the plans to continue with: the fastest of several devices, of slabs, of one device.

    slabs: whether slabs of clusters, which are inexact, are considered. The fastest plan of one
    device is always included: it is compared with the others only later, by exact seconds.
    """
    ranked = sorted(found, key=lambda one: one.seconds)
    several = [one for one in ranked if one.used.sum() > 1]
    least = several[0].seconds if several else np.inf
    lined = [one for one in several if "slabs" in one.name and one.seconds <= SLABS_WITHIN * least]
    chosen: list[Candidate] = []
    for one in several:
        apart = all((one.part != other.part).mean() > LEAST_APART for other in chosen)
        if apart and one.seconds <= START_WITHIN * least and len(chosen) < MOST_STARTS:
            chosen.append(one)
    if slabs:
        chosen += [one for one in lined[:1] if all(one is not other for other in chosen)]
    return chosen + [one for one in ranked if one.used.sum() == 1][:1]

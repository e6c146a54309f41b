"""advise: find which devices of a machine are worth using for a graph, before a job is submitted.

For users of `evener advise`, who have a graph and a machine file with links; with only speed
models, use evener.sizing.subsets. Sets of devices of every size are estimated, those that may be
best are planned, and each set has a row with its seconds, money and energy.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Unpack

import numpy as np

from evener.arrays import IntVector
from evener.errors import InfeasibleError, InputError, UsageError
from evener.files.steps import LoggedSteps
from evener.graphs.graph import Graph
from evener.graphs.joined import joined
from evener.io.accept import GraphLike, PlatformLike, as_platform, take_graph
from evener.planning.advise.choices import KNEE, AdviceRows, advice_of
from evener.planning.advise.set_plans import Confirmed, SetPlan, SetPlanner, confirm
from evener.planning.device_sets.sets import (
    DeviceSet,
    EstimatedSets,
    search_groups,
    search_sets,
)
from evener.planning.makespan.search import Solved, solve_seconds
from evener.planning.options import PlanKeywords, PlanOptions, options_with
from evener.planning.steps import Progress
from evener.plans.advice import Advice
from evener.platforms.platform import Platform


def advise(
    graph: GraphLike,
    platform: PlatformLike,
    options: PlanOptions | None = None,
    *,
    progress: Progress | None = None,
    **keywords: Unpack[PlanKeywords],
) -> Advice:
    """Return which devices of `platform` are worth using for `graph`, with a row for each set size.

    graph, platform, options, keywords: see `plan`. The same arguments give the same advice. Raises
    UsageError if vertices have several weights, InputError for more than 2,048 devices or a graph
    without vertices, InfeasibleError if no set has the memory for the graph.
    """
    taken, platform = take_graph(graph), as_platform(platform)
    options = options_with(options, keywords).sending(taken.exchange)
    graph, tell = taken.graph, progress or LoggedSteps("advising")
    options.workload.refuse_parts_of_faces(graph)
    _refuse_what_has_no_seconds(graph)
    if graph.together is not None:
        graph = joined(options.workload.weighted(graph)).graph
        options = replace(options, workload=options.workload.without_work())
    tell("estimating sets of devices", 0.0)
    planner, nodes = SetPlanner(graph, platform, options), _nodes_of(platform)
    found = search_sets(planner.estimator)
    whole = search_groups(found, nodes) if nodes is not None else []
    ranked = found.distinct_sets()
    confirmed = confirm(
        ranked,
        planner.plan,
        _always(found, platform.k),
        preset=options.preset,
        vertices=graph.n,
        bounds=_bounds(planner, ranked) if found.exhaustive and ranked else None,
        progress=lambda step, done: tell(step, 0.05 + 0.9 * done),
    )
    tell("planning for all devices", 0.95)
    solved = _solved(graph, platform, options)
    if solved is not None:
        used = np.flatnonzero(solved.best.used)
        confirmed = confirmed.with_plan(SetPlan(used, solved.best.prediction))
    confirmed = _with_knee(found, confirmed, planner)
    every = np.inf if solved is None else solved.seconds_of_all_devices
    rows = AdviceRows(platform, planner.problem.load, confirmed)
    advice = advice_of(rows, found.of_each_size(), whole, nodes, every)
    tell("done", 1.0)
    return advice


def _refuse_what_has_no_seconds(graph: Graph) -> None:
    """Raise UsageError for several weights per vertex, InputError for no vertices."""
    if graph.n_constraints > 1:
        raise UsageError(
            f"seconds are predicted from one weight per vertex, not {graph.n_constraints}",
            hint="--constraint I selects one weight, counted from 0.",
        )
    if graph.n == 0:
        raise InputError("the graph has no vertices, so there is nothing to divide")


def _bounds(planner: SetPlanner, ranked: list[DeviceSet]) -> list[float]:
    """Return, for each set, a lower bound on the seconds of any plan of it [s]."""
    masks = np.array([np.isin(np.arange(planner.platform.k), one.devices) for one in ranked])
    connected = planner.graph.components()[0] == 1
    least = planner.estimator.bounds(masks, connected=connected)
    return [float(one) for one in least]


def _solved(graph: Graph, platform: Platform, options: PlanOptions) -> Solved | None:
    """Return the plan that `plan` makes for the whole machine; advice is never slower than this.

    None for a machine of one device, and if the search finds no initial plan because not all
    devices can have a block; smaller sets may have plans.
    """
    if platform.k == 1:
        return None
    try:
        return solve_seconds(graph, platform, options)
    except InfeasibleError:
        return None


def _always(found: EstimatedSets, k: int) -> list[DeviceSet]:
    """Return the sets planned in any case: all devices, best estimate, best single device."""
    sizes = {one.devices.size: one for one in found.of_each_size()}
    best = min(sizes.values(), key=lambda one: one.seconds, default=None)
    chosen = [one for one in (sizes.get(k), best, sizes.get(1)) if one is not None]
    return list({one.devices.tobytes(): one for one in chosen}.values())


def _with_knee(found: EstimatedSets, confirmed: Confirmed, planner: SetPlanner) -> Confirmed:
    """Add a plan of the smallest set that is likely to be nearly as fast as the best."""
    nearly = KNEE * confirmed.best.seconds
    fewest = min(made.devices.size for made in confirmed.plans if made.seconds <= nearly)
    for one in found.of_each_size():
        if one.devices.size >= fewest:
            break
        if confirmed.corrected(one) <= nearly:
            try:
                return confirmed.with_plan(planner.plan(one), one)
            except InfeasibleError:
                continue
    return confirmed


def _nodes_of(platform: Platform) -> IntVector | None:
    """Return each device's node (k,); None if every node has one device, or one node has all."""
    named = [level.name for level in platform.levels]
    depth = max(named.index("node"), 1) if "node" in named else 1
    places = [
        "/".join((device.at or device.name).split("/")[:depth]) for device in platform.devices
    ]
    _, node = np.unique(places, return_inverse=True)
    count = int(node.max()) + 1
    return None if count in (1, platform.k) else node.astype(np.int64)

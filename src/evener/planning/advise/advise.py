"""Which devices are worth using: a scaling curve of a machine on a graph, before a job is written.

The sets of devices of every size are ranked by estimates, those that matter are planned, and what
each costs in seconds, money and energy stands in one row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Unpack

import numpy as np

from evener.arrays import IntVector
from evener.errors import InfeasibleError, InputError, UsageError
from evener.graphs.graph import Graph
from evener.io.accept import GraphLike, PlatformLike, as_graph, as_platform
from evener.planning.advise.confirming import Confirmed, confirm
from evener.planning.advise.rows import NEARLY, Rows, advice_of
from evener.planning.advise.trials import Trial, Trials
from evener.planning.device_sets.search import search, search_groups
from evener.planning.device_sets.sets import Candidate, Found
from evener.planning.keywords import PlanKeywords, options_with
from evener.planning.makespan.record import Solved
from evener.planning.makespan.search import solve_seconds
from evener.planning.options import PlanOptions
from evener.plans.advice import Advice
from evener.plans.plan import CUT_STAGE, METIS_STAGE, SLABS_STAGE
from evener.platforms.platform import Platform

Progress = Callable[[str, float], None]

OF_ALL = (METIS_STAGE, CUT_STAGE, SLABS_STAGE)  # roles of plans of all devices


def advise(
    graph: GraphLike,
    platform: PlatformLike,
    options: PlanOptions | None = None,
    *,
    progress: Progress | None = None,
    **keywords: Unpack[PlanKeywords],
) -> Advice:
    """Say which devices of `platform` are worth using for `graph`.

    graph, platform, options, keywords: as of `plan`.
    Deterministic: same arguments, same advice. Raises UsageError where vertices have several
    weights, InputError for more than 2,048 devices and a graph of no vertices, InfeasibleError
    where no set holds the graph.
    """
    graph, platform = as_graph(graph), as_platform(platform)
    options = options_with(options, keywords)
    tell = progress or _silent
    if graph.n_constraints > 1:
        raise UsageError(
            f"seconds are predicted from one weight per vertex, not {graph.n_constraints}",
            hint="--constraint I takes one of the weights.",
        )
    if graph.n == 0:
        raise InputError("the graph has no vertices: there is nothing to divide")
    tell("looking at sets of devices", 0.0)
    trials = Trials(
        graph, platform, options.workload, options.preset, options.seed, options.threads
    )
    found = search(trials.estimator)
    nodes = _nodes_of(platform)
    whole = search_groups(found, nodes) if nodes is not None else []
    ranked = found.all_unlike()
    confirmed = confirm(
        ranked,
        trials.plan,
        _always(found, platform.k),
        preset=options.preset,
        vertices=graph.n,
        bounds=_bounds(graph, trials, ranked) if found.exhaustive and ranked else None,
        progress=lambda step, done: tell(step, 0.05 + 0.9 * done),
    )
    tell("planning for all devices", 0.95)
    solved = _solved(graph, platform, options)
    if solved is not None:
        used = np.flatnonzero(solved.best.used)
        confirmed = confirmed.also(Trial(used, solved.best.prediction))
    confirmed = _knee_planned(found, confirmed, trials)
    every = _everyone(solved)
    rows = Rows(platform, float(trials.task.load), confirmed)
    advice = advice_of(rows, found, whole, nodes, every)
    tell("done", 1.0)
    return advice


def _bounds(graph: Graph, trials: Trials, ranked: list[Candidate]) -> list[float]:
    """Seconds that no plan of each set falls below [s]."""
    masks = np.array([np.isin(np.arange(trials.platform.k), one.devices) for one in ranked])
    least = trials.estimator.bounds(masks, connected=graph.components()[0] == 1)
    return [float(one) for one in least]


def _solved(graph: Graph, platform: Platform, options: PlanOptions) -> Solved | None:
    """What `plan` makes of the whole machine, leaving out devices by itself; so never worse.

    None of one device, and where no plan begins with all devices, as each cannot have a part:
    sets of fewer have plans nevertheless.
    """
    if platform.k == 1:
        return None
    try:
        return solve_seconds(graph, platform, options)
    except InfeasibleError:
        return None


def _everyone(solved: Solved | None) -> float:
    """Least seconds of the plans at sizes of least time, which all devices have a part of [s]."""
    stages = () if solved is None else solved.stages
    return min((one.seconds or np.inf for one in stages if one.role in OF_ALL), default=np.inf)


def _always(found: Found, k: int) -> list[Candidate]:
    """All devices, the best estimate, and the best single device: planned whatever is likely."""
    sizes = {one.devices.size: one for one in found.of_each_size()}
    best = min(sizes.values(), key=lambda one: one.seconds, default=None)
    chosen = [one for one in (sizes.get(k), best, sizes.get(1)) if one is not None]
    return list({one.devices.tobytes(): one for one in chosen}.values())


def _knee_planned(found: Found, confirmed: Confirmed, trials: Trials) -> Confirmed:
    """Plan the fewest devices that are likely to be nearly as fast as the best as well."""
    nearly = NEARLY * confirmed.best.seconds
    planned = {trial.devices.size for trial in confirmed.trials if trial.seconds <= nearly}
    fewest = min(planned)
    for one in found.of_each_size():
        if one.devices.size >= fewest:
            break
        if confirmed.corrected(one) <= nearly:
            try:
                return confirmed.with_(one, trials.plan(one))
            except InfeasibleError:
                continue
    return confirmed


def _nodes_of(platform: Platform) -> IntVector | None:
    """(k,) the node of each device; None where devices do not share nodes, or there is one."""
    named = [level.name for level in platform.levels]
    depth = max(named.index("node"), 1) if "node" in named else 1
    places = [
        "/".join((device.at or device.name).split("/")[:depth]) for device in platform.devices
    ]
    _, node = np.unique(places, return_inverse=True)
    count = int(node.max()) + 1
    return None if count in (1, platform.k) else node.astype(np.int64)


def _silent(step: str, fraction: float) -> None:
    """Show no progress."""

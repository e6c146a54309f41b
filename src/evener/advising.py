"""Which devices are worth using: a scaling curve of a machine on a graph, before a job is written.

The sets of devices of every size are ranked by estimates, those that matter are planned, and what
each costs in seconds, money and energy stands in one row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from evener.advice import Advice, Choice
from evener.curved_platforms import least_seconds
from evener.errors import InfeasibleError, InputError, UsageError
from evener.graphs import Graph
from evener.planning_options import PlanOptions
from evener.plans import Prediction
from evener.platforms import Platform
from evener.solving.confirming import Confirmed, confirm
from evener.solving.found import Candidate, Found
from evener.solving.leaving_out import only
from evener.solving.loop import solve_seconds
from evener.solving.record import Solved
from evener.solving.searching import search, search_groups
from evener.solving.trials import Trial, Trials

IntVector = npt.NDArray[np.int64]
Progress = Callable[[str, float], None]

ITERATIONS = 1000  # that money and energy are counted for
HOUR = 3600.0
NEARLY = 1.1  # times the least seconds: the knee is where fewest devices are this near
AT_SPEEDS = (
    "METIS with speeds",
    "plain plan",
    "plain plan, mapped",
    "slabs",
)  # plans of all devices
SAME = 1.002  # times the least seconds: as fast, with fewer devices


def advise(
    graph: Graph,
    platform: Platform,
    options: PlanOptions | None = None,
    *,
    progress: Progress | None = None,
) -> Advice:
    """Say which devices of `platform` are worth using for `graph`.

    Deterministic: same arguments, same advice. Raises UsageError where vertices have several
    weights, InputError for more than 2,048 devices and a graph of no vertices, InfeasibleError
    where no set holds the graph.
    """
    options = options or PlanOptions()
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
    advice = _advice(platform, trials, found, whole, nodes, confirmed, every)
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
    """Least seconds of the plans at the speeds, which all devices have a part of [s]."""
    stages = () if solved is None else solved.stages
    return min((one.seconds or np.inf for one in stages if one.name in AT_SPEEDS), default=np.inf)


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


def _advice(
    platform: Platform,
    trials: Trials,
    found: Found,
    whole: list[Candidate],
    nodes: IntVector | None,
    confirmed: Confirmed,
    every: float,
) -> Advice:
    view = _View(platform, trials, confirmed)
    rows = [view.of_size(one) for one in found.of_each_size()]
    best = view.of_trial(_fewest(confirmed, platform.k, every))
    rows = [_sooner(row, every) if row.devices.size == platform.k else row for row in rows]
    rows = [best if row.devices.size == best.devices.size else row for row in rows]
    # An estimate never looks better than what was planned, or it would have been planned too.
    rows = [row if row.planned else view.no_better(row, best) for row in rows]
    knee = next(row for row in rows if row.seconds <= NEARLY * best.seconds)
    everyone = next((row for row in rows if row.devices.size == platform.k), None)
    by_node = [] if nodes is None else [view.of_nodes(one, nodes) for one in whole]
    return Advice(platform, tuple(rows), tuple(by_node), best, knee, everyone, confirmed.complete)


def _fewest(confirmed: Confirmed, k: int, every: float) -> Trial:
    """The fewest devices as fast as the best but for what nobody could measure, or as all are."""
    full = min((t.seconds for t in confirmed.trials if t.devices.size == k), default=every)
    full = min(full, every)
    enough = min(SAME * confirmed.best.seconds, max(full, confirmed.best.seconds))
    as_fast = [trial for trial in confirmed.trials if trial.seconds <= enough]
    return min(as_fast, key=lambda one: (one.devices.size, one.seconds))


def _sooner(row: Choice, seconds: float) -> Choice:
    """The row of a set that another plan is known for, if that is faster."""
    if not seconds < row.seconds:
        return row
    share = seconds / row.seconds
    return replace(
        row,
        seconds=seconds,
        planned=True,
        speed_up=row.speed_up / share,
        efficiency=row.efficiency / share,
        cost=None if row.cost is None else row.cost * share,
        energy=None if row.energy is None else row.energy * share,
    )


class _View:
    """Turns candidates and trials into rows."""

    def __init__(self, platform: Platform, trials: Trials, confirmed: Confirmed) -> None:
        self._platform, self._confirmed = platform, confirmed
        self._work = float(trials.task.load)
        alone = [one.seconds for one in confirmed.trials if one.devices.size == 1]
        self._single = min(alone, default=np.nan)

    def of_size(self, one: Candidate) -> Choice:
        """The best set planned of this size, or the estimate corrected."""
        same = [t for t in self._confirmed.trials if t.devices.size == one.devices.size]
        return self.of_trial(min(same, key=lambda t: t.seconds)) if same else self.of_estimate(one)

    def of_trial(self, trial: Trial, nodes: int | None = None) -> Choice:
        """A row that was planned."""
        return self._row(trial.devices, trial.seconds, trial.prediction, nodes)

    def of_estimate(self, one: Candidate, nodes: int | None = None) -> Choice:
        """A row that is estimated."""
        return self._row(one.devices, self._confirmed.corrected(one), None, nodes)

    def of_nodes(self, one: Candidate, nodes: IntVector) -> Choice:
        """The row of whole nodes, planned where this set was."""
        count = int(np.unique(nodes[one.devices]).size)
        for trial in self._confirmed.trials:
            if np.array_equal(trial.devices, one.devices):
                return self.of_trial(trial, count)
        return self.of_estimate(one, count)

    def no_better(self, row: Choice, best: Choice) -> Choice:
        """An estimated row, not faster than the best plan."""
        if row.seconds >= best.seconds:
            return row
        return self._row(row.devices, best.seconds, None, row.nodes)

    def _row(
        self, devices: IntVector, seconds: float, prediction: Prediction | None, nodes: int | None
    ) -> Choice:
        platform = only(self._platform, devices.tolist())
        bound = least_seconds(platform, self._work)
        if not platform.has_curves:
            bound = self._work / float(platform.speeds.sum())
        busy = np.full(platform.k, seconds) if prediction is None else prediction.seconds[devices]
        return Choice(
            devices, seconds, prediction is not None,
            speed_up=self._single / seconds if seconds > 0 else 1.0,
            efficiency=min(bound / seconds, 1.0) if seconds > 0 else 1.0,
            cost=_cost(platform, seconds),
            energy=_energy(platform, busy, seconds),
            nodes=nodes,
        )  # fmt: skip


def _cost(platform: Platform, seconds: float) -> float | None:
    """Money for 1,000 iterations, if every device says its own."""
    each = [device.cost_per_hour for device in platform.devices]
    if any(cost is None for cost in each):
        return None
    return ITERATIONS * seconds / HOUR * float(sum(cost for cost in each if cost is not None))


def _energy(platform: Platform, busy: npt.NDArray[np.float64], seconds: float) -> float | None:
    """Energy of 1,000 iterations [J], if every device says its power; waiting counts as idle."""
    total = 0.0
    for device, own in zip(platform.devices, busy.tolist(), strict=True):
        if device.watts is None:
            return None
        idle = device.watts if device.idle_watts is None else device.idle_watts
        total += device.watts * own + idle * max(seconds - own, 0.0)
    return ITERATIONS * total


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

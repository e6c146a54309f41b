"""The five figures at the head of a report, and how the slowest device spends its time."""

from __future__ import annotations

from typing import Any, NamedTuple

from evener.planning.bottleneck import Bottleneck
from evener.plans.plan import METIS_STAGE, SAME_DEVICES_STAGE, Plan, Stage
from evener.reporting.tables import is_relative
from evener.wording import count, duration, percent, plural, ratio

METIS_NAMES = {
    METIS_STAGE: "METIS at the same sizes",
    SAME_DEVICES_STAGE: "METIS on the same devices",
}
ALIKE = 5e-4  # relative: times nearer than this are the same


class Figure(NamedTuple):
    """A figure: name, value, and a line that explains it."""

    name: str
    value: str
    meaning: str


def headline(plan: Plan, bottleneck: Bottleneck | None) -> list[Figure]:
    """Return five figures, the most important first; bottleneck: None if links are not stated."""
    judged, prediction = plan.evaluation, plan.prediction
    meaning = "predicted, slowest device"
    if is_relative(plan):
        meaning = "of the time that all devices would need if always busy"
    return [
        Figure("time per iteration", plan.prediction.clock(prediction.makespan), meaning),
        _above_bound(plan),
        _rival(plan),
        Figure(
            "slowest device", plan.platform.names[prediction.bottleneck], _last(plan, bottleneck)
        ),
        Figure(
            "edge cut",
            count(judged.edge_cut),
            f"{plural(judged.total_volume, 'value')} sent per iteration",
        ),
    ]


def _above_bound(plan: Plan) -> Figure:
    """Return the distance of the predicted time from the lower bound."""
    prediction = plan.prediction
    times = prediction.makespan / prediction.bound if prediction.bound > 0 else 1.0
    name, text = "above the lower bound", percent(times - 1)
    if times >= 2:
        name, text = "of the lower bound", ratio(times)
    meaning = "the shortest time for any block sizes if nothing were exchanged"
    return Figure(name, text, f"the bound, {plan.prediction.clock(prediction.bound)}: {meaning}")


def stage_of_role(plan: Plan, role: str) -> Stage | None:
    """Return the stage with this role and with seconds; None if the plan has none."""
    return next((one for one in plan.stages if one.role == role and one.seconds), None)


def against(seconds: float, ours: float, whose: str = "this plan") -> str:
    """Return how another time compares to this plan's: "0.4 % slower than this plan"."""
    over = seconds / ours - 1 if ours > 0 else 0.0
    if abs(over) < ALIKE:
        return f"as fast as {whose}"
    if over >= 1:
        return f"{seconds / ours:.3g} times as slow as {whose}"
    return f"{percent(abs(over))} {'slower' if over > 0 else 'faster'} than {whose}"


def _rival(plan: Plan) -> Figure:
    """Return the time of METIS (its faster stage) or of the rival, else the imbalance."""
    ours = plan.prediction.makespan
    named = [(stage_of_role(plan, role), name) for role, name in METIS_NAMES.items()]
    tried = [(one.seconds, name) for one, name in named if one and one.seconds is not None]
    if tried:
        seconds, name = min(tried)
        return Figure(name, plan.prediction.clock(seconds), against(seconds, ours))
    if plan.rival is not None and plan.rival.seconds is not None:
        seconds, rival = plan.rival.seconds, plan.rival
        is_last = rival.is_on_devices and rival.nearest is rival.stages[-1]
        on = rival.nearest.name if is_last else "for the same contract"
        name = f"{plan.rival.tool} {on}"
        return Figure(name, plan.prediction.clock(seconds), against(seconds, ours))
    share = plan.evaluation.imbalance
    sign = "+" if share > 0 and percent(share) != percent(0.0) else ""
    return Figure("imbalance", f"{sign}{percent(share)}", "heaviest block above its target")


def _last(plan: Plan, bottleneck: Bottleneck | None) -> str:
    """Return how the slowest device spends its time, or how much earlier the next one finishes."""
    if bottleneck is not None and bottleneck.seconds > 0:
        return f"{percent(bottleneck.compute / bottleneck.seconds)} of its time computing"
    others = plan.prediction.ends.copy()
    others[plan.prediction.bottleneck] = 0.0
    if not others.max() > 0:
        return "the only device with work"
    following = plan.platform.names[int(others.argmax())]
    earlier = 1 - float(others.max()) / plan.prediction.makespan
    if earlier < ALIKE:
        return f"{following} finishes at the same time"
    return f"{following} finishes {percent(earlier)} earlier"


CHANGE_COLUMNS = ("what if (same partition)", "predicted", "saves")
MAX_CHANGES = 8
NOTICED = 1e-3  # of the time: shorter delays are not mentioned


class BottleneckSection(NamedTuple):
    """The page's section on the bottleneck: a sentence, and the columns and rows of a table."""

    sentence: str
    columns: tuple[str, ...]
    rows: list[tuple[str, str, str]]


def bottleneck_sentence(slowest: Bottleneck) -> str:
    """Return how the slowest device spends its time, and how much earlier the next one finishes."""
    parts = [f"{_share(slowest.compute, slowest)} computing"]
    exchange = slowest.latency + slowest.transfer
    if slowest.neighbours:
        partners = plural(slowest.neighbours, "neighbour")
        parts.append(
            f"{_share(exchange, slowest)} exchanging with {partners} "
            f"(latency {_share(slowest.latency, slowest)})"
        )
    if slowest.waiting > 0:
        parts.append(
            f"{_share(slowest.waiting, slowest)} waiting for the shared link {slowest.link}"
        )
    if slowest.delay > NOTICED * slowest.seconds:
        parts.append(f"{_share(slowest.delay, slowest)} waiting for its partners")
    if slowest.fixed > 0:
        parts.append(f"{_share(slowest.fixed, slowest)} fixed")
    text = f"{slowest.device} finishes last: {', '.join(parts)}"
    if slowest.overlapped > 0:
        text += f"; {_share(slowest.overlapped, slowest)} of that overlaps"
    if slowest.next_seconds is not None and slowest.seconds > 0:
        sooner = 1 - slowest.next_seconds / slowest.seconds
        when = "at the same time" if sooner < ALIKE else f"{percent(sooner)} earlier"
        text += f". {slowest.next_device} finishes {when}"
    return text + "."


def change_rows(slowest: Bottleneck, most: int = MAX_CHANGES) -> list[tuple[str, str, str]]:
    """Return a row of CHANGE_COLUMNS for each of the changes that help most."""
    return [
        (one.text, duration(one.seconds), f"−{percent(1 - one.ratio)}")
        for one in slowest.changes[:most]
    ]


def bottleneck_dict(slowest: Bottleneck) -> dict[str, Any]:
    """Return the bottleneck for --json, with every change that helps, best first."""
    table = {key: getattr(slowest, key) for key in _KEYS}
    changes = [
        {"change": one.text, "seconds": one.seconds, "ratio": one.ratio} for one in slowest.changes
    ]
    return {**table, "changes": changes}


_KEYS = (
    "device", "seconds", "compute", "latency", "transfer", "waiting", "delay", "fixed",
    "overlapped", "neighbours", "link", "next_device", "next_seconds",
)  # fmt: skip


def _share(seconds: float, slowest: Bottleneck) -> str:
    return percent(seconds / slowest.seconds if slowest.seconds > 0 else 0.0)

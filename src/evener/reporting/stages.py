"""The sections on stages of the search, on METIS and on a rival: tables and bars."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evener.plans.plan import (
    CHOSEN_STAGE,
    CUT_STAGE,
    METIS_STAGE,
    SAME_DEVICES_STAGE,
    Plan,
    Rival,
    Stage,
)
from evener.reporting import headline
from evener.wording import NOTHING, count, duration, percent, plural, ratio, times

# Field of a Stage, heading, meaning; of each the lowest value is the best.
MEASURES = (
    ("edge_cut", "cut", "edges between blocks, by weight"),
    ("max_volume", "largest volume", "values sent by one block"),
    ("total_volume", "total volume", "values sent by all blocks"),
)
SECONDS = ("seconds", "time", "predicted per iteration")
ROLES = {
    **headline.METIS_NAMES,
    CUT_STAGE: "Evener's minimum-cut plan",
    CHOSEN_STAGE: "this plan",
}
FAR = 3.0  # times the median, at which bars are cut off


@dataclass(frozen=True)
class StageBar:
    """A stage in one measure: length of its bar [%], text, ratio to the first of the group.

    is_cut: whether the bar exceeds the chart and is cut off.
    """

    name: str
    bar: float
    text: str
    ratio: str
    is_least: bool
    is_cut: bool


@dataclass(frozen=True)
class Group:
    """One measure of all stages; bound: position of the lower bound on the bars' scale [%]."""

    title: str
    meaning: str
    bars: list[StageBar]
    bound: float | None = None


@dataclass(frozen=True)
class StageRow:
    """A stage as a row of the table; cells in the order of its headings."""

    name: str
    cells: list[str]
    is_chosen: bool = False


@dataclass(frozen=True)
class Stages:
    """The sentence, the groups of bars, the table; name_width: characters of the names."""

    sentence: str
    groups: list[Group]
    rows: list[StageRow]
    name_width: int


def compared(plan: Plan) -> list[StageRow]:
    """Return rows for METIS, the minimum-cut plan and this plan; none if the first two are missing.

    Cells: time, against this plan, cut, largest volume, total volume, neighbours.
    """
    ours = plan.prediction.makespan
    named = [(role, stage) for role in ROLES if (stage := headline.stage_of_role(plan, role))]
    if all(role == CHOSEN_STAGE for role, _ in named):
        return []
    return [
        StageRow(
            ROLES[role],
            [duration(stage.seconds), _apart(stage.seconds, ours) if role != CHOSEN_STAGE else "",
             *_cells(stage)],
            role == CHOSEN_STAGE,
        )
        for role, stage in named
    ]  # fmt: skip


def compared_with(plan: Plan) -> str:
    """Return the tool whose partition heads the comparison.

    METIS is not run for graphs in slices.
    """
    has_metis = headline.stage_of_role(plan, METIS_STAGE) is not None
    return ROLES[METIS_STAGE if has_metis else CUT_STAGE]


def steps(plan: Plan) -> Stages | None:
    """Return the stages of the search; None for a plan with fewer than two."""
    stages = _without_twin(plan.stages)
    if len(stages) < 2:
        return None
    clock = plan.prediction.clock
    words = _told_apart([ROLES.get(one.role) or in_words(one.name) for one in stages])
    named = list(zip(words, stages, strict=True))
    first, last = stages[0], stages[-1]
    if any(stage.seconds is None for stage in stages):
        sentence = f"From {named[0][0]} to {named[-1][0]}: {_change(first, last)}."
        return _stages(sentence, named, [NOTHING] * len(named), clock)
    # A search for seconds: only times have bars; the table has the rest.
    shown = _stages("", named, [NOTHING] * len(named), clock)
    most = _longest([stage.seconds or 0.0 for stage in stages])
    bound = min(round(100 * plan.prediction.bound / max(most, 1e-300), 1), 100.0)
    group = _group(*SECONDS, named)
    sentence = f"{plural(len(stages), 'partition')} were tried; {_choice(plan, stages)}."
    return Stages(
        sentence, [Group(group.title, group.meaning, group.bars, bound)], shown.rows,
        shown.name_width,
    )  # fmt: skip


def _told_apart(names: Sequence[str]) -> list[str]:
    """Return the names; repeated names get a number: "strips side by side (2)"."""
    before = Counter[str]()
    told = []
    for name in names:
        before[name] += 1
        told.append(name if before[name] == 1 else f"{name} ({before[name]})")
    return told


def _choice(plan: Plan, stages: Sequence[Stage]) -> str:
    """Return why this plan, the last of the stages, was chosen among all candidates."""
    last, clock = stages[-1], plan.prediction.clock
    fastest = min(stages, key=lambda one: (one.seconds or 0.0, one is not last))
    if fastest is last or not fastest.seconds or not last.seconds:
        return "the fastest is this plan"
    less = f"{percent(1 - fastest.seconds / last.seconds)} faster than this plan"
    said = f"the fastest took {clock(fastest.seconds)}, {less}"
    alike = plan.options.get("alike")
    if not isinstance(alike, float) or last.seconds > (1 + alike) * fastest.seconds:
        return said
    sends = ", which sends less" if last.total_volume < fastest.total_volume else ""
    return f"{said}{sends}: a difference of up to {percent(alike)} counts as equal"


def beside(plan: Plan) -> str:
    """Return the times of METIS and of the minimum-cut plan; "" if not tried."""
    ours = plan.prediction.makespan
    said = [
        f"{ROLES[role]} {duration(stage.seconds)} ({_longer(stage.seconds / ours - 1)})"
        for role in (METIS_STAGE, SAME_DEVICES_STAGE, CUT_STAGE)
        if (stage := headline.stage_of_role(plan, role)) and stage.seconds and ours > 0
    ]
    return f"For comparison: {'; '.join(said)}." if said else ""


def _longer(share: float) -> str:
    """Return a relative difference of times as text."""
    if abs(share) < 5e-4:
        return "as long"
    return f"{times(1 + share)} times as long" if share >= 1 else f"{100 * share:+.1f} %"


def against(
    ours: str,
    mine: Stage,
    cpu_seconds: float | None,
    rival: Rival,
    clock: Callable[[float], str] = duration,
) -> Stages | None:
    """Return (tool, figures, CPU [s]) of Evener's partition and the rival's; None without figures.

    clock: converts predicted seconds to text.
    """
    if not rival.stages:
        return None
    # Of a rival on all devices and on the plan's, the nearer one; else as the tool returned it.
    nearest = rival.stages.index(rival.nearest) if rival.is_on_devices else 0
    change = _change(rival.stages[nearest], mine)
    sentence = f"{ours} over {rival_name(rival, nearest)}: {change}."
    named = [(rival_name(rival, i), stage) for i, stage in enumerate(rival.stages)]
    named.append((ours, mine))
    spent = [duration(rival.cpu_seconds)] + [NOTHING] * (len(rival.stages) - 1)
    return _stages(sentence, named, [*spent, duration(cpu_seconds)], clock)


def rival_name(rival: Rival, i: int) -> str:
    """Return the name of a rival's stage; stage 0 is the tool's own result."""
    return f"{rival.tool}, {rival.stages[i].name}" if i else rival.tool


def _without_twin(stages: Sequence[Stage]) -> list[Stage]:
    """Return the stages without a stage that equals the chosen stage, which is last."""
    if not stages or stages[-1].role != CHOSEN_STAGE:
        return list(stages)
    last = stages[-1]
    return [one for one in stages[:-1] if one.role or _figures(one) != _figures(last)] + [last]


def _figures(stage: Stage) -> tuple[float | None, ...]:
    return stage.seconds, stage.edge_cut, stage.max_volume, stage.total_volume


def _apart(seconds: float | None, ours: float) -> str:
    """Return the relative difference of a time from this plan's: "+2.2 %"."""
    if seconds is None or ours <= 0:
        return NOTHING
    over = seconds / ours - 1
    if over >= 1:
        return ratio(seconds / ours)
    text = percent(abs(over))
    return text if text == percent(0.0) else f"{'+' if over > 0 else '−'}{text}"


def _cells(stage: Stage) -> list[str]:
    values = (stage.edge_cut, stage.max_volume, stage.total_volume, stage.neighbours)
    return [count(value) for value in values]


def _stages(
    sentence: str, named: Sequence[tuple[str, Stage]], cpu: list[str], clock: Callable[[float], str]
) -> Stages:
    rows = [
        StageRow(
            name,
            [*_cells(stage), f"{stage.smallest:.3f} to {stage.largest:.3f}",
             NOTHING if stage.seconds is None else clock(stage.seconds), spent],
            stage.role == CHOSEN_STAGE,
        )
        for (name, stage), spent in zip(named, cpu, strict=False)
    ]  # fmt: skip
    groups = [_group(key, title, meaning, named) for key, title, meaning in MEASURES]
    return Stages(sentence, groups, rows, max(len(name) for name, _ in named))


def _group(key: str, title: str, meaning: str, named: Sequence[tuple[str, Stage]]) -> Group:
    values = [float(getattr(stage, key)) for _, stage in named]
    most, first = _longest(values), values[0]
    bars = [
        StageBar(
            name,
            min(round(100 * value / most, 1), 100.0),
            duration(value) if key == SECONDS[0] else count(value),
            ratio(value / first) if first > 0 else NOTHING,
            value == min(values),
            value > most,
        )
        for (name, _), value in zip(named, values, strict=True)
    ]
    return Group(title, meaning, bars)


def _longest(values: Sequence[float]) -> float:
    """Return the value of a full bar: the maximum, or FAR times the median."""
    return max(min(max(values), FAR * float(np.median(values))), 1e-300)


def _change(first: Stage, last: Stage) -> str:
    """Return ratios of the last stage to the first: "cut 0.84x, largest volume 0.80x, ..."."""
    said = [
        f"{title} {ratio(getattr(last, key) / getattr(first, key))}"
        for key, title, _ in (SECONDS, *MEASURES)
        if getattr(first, key) and getattr(last, key) is not None
    ]
    return ", ".join(said) or "nothing is cut"


# Patterns in the recorded names of search steps, and plain words for them; applied in this order.
STEP_WORDS = (
    (r"^chosen: ", ""),
    (r"^plain plan", "minimum-cut plan"),
    (r"^METIS with speeds", "METIS, sizes by speed alone"),
    (r"^one device$", "all on one device"),
    (r"^1 devices?, ", "one device, "),
    (r"\bslabs\b", "strips side by side"),
    (r"\bsketched\b", "planned on a coarser graph"),
    (r", sizes 1\b", ", sizes adjusted once"),
    (r", sizes 2\b", ", sizes adjusted twice"),
    (r", sizes (\d+)", r", sizes adjusted \1 times"),
    (r", placed\b", ", moved to better devices"),
    (r", mapped\b", ", moved to better devices"),
    (r", refined\b", ", refined for time"),
    (r" \((\d+)\)", r", attempt \1"),
)


def in_words(name: str) -> str:
    """Return a plain name for the recorded name of a search step; unknown names are unchanged."""
    for pattern, words in STEP_WORDS:
        name = re.sub(pattern, words, name)
    return name

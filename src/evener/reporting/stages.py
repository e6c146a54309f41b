"""How a partition came to be, and how another tool's compares: bars and a table for the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evener.durations import times
from evener.plans import CUT_STAGE, METIS_STAGE, Plan, Rival, Stage
from evener.reporting.numbers import NOTHING, count, duration, ratio

# Field of a Stage, heading, what it means; of each the less is the better.
MEASURES = (
    ("edge_cut", "cut", "edges between blocks, by weight"),
    ("max_volume", "largest volume", "sent by one block"),
    ("total_volume", "total volume", "sent by all blocks"),
)
SECONDS = ("seconds", "makespan", "predicted seconds per iteration")
FAR = 3.0  # times the median: longer bars are cut off
RIVALS = {METIS_STAGE: "METIS at the same sizes", CUT_STAGE: "Evener's minimum-cut plan"}
SIDE_BY_SIDE = 4  # stages whose measures all are drawn


@dataclass(frozen=True)
class StageBar:
    """A stage in one measure: length of its bar [%], text, ratio to the first of the group."""

    name: str
    bar: float
    text: str
    ratio: str
    is_least: bool


@dataclass(frozen=True)
class Group:
    """One measure of all stages; bound: where no partition can be below, on the bars' scale [%]."""

    title: str
    meaning: str
    bars: list[StageBar]
    bound: float | None = None


@dataclass(frozen=True)
class StageRow:
    """A stage as a row of the table; cells in the order of its headings."""

    name: str
    cells: list[str]


@dataclass(frozen=True)
class Stages:
    """The sentence, the groups of bars, the table; name_width: characters of the names."""

    sentence: str
    groups: list[Group]
    rows: list[StageRow]
    name_width: int


def before_and_after(plan: Plan) -> Stages | None:
    """Return the plan's stages as the page shows them; None where it has none."""
    if not plan.stages:
        return None
    first, last = plan.stages[0], plan.stages[-1]
    sentence = f"From {first.name} to {last.name}: {_change(first, last)}."
    named = [(stage.name, stage) for stage in plan.stages]
    shown = _stages(sentence, named, [NOTHING] * len(named))
    if any(stage.seconds is None for stage in plan.stages) or len(named) <= SIDE_BY_SIDE:
        return shown
    # Steps of a search for seconds: these are what they are about; the table has the rest.
    seconds = _group(*SECONDS, named)
    most = _longest([stage.seconds or 0.0 for stage in plan.stages])
    bound = min(round(100 * plan.prediction.bound / max(most, 1e-300), 1), 100.0)
    return replace(shown, groups=[replace(seconds, bound=bound)])


def beside(plan: Plan) -> str:
    """Say what METIS at the same sizes and the plan of least cut would take; "" where not tried."""
    ours, steps = plan.prediction.makespan, {one.role: one.seconds for one in plan.stages}
    said = [
        f"{name} {duration(seconds)} ({_longer(seconds / ours - 1)})"
        for role, name in RIVALS.items()
        if (seconds := steps.get(role)) and ours > 0
    ]
    return f"For comparison: {'; '.join(said)}." if said else ""


def _longer(share: float) -> str:
    """Say how much longer something takes."""
    if abs(share) < 5e-4:
        return "as long"
    return f"{times(1 + share)} times as long" if share >= 1 else f"{100 * share:+.1f} %"


def against(ours: str, mine: Stage, cpu_seconds: float | None, rival: Rival) -> Stages | None:
    """Return our partition (tool, figures, CPU [s]) beside the rival's; None where it has none."""
    if not rival.stages:
        return None
    sentence = f"{ours} over {rival.tool}: {_change(rival.stages[0], mine)}."
    named = [(rival_name(rival, i), stage) for i, stage in enumerate(rival.stages)]
    named.append((ours, mine))
    spent = [duration(rival.cpu_seconds)] + [NOTHING] * (len(rival.stages) - 1)
    return _stages(sentence, named, [*spent, duration(cpu_seconds)])


def rival_name(rival: Rival, i: int) -> str:
    """Return what a stage of a rival is called: the first is the tool's own work."""
    return f"{rival.tool}, {rival.stages[i].name}" if i else rival.tool


def _stages(sentence: str, named: Sequence[tuple[str, Stage]], cpu: list[str]) -> Stages:
    rows = [
        StageRow(
            name,
            [count(stage.edge_cut), count(stage.max_volume), count(stage.total_volume),
             count(stage.neighbours), f"{stage.smallest:.3f} to {stage.largest:.3f}",
             duration(stage.seconds), spent],
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
        )
        for (name, _), value in zip(named, values, strict=True)
    ]
    return Group(title, meaning, bars)


def _longest(values: Sequence[float]) -> float:
    """The value that a whole bar stands for: those far beyond the others are cut off there."""
    return max(min(max(values), FAR * float(np.median(values))), 1e-300)


def _change(first: Stage, last: Stage) -> str:
    """Say what the measures are of the first's: "cut 0.84x, largest volume 0.80x, ..."."""
    said = [
        f"{title} {ratio(getattr(last, key) / getattr(first, key))}"
        for key, title, _ in (SECONDS, *MEASURES)
        if getattr(first, key) and getattr(last, key) is not None
    ]
    return ", ".join(said) or "nothing is cut"

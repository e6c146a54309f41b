"""Figures of several tools' partitions of a graph, for the page of `evener compare`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evener.wording import NOTHING, count, duration, percent, plural, ratio, signed_percent

# Key, heading, meaning; of each the lowest value is the best.
MEASURES = (
    ("seconds", "time", "predicted per iteration"),
    ("edge_cut", "cut", "weight of the edges between blocks"),
    ("max_volume", "largest volume", "values the busiest block sends"),
    ("total_volume", "total volume", "values all blocks send"),
    ("imbalance", "imbalance", "worst block, weight / target − 1"),
    ("cpu_seconds", "CPU", "the tool's own CPU time"),
)


MIN_SPAN = 0.05  # of a chart: relative distance from the best that a full bar stands for


@dataclass(frozen=True)
class ComparedFigure:
    """A figure: text, value to sort by, distance from the best as a bar [%] and in words."""

    text: str
    value: float | None
    bar: float
    over: str
    is_best: bool


@dataclass(frozen=True)
class Contestant:
    """A tool and its figures in the order of MEASURES; raw: block / target before repair."""

    tool: str
    family: str
    holds: bool | None
    figures: list[ComparedFigure]
    raw: str
    moved: str
    enforce: str
    note: str


@dataclass(frozen=True)
class Compared:
    """The verdict and the tools, in order of predicted time.

    charts: for each of the measures the tools that have it and their figures, in the same order.
    """

    verdict: str
    tools: list[Contestant]
    measures: tuple[tuple[str, str, str], ...]
    charts: list[list[tuple[str, ComparedFigure]]]
    name_width: int


def compared(rows: Sequence[Mapping[str, Any]]) -> Compared:
    """Return what the page shows of the rows `write_comparison` describes."""
    best = {key: _least(rows, key) for key, _, _ in MEASURES}
    worst = {key: _most(rows, key) for key, _, _ in MEASURES}
    ordered = sorted(rows, key=lambda row: (row["seconds"] is None, row["seconds"] or 0.0))
    tools = [
        Contestant(
            row["tool"],
            row["family"],
            row["holds"],
            [_figure(key, row[key], best[key], worst[key]) if _counts(row, key) else _none()
             for key, _, _ in MEASURES],
            raw=_raw(row),
            moved=count(row["moved"]) if row["seconds"] is not None else NOTHING,
            enforce=duration(row["enforce_seconds"]) if row["seconds"] is not None else NOTHING,
            note=row["note"],
        )
        for row in ordered
    ]  # fmt: skip
    width = max((len(tool.tool) for tool in tools), default=0)
    charts = [
        [(tool.tool, figure) for tool in tools if (figure := tool.figures[i]).value is not None]
        for i in range(len(MEASURES))
    ]
    return Compared(_verdict(ordered), tools, MEASURES, charts, width)


def _verdict(ordered: Sequence[Mapping[str, Any]]) -> str:
    done = [row for row in ordered if row["seconds"] is not None]
    if not done:
        return "No tool made a partition."
    kept = [row for row in done if row["holds"]]
    head = f"{len(kept)} of {plural(len(ordered), 'tool')} end within the contract"
    if len(kept) == len(ordered):
        head = f"All {plural(len(kept), 'tool')} end within the contract"
        if len(kept) == 1:
            head = "The one tool ends within the contract"
    if not kept:
        return f"{head}."
    fastest = min(kept, key=lambda row: row["seconds"])
    cut = min(kept, key=lambda row: row["edge_cut"])
    time = f"{fastest['tool']} is predicted fastest ({duration(fastest['seconds'])})"
    if cut["tool"] == fastest["tool"]:
        return f"{head}; {time} and has the least cut ({count(cut['edge_cut'])})."
    return f"{head}; {time}, {cut['tool']} has the least cut ({count(cut['edge_cut'])})."


def _counts(row: Mapping[str, Any], key: str) -> bool:
    return row["seconds"] is not None and row[key] is not None


def _least(rows: Sequence[Mapping[str, Any]], key: str) -> float:
    return min((row[key] for row in rows if _counts(row, key)), default=0.0)


def _most(rows: Sequence[Mapping[str, Any]], key: str) -> float:
    return max((row[key] for row in rows if _counts(row, key)), default=0.0)


def _figure(key: str, value: float, best: float, worst: float) -> ComparedFigure:
    if key == "imbalance":
        text = signed_percent(value)
    elif key.endswith("seconds"):
        text = duration(value)
    else:
        text = count(value)
    if key == "imbalance":  # is relative already
        span, above, words = max(worst, 0.0), max(value, 0.0), ""
    elif best > 0:
        span, above = max(worst / best - 1, MIN_SPAN), value / best - 1
        words = _above(above)
    else:
        span, above, words = worst, value, ""
    bar = round(100 * above / span, 1) if span > 0 else 0.0
    return ComparedFigure(
        text, float(value), bar, "best" if value == best else words, value == best
    )


def _above(share: float) -> str:
    """Return the distance from the best in percent, or as a ratio where that is large."""
    return f"+{percent(share)}" if share < 1 else ratio(1 + share)


def _none() -> ComparedFigure:
    return ComparedFigure(NOTHING, None, 0.0, "", False)


def _raw(row: Mapping[str, Any]) -> str:
    """Return the range of weight / target of the blocks before the contract was enforced."""
    if row["smallest"] is None:
        return NOTHING
    return f"{row['smallest']:.2f} to {row['largest']:.2f}"

"""Several tools' partitions of one graph: the best of each column, and the words for a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evener.wording import NOTHING, count, duration, percent, plural, ratio, signed_percent

# Key, heading, what it means; of each the least is the best.
MEASURES = (
    ("seconds", "time", "predicted per iteration"),
    ("edge_cut", "cut", "weight of the edges between blocks"),
    ("max_volume", "largest volume", "values the busiest block sends"),
    ("total_volume", "total volume", "values all blocks send"),
    ("imbalance", "imbalance", "worst block, weight / target − 1"),
    ("cpu_seconds", "CPU", "the tool's own CPU time"),
)


LEAST_SPAN = 0.05  # above the best: what a whole bar stands for at least


@dataclass(frozen=True)
class Measured:
    """A figure: text, value to sort by, how far above the best, as bar [%] and in words."""

    text: str
    value: float | None
    bar: float
    over: str
    is_best: bool


@dataclass(frozen=True)
class Contestant:
    """A tool and its figures, in the order of MEASURES; raw: how its blocks came."""

    tool: str
    family: str
    holds: bool | None
    figures: list[Measured]
    raw: str
    moved: str
    enforce: str
    note: str


@dataclass(frozen=True)
class Compared:
    """The verdict and the tools, those with the shortest predicted time first.

    ranked: for each of the measures the tools that have it, the best first, with their figures.
    """

    verdict: str
    tools: list[Contestant]
    measures: tuple[tuple[str, str, str], ...]
    ranked: list[list[tuple[str, Measured]]]
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
    ranked = [_ranked(tools, column) for column in range(len(MEASURES))]
    return Compared(_verdict(ordered), tools, MEASURES, ranked, width)


def _ranked(tools: Sequence[Contestant], column: int) -> list[tuple[str, Measured]]:
    """The tools by one measure, the best first; those that have no figure are left out."""
    found = [(tool.tool, tool.figures[column]) for tool in tools]
    return sorted(
        (one for one in found if one[1].value is not None), key=lambda one: one[1].value or 0.0
    )


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


def _figure(key: str, value: float, best: float, worst: float) -> Measured:
    if key == "imbalance":
        text = signed_percent(value)
    elif key.endswith("seconds"):
        text = duration(value)
    else:
        text = count(value)
    if key == "imbalance":  # is relative already
        span, above, words = max(worst, 0.0), max(value, 0.0), ""
    elif best > 0:
        span, above = max(worst / best - 1, LEAST_SPAN), value / best - 1
        words = _above(above)
    else:
        span, above, words = worst, value, ""
    bar = round(100 * above / span, 1) if span > 0 else 0.0
    return Measured(text, float(value), bar, "best" if value == best else words, value == best)


def _above(share: float) -> str:
    """How far above the best, in percent, or as a ratio where that is large."""
    return f"+{percent(share)}" if share < 1 else ratio(1 + share)


def _none() -> Measured:
    return Measured(NOTHING, None, 0.0, "", False)


def _raw(row: Mapping[str, Any]) -> str:
    """How far the blocks were off their targets before the contract was enforced."""
    if row["smallest"] is None:
        return NOTHING
    return f"{row['smallest']:.2f} to {row['largest']:.2f}"

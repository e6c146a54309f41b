"""Figures of several tools' partitions of a graph, for the page of `evener compare`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from evener.partitioning.tools import TOOLS
from evener.wording import (
    NOTHING,
    all_of,
    count,
    duration,
    percent,
    plural,
    ratio,
    signed_percent,
    time_of,
)

if TYPE_CHECKING:
    from evener.planning.compare import Comparison

PLAN = "plan"  # row of what `evener plan` makes, as in evener.planning.compare

# Key, heading, meaning; of each the lowest value is the best.
Measure: TypeAlias = tuple[str, str, str]
Best: TypeAlias = Callable[[list[Mapping[str, Any]]], str]
MEASURES: tuple[Measure, ...] = (
    ("seconds", "time", "predicted per iteration"),
    ("edge_cut", "cut", "weight of the edges between blocks"),
    ("max_volume", "largest volume", "values the busiest block sends"),
    ("total_volume", "total volume", "values all blocks send"),
    ("imbalance", "imbalance", "worst block, weight / target − 1"),
    ("cpu_seconds", "CPU", "the tool's own CPU time"),
)
COLUMNS = (
    ("raw block / target", "smallest and largest block relative to its target, before repair"),
    ("moved", "vertices that the repair moved"),
    ("repair", "CPU time of the repair"),
)

MIN_SPAN = 0.05  # of a chart: relative distance from the best that a full bar stands for


@dataclass(frozen=True)
class ComparedFigure:
    """A figure: text, value to sort by, distance from the best as a bar [%] and as text."""

    text: str
    value: float | None
    bar: float
    over: str
    is_best: bool


@dataclass(frozen=True)
class Contestant:
    """A tool, its figures in the order of the measures, and its cells in the other columns."""

    tool: str
    family: str
    holds: bool | None
    figures: list[ComparedFigure]
    cells: list[str]
    note: str


@dataclass(frozen=True)
class Compared:
    """The verdict and the tools, in the order of their first measure.

    noun: a word for the tools. order: the first measure, in words. measures: key, heading,
    meaning. columns: headings and meanings of further columns. charts: for each measure, the tools
    that have it and their figures, in the same order.
    """

    verdict: str
    noun: str
    order: str
    tools: list[Contestant]
    measures: tuple[Measure, ...]
    columns: tuple[tuple[str, str], ...]
    charts: list[list[tuple[str, ComparedFigure]]]
    name_width: int

    @property
    def has_contract(self) -> bool:
        """Whether blocks have contracts; the filters of stream graphs have none."""
        return any(tool.holds is not None for tool in self.tools)

    @property
    def has_plan(self) -> bool:
        """Whether one of the rows is the plan for seconds, which has its own sizes."""
        return any(tool.tool == PLAN for tool in self.tools)

    @property
    def has_families(self) -> bool:
        """Whether tools are grouped into families."""
        return any(tool.family for tool in self.tools)


def row_of(result: Comparison) -> dict[str, Any]:
    """Return a tool's row of a comparison; figures that could not be computed are None."""
    # auto takes one of any family, and the plan several.
    family = TOOLS[result.tool].family if result.tool in TOOLS else ""
    row: dict[str, Any] = {"tool": result.tool, "family": family, "note": result.note,
                           "moved": result.moved, "cpu_seconds": result.cpu_seconds,
                           "enforce_seconds": result.enforce_seconds}  # fmt: skip
    judged = result.kept or result.raw
    raw = result.raw
    ratios = None if raw is None else raw.certificate.fullness
    return row | {
        "edge_cut": judged.edge_cut if judged else None,
        "max_volume": judged.max_volume if judged else None,
        "total_volume": judged.total_volume if judged else None,
        "imbalance": judged.imbalance if judged else None,
        "seconds": judged.prediction.makespan if judged else None,
        "holds": judged.certificate.all_hold if judged else None,
        "smallest": None if ratios is None else float(ratios.min()),
        "largest": None if ratios is None else float(ratios.max()),
    }


def compared(rows: Sequence[Mapping[str, Any]], ideal: float | None = None) -> Compared:
    """Return the page's content for rows as in `write_comparison`; ideal: see Prediction."""
    clock = partial(time_of, ideal=ideal)
    ordered = sorted(rows, key=lambda row: (row["seconds"] is None, row["seconds"] or 0.0))
    cells = [
        [
            _raw(row),
            count(row["moved"]) if row["seconds"] is not None else NOTHING,
            duration(row["enforce_seconds"]) if row["seconds"] is not None else NOTHING,
        ]
        for row in ordered
    ]
    table = FurtherColumns(COLUMNS, cells)
    best = partial(_best, clock=clock)
    return side_by_side(
        ordered, MEASURES, table, best=best, noun="tool", order="predicted time", clock=clock
    )


class FurtherColumns(NamedTuple):
    """Columns next to the measures: headings with meanings, and the cells of each tool."""

    columns: tuple[tuple[str, str], ...]
    cells: list[list[str]]


def side_by_side(
    ordered: Sequence[Mapping[str, Any]],
    measures: tuple[Measure, ...],
    further: FurtherColumns,
    *,
    best: Best,
    noun: str,
    order: str,
    clock: Callable[[float], str] = duration,
) -> Compared:
    """Return the page's tools, in the order of the rows; noun, order: see Compared.

    ordered: a row for each tool, with tool, family, holds, note and all measures; the first measure
    is None if the tool made no blocks. best: a function that returns a phrase on the best rows,
    given one or more rows that keep the contract. clock: converts predicted seconds to text.
    """
    first = measures[0][0]
    done = [row for row in ordered if row[first] is not None]
    spans = {
        key: _span([row[key] for row in done if row[key] is not None]) for key, _, _ in measures
    }
    tools = [
        Contestant(
            row["tool"],
            row["family"],
            row["holds"],
            [
                _none()
                if row[first] is None or row[key] is None
                else _figure(key, row[key], *spans[key], clock)
                for key, _, _ in measures
            ],
            cells,
            row["note"],
        )
        for row, cells in zip(ordered, further.cells, strict=True)
    ]
    width = 1 + max((len(tool.tool) for tool in tools), default=0)  # a bold name is wider
    charts = [
        [(tool.tool, figure) for tool in tools if (figure := tool.figures[i]).value is not None]
        for i in range(len(measures))
    ]
    verdict = _verdict(ordered, noun, best, first)
    return Compared(verdict, noun, order, tools, measures, further.columns, charts, width)


def _verdict(ordered: Sequence[Mapping[str, Any]], noun: str, best: Best, first: str) -> str:
    """Return how many tools keep the contract, and which are best; arguments: see side_by_side."""
    if all(row[first] is None for row in ordered):
        return f"No {noun} made blocks."
    kept = [row for row in ordered if row["holds"]]
    head = _standing(len(kept), len(ordered), noun)
    return f"{head}; {best(kept)}." if kept else f"{head}."


def _standing(kept: int, total: int, noun: str) -> str:
    if kept < total:
        return f"{kept} of {plural(total, noun)} end within the contract"
    if kept == 1:
        return f"The only {noun} ends within the contract"
    return f"{all_of(kept, noun)} end within the contract"


def _best(kept: list[Mapping[str, Any]], clock: Callable[[float], str]) -> str:
    """Return, as a phrase, which tools are predicted fastest and which have the smallest cut."""
    fastest = min(kept, key=lambda row: row["seconds"])
    cut = min(kept, key=lambda row: row["edge_cut"])
    time = f"{fastest['tool']} is predicted fastest ({clock(fastest['seconds'])})"
    if cut["tool"] == fastest["tool"]:
        return f"{time} and has the least cut ({count(cut['edge_cut'])})"
    return f"{time}, {cut['tool']} has the least cut ({count(cut['edge_cut'])})"


def _span(values: Sequence[float]) -> tuple[float, float]:
    """Return the minimum and maximum of values; zeros if there are none."""
    return (min(values), max(values)) if values else (0.0, 0.0)


def _figure(
    key: str, value: float, best: float, worst: float, clock: Callable[[float], str]
) -> ComparedFigure:
    if key == "imbalance":
        text = signed_percent(value)
    elif key == "seconds":
        text = clock(value)
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
    """Return the distance from the best in percent, or as a ratio if it is large."""
    return f"+{percent(share)}" if share < 1 else ratio(1 + share)


def _none() -> ComparedFigure:
    return ComparedFigure(NOTHING, None, 0.0, "", False)


def _raw(row: Mapping[str, Any]) -> str:
    """Return the range of weight / target of the blocks before the contract was enforced."""
    if row["smallest"] is None:
        return NOTHING
    return f"{row['smallest']:.2f} to {row['largest']:.2f}"

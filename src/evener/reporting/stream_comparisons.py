"""The page of `evener compare --stream`: a comparison of methods of mapping filters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from evener.files.writing import write_text
from evener.graphs.stream_graph import StreamGraph
from evener.planning.compare_streams import StreamComparison
from evener.platforms.platform import Platform
from evener.reporting.comparisons import Compared, FurtherColumns, Measure, side_by_side
from evener.reporting.html import render
from evener.reporting.provenance import device_rows, option_rows
from evener.wording import NOTHING, count, duration, percent, plural, ratio

STREAM_MEASURES: tuple[Measure, ...] = (
    ("period_seconds", "period", "of an iteration, on the busiest device"),
    ("link_seconds", "slowest link", "that an iteration's bytes take on it"),
    ("cpu_seconds", "CPU", "the method's own CPU time, routes included"),
)
STREAM_COLUMNS = (
    ("period / bound", "no mapping's period is shorter than the bound"),
    ("devices", "with a filter"),
    ("busiest", "device that an iteration takes longest"),
    ("communicating", "share of the period on the busiest device"),
)


def write_stream_comparison(
    path: str | Path,
    results: Sequence[StreamComparison],
    graph: StreamGraph,
    platform: Platform,
    *,
    options: Mapping[str, Any],
    inputs: Mapping[str, str],
) -> None:
    """Write a page on several methods' mappings of the same filters; equal arguments, equal bytes.

    results: of `compare_filters`. options: common to all methods; inputs: file name -> SHA-256.
    """
    page = render(
        "comparison.html.j2",
        view=methods_compared(results),
        what=" of placed filters",
        counts=f"{plural(graph.n, 'filter')}, {plural(graph.m, 'edge')}",
        platform=platform,
        options=option_rows(options),
        devices=device_rows(platform),
        inputs=inputs,
    )
    write_text(path, page)


def methods_compared(results: Sequence[StreamComparison]) -> Compared:
    """Return the page's content for these methods, the shortest period first."""
    ordered = sorted((_row(one) for one in results), key=_rank)
    further = FurtherColumns(STREAM_COLUMNS, [row["cells"] for row in ordered])
    view = side_by_side(
        ordered, STREAM_MEASURES, further, best=lambda _: "", noun="method", order="period"
    )
    return replace(view, verdict=_verdict(ordered, results))


def _rank(row: Mapping[str, Any]) -> tuple[bool, float]:
    return row["period_seconds"] is None, row["period_seconds"] or 0.0


def _row(result: StreamComparison) -> dict[str, Any]:
    """Return the figures of a method; they are None if it made no mapping."""
    row: dict[str, Any] = {
        "tool": result.method, "family": "", "note": result.note, "holds": None,
    }  # fmt: skip
    plan = result.plan
    if plan is None:
        keys = (key for key, _, _ in STREAM_MEASURES)
        return row | dict.fromkeys(keys) | {"cells": [NOTHING] * len(STREAM_COLUMNS)}
    at = int(plan.loads.argmax())
    share = plan.communicating[at] / plan.period if plan.period > 0 else 0.0
    return row | {
        "period_seconds": plan.period,
        "link_seconds": max(plan.links.values(), default=0.0),
        "cpu_seconds": plan.cpu_seconds,
        "cells": [
            ratio(plan.period / plan.bound if plan.bound > 0 else None),
            count(plan.used),
            plan.bottleneck,
            percent(share),
        ],
    }


def _verdict(ordered: Sequence[Mapping[str, Any]], results: Sequence[StreamComparison]) -> str:
    """Return which method has the shortest period, and how far the next one is."""
    done = [row for row in ordered if row["period_seconds"] is not None]
    if not done:
        return "No method placed the filters."
    best = done[0]["period_seconds"]
    plan = next(one.plan for one in results if one.plan and one.method == done[0]["tool"])
    said = f"{done[0]['tool']} has the shortest period, {duration(best)}"
    if plan.bound > 0:
        said += f", {ratio(best / plan.bound)} of its lower bound"
    others = [row for row in done[1:] if row["period_seconds"] > best * (1 + 1e-9)]
    equal = len(done) - 1 - len(others)
    said += f"; {plural(equal, 'other method has', 'other methods have')} the same" if equal else ""
    if others and best > 0:
        said += f"; {others[0]['tool']} follows at {ratio(others[0]['period_seconds'] / best)}"
    return f"{said}."

"""The page of `evener compare --edges`: a comparison of methods of dividing edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evener.files.writing import write_text
from evener.io.edges import EdgeReading
from evener.planning.compare_edges import EdgeComparison
from evener.platforms.platform import Platform
from evener.reporting.comparisons import (
    Compared,
    FurtherColumns,
    Measure,
    side_by_side,
)
from evener.reporting.edge_report import KINDS
from evener.reporting.html import render
from evener.reporting.provenance import device_rows, option_rows
from evener.wording import NOTHING, count, memory, plural

EDGE_MEASURES: tuple[Measure, ...] = (
    ("copies", "copies", "of vertices, in all blocks"),
    ("most_vertices", "most vertices", "that the edges of a block touch"),
    ("imbalance", "imbalance", "worst block, work / target − 1"),
    ("cpu_seconds", "CPU", "the method's own CPU time, its repair included"),
)
EDGE_COLUMNS = (
    ("replication", "blocks that a vertex is in, on average"),
    ("block / target", "smallest and largest block relative to its target"),
    ("exchanged", "bytes that all devices send in an iteration, 8 B a value"),
)


def write_edge_comparison(
    path: str | Path,
    results: Sequence[EdgeComparison],
    reading: EdgeReading,
    platform: Platform,
    *,
    options: Mapping[str, Any],
) -> None:
    """Write a page on several methods' blocks of the same edges; equal arguments, equal bytes.

    results: of `compare_edges` for these edges. options: common to all methods.
    """
    vertices = plural(reading.edges.touched, "vertex", "vertices")
    page = render(
        "comparison.html.j2",
        view=edges_compared(results),
        what=f" of divided {KINDS[reading.of]}",
        counts=f"{vertices}, {count(reading.edges.m)} {KINDS[reading.of]}",
        platform=platform,
        options=option_rows(options),
        devices=device_rows(platform),
        inputs=reading.inputs,
    )
    write_text(path, page)


def edges_compared(results: Sequence[EdgeComparison]) -> Compared:
    """Return the page's content for these methods, those with fewest copies first."""
    ordered = sorted((_row(one) for one in results), key=_rank)
    cells = [row["cells"] for row in ordered]
    further = FurtherColumns(EDGE_COLUMNS, cells)
    return side_by_side(ordered, EDGE_MEASURES, further, best=_best, noun="method", order="copies")


def _rank(row: Mapping[str, Any]) -> tuple[bool, int]:
    return row["copies"] is None, row["copies"] or 0


def _row(result: EdgeComparison) -> dict[str, Any]:
    """Return the figures of a method; they are None if it made no blocks."""
    row: dict[str, Any] = {"tool": result.method, "family": "", "note": result.note}
    if result.plan is None:
        keys = (key for key, _, _ in EDGE_MEASURES)
        return row | dict.fromkeys(keys) | {"holds": None, "cells": [NOTHING] * len(EDGE_COLUMNS)}
    metrics, relative = result.plan.metrics, result.plan.relative_loads
    return row | {
        "holds": bool(result.plan.holds.all()),
        "copies": metrics.copies,
        "most_vertices": metrics.most_vertices,
        "imbalance": float(relative.max()) - 1,
        "cpu_seconds": result.cpu_seconds,
        "cells": [
            f"{metrics.replication:.3f}",
            f"{relative.min():.3f} to {relative.max():.3f}",
            memory(metrics.exchanged_bytes()),
        ],
    }


def _best(kept: list[Mapping[str, Any]]) -> str:
    """Return, in words, which method makes the fewest copies, and whether it is the fastest."""
    best, fastest = kept[0], min(kept, key=lambda row: row["cpu_seconds"])
    most = f"{best['tool']} makes fewest copies of vertices ({count(best['copies'])})"
    return f"{most}, and is fastest" if best is fastest else most

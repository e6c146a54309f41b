"""The page of an edge plan, and the page of `evener compare --edges`.

The first shows the work and vertices of each device, and how vertices are copied.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.files.writing import write_text
from evener.graphs.edge_list import EdgeList
from evener.io.edges import EdgeReading
from evener.planning.compare import EdgeComparison
from evener.plans.edge_partition import blocks_of_vertices
from evener.plans.edge_plan import EdgePlan
from evener.platforms.platform import Platform
from evener.reporting.bars import FOREMOST, MAX_BARS, ClassBar, name_width, place
from evener.reporting.certificates import MAX_ROWS, CertificateCell, CertificateColumn
from evener.reporting.comparisons import (
    Compared,
    FurtherColumns,
    Measure,
    side_by_side,
)
from evener.reporting.html import render
from evener.reporting.provenance import device_rows, option_rows, provenance
from evener.wording import NOTHING, count, memory, percent, plural, signed_percent, units

KINDS = {"graph": "edges", "arcs": "arcs", "matrix": "entries", "file": "edges"}
COLUMNS = (
    CertificateColumn("device", "name in the machine file"),
    CertificateColumn("holds", "whether the block is within low, high and cap"),
    CertificateColumn("low", "least work allowed [units]"),
    CertificateColumn("target", "work at which all devices finish together [units]"),
    CertificateColumn("high", "most work allowed [units]"),
    CertificateColumn("work", "work of the block's edges [units]"),
    CertificateColumn("off target", "work / target − 1"),
    CertificateColumn("edges", "of the block"),
    CertificateColumn("vertices", "vertices that the block's edges touch, including copies"),
    CertificateColumn("memory", "16 B per edge, 24 B per vertex"),
    CertificateColumn("cap", "memory of the device"),
)


class EdgeBar(NamedTuple):
    """One device: name, whether its contract holds; places on a scale [%], and texts.

    bar: length for the work, with target, low and high; vertices: length for the vertices.
    """

    name: str
    holds: bool
    bar: float
    target: float
    low: float
    high: float
    work: str
    off: str
    vertices: float
    touched: str


@dataclass(frozen=True)
class CopiesCharts:
    """How vertices are copied: by the number of their blocks, and by their degree.

    sentence: on the mean degree of copied vertices, and of all.
    """

    blocks: list[ClassBar]
    degrees: list[ClassBar]
    sentence: str


def write_edge_report(path: str | Path, plan: EdgePlan, edges: EdgeList | None = None) -> None:
    """Write the page of an edge plan; equal arguments give equal bytes.

    edges: the edges that the plan divides, for the charts of copied vertices. Raises InputError if
    they do not belong to the plan.
    """
    write_text(path, edge_report(plan, edges))


def edge_report(plan: EdgePlan, edges: EdgeList | None = None) -> str:
    """Return the page that `write_edge_report` writes."""
    bars = _bars(plan)
    return render(
        "edge_report.html.j2",
        plan=plan,
        kind=KINDS[plan.of],
        all_hold=bool(plan.holds.all()),
        figures=_figures(plan),
        bars=bars,
        shown=len(bars),
        name_width=name_width(bar.name for bar in bars),
        copies=None if edges is None else copies_charts(edges, plan),
        columns=COLUMNS,
        rows=_rows(plan),
        provenance=provenance(plan),
    )


def _figures(plan: EdgePlan) -> list[tuple[str, str, str]]:
    """Return name, value and meaning of the figures below the heading."""
    metrics, relative = plan.metrics, plan.relative_loads
    touched = count(plan.graph["touched"])
    return [
        ("copies of vertices", count(metrics.copies), f"of {touched} with an edge"),
        ("replication", f"{metrics.replication:.3f}", "blocks that contain a vertex, on average"),
        ("largest / target", f"{relative.max():.3f}", f"smallest {relative.min():.3f}"),
        ("exchanged", memory(metrics.exchanged_bytes()), "in an iteration, 8 B per value"),
        ("most vertices", count(metrics.most_vertices), "in a block"),
    ]


def _bars(plan: EdgePlan) -> list[EdgeBar]:
    """Return a bar for each device; if many, only for those farthest from their targets."""
    metrics, contract, relative = plan.metrics, plan.contract, plan.relative_loads
    chosen = np.arange(plan.platform.k)
    if plan.platform.k > MAX_BARS:
        order = np.lexsort((-np.abs(relative - 1), plan.holds))
        chosen = np.sort(order[:FOREMOST])
    loads = metrics.loads
    ends = np.maximum(loads, np.minimum(contract.high, 2 * loads.max()))
    scale = 100 / (1.02 * max(float(ends[chosen].max()), 1e-300))
    crowd = 100 / max(metrics.most_vertices, 1)
    return [
        EdgeBar(
            plan.platform.names[b],
            bool(plan.holds[b]),
            bar=place(loads[b] * scale),
            target=place(contract.targets[b] * scale),
            low=place(contract.low[b] * scale),
            high=place(contract.high[b] * scale),
            work=units(float(loads[b])),
            off=signed_percent(float(relative[b] - 1)),
            vertices=place(metrics.vertices[b] * crowd),
            touched=count(int(metrics.vertices[b])),
        )
        for b in chosen.tolist()
    ]


def copies_charts(edges: EdgeList, plan: EdgePlan) -> CopiesCharts:
    """Return charts of copied vertices. Raises InputError if the edges are not the plan's."""
    blocks = blocks_of_vertices(edges, plan.partition)
    used = np.flatnonzero(blocks)
    blocks, degrees = blocks[used].astype(np.int64), edges.degrees[used]
    copied = blocks > 1
    sentence = "No vertex is copied."
    if copied.any():
        sentence = (
            f"{percent(float(copied.mean()))} of the vertices are copied; these have "
            f"{degrees[copied].mean():.1f} {KINDS[plan.of]} on average, all vertices "
            f"{degrees.mean():.1f}."
        )
    return CopiesCharts(_by_blocks(blocks), _by_degree(degrees, blocks), sentence)


def _by_blocks(blocks: IntArray) -> list[ClassBar]:
    """Return a bar for each class of numbers of blocks: the number of its vertices."""
    classes = _classes(blocks)
    sizes = np.bincount(classes)
    most = max(int(sizes.max(initial=0)), 1)
    return [
        ClassBar(_range_of(i), place(100 * size / most), count(size))
        for i, size in enumerate(sizes.tolist())
        if size
    ]


def _by_degree(degrees: IntArray, blocks: IntArray) -> list[ClassBar]:
    """Return a bar for each class of degrees: the mean number of blocks of its vertices."""
    classes = _classes(degrees)
    sizes = np.bincount(classes)
    means: FloatArray = np.bincount(classes, blocks) / np.maximum(sizes, 1)
    most = max(float(means.max(initial=0)), 1.0)
    return [
        ClassBar(_range_of(i), place(100 * mean / most), f"{mean:.2f}")
        for i, (size, mean) in enumerate(zip(sizes.tolist(), means.tolist(), strict=True))
        if size
    ]


def _classes(numbers: IntArray) -> IntArray:
    """Return the class of each number >= 1, (n,).

    Classes are 1, 2, 3 to 4, 5 to 8, 9 to 16, and so on.
    """
    return np.ceil(np.log2(numbers.astype(np.float64))).astype(np.int64)


def _range_of(i: int) -> str:
    """Return the numbers of a class as text."""
    low, high = (2 ** (i - 1) + 1 if i else 1), 2**i
    return count(high) if low == high else f"{count(low)} to {count(high)}"


def _rows(plan: EdgePlan) -> list[tuple[CertificateCell, ...]]:
    """Return a row for each device; if very many, those that break their contract come first."""
    k, relative = plan.platform.k, plan.relative_loads
    chosen = np.arange(k)
    if k > MAX_ROWS:
        chosen = np.sort(np.lexsort((-np.abs(relative - 1), plan.holds))[:MAX_ROWS])
    return [_row(plan, b, float(relative[b])) for b in chosen.tolist()]


def _row(plan: EdgePlan, b: int, relative: float) -> tuple[CertificateCell, ...]:
    metrics, contract = plan.metrics, plan.contract
    cap, needed = float(contract.caps[b]), float(metrics.bytes[b])
    limits = contract.low, contract.targets, contract.high, metrics.loads
    return (
        CertificateCell(plan.platform.names[b]),
        CertificateCell("yes" if plan.holds[b] else "no"),
        *(CertificateCell(units(round(float(one[b]), 4)), float(one[b])) for one in limits),
        CertificateCell(signed_percent(relative - 1), relative),
        CertificateCell(count(int(metrics.edges[b])), int(metrics.edges[b])),
        CertificateCell(count(int(metrics.vertices[b])), int(metrics.vertices[b])),
        CertificateCell(memory(needed), needed),
        CertificateCell(memory(cap), cap) if np.isfinite(cap) else CertificateCell(NOTHING),
    )


EDGE_MEASURES: tuple[Measure, ...] = (
    ("copies", "copies", "copies of vertices, in all blocks"),
    ("most_vertices", "most vertices", "vertices that the edges of a block touch"),
    ("imbalance", "imbalance", "worst block, work / target − 1"),
    ("cpu_seconds", "CPU", "CPU time of the method, including its repair"),
)
EDGE_COLUMNS = (
    ("replication", "blocks that contain a vertex, on average"),
    ("block / target", "smallest and largest block relative to its target"),
    ("exchanged", "bytes that all devices send in an iteration, 8 B per value"),
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
    ordered = sorted((_comparison_row(one) for one in results), key=_rank)
    cells = [row["cells"] for row in ordered]
    further = FurtherColumns(EDGE_COLUMNS, cells)
    return side_by_side(ordered, EDGE_MEASURES, further, best=_best, noun="method", order="copies")


def _rank(row: Mapping[str, Any]) -> tuple[bool, int]:
    return row["copies"] is None, row["copies"] or 0


def _comparison_row(result: EdgeComparison) -> dict[str, Any]:
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

"""The options by which commands read edges to be divided; the figures of an edge plan."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from evener.cli.graph_options import (
    ReadOptions,
    add_reading_options,
    beside,
    recorded_options,
)
from evener.cli.options import add_options, option

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.io.edges import EdgeReading
    from evener.plans.edge_plan import EdgePlan

KINDS = ("graph", "arcs", "matrix")
SHOWN = 40  # devices in a table


@dataclass(frozen=True)
class EdgeOptions:
    """What of a file is divided: of and weighted as of `read_edges`; reading: as of `read`."""

    of: str = option(
        "divide each edge once (graph, default), each arc (arcs: lines and entries have a "
        "direction), or the stored entries of a matrix (matrix)",
        "--as",
        default="graph",
        choices=KINDS,
    )
    weighted: bool = option(
        "the work of an edge is its weight, that of an entry its value (default: one unit)",
        default=False,
    )
    reading: ReadOptions = field(default_factory=ReadOptions)


def add_edge_options(parser: argparse.ArgumentParser) -> None:
    """Add --as and --weighted, and the options by which a graph is read."""
    add_options(parser, EdgeOptions)
    add_reading_options(parser)


def read_edges_as(
    path: str, options: EdgeOptions, out: Output, *, has_notes: bool = True
) -> EdgeReading:
    """Read `path` as the options say, with a progress bar; notes on the file go to stderr.

    has_notes: False where the same file was read before, and they are known.
    """
    from evener.io.edges import read_edges

    with out.progress(f"Reading {path}") as progress:
        given = {key: value for key, value in asdict(options.reading).items() if value is not None}
        reading = read_edges(
            path, of=options.of, weighted=options.weighted, progress=progress, **given
        )
    for note in reading.notes if has_notes else ():
        out.note(f"note: {note}")
    return reading


def edge_options_of(plan: EdgePlan, given: ReadOptions, path: str, file: str) -> EdgeOptions:
    """Return how `plan`, read from `file`, read its edges, for reading them again from `path`.

    Options in `given` come first. Raises InputError where the plan holds unknown read options.
    """
    record = plan.options.get("reading", {})
    recorded = recorded_options(record if isinstance(record, Mapping) else {}, file)
    chosen = {key: value for key, value in asdict(given).items() if value is not None}
    reading = replace(recorded, **{**beside(path, recorded), **chosen})
    return EdgeOptions(plan.of, bool(plan.options.get("weighted", False)), reading)


def print_blocks(plan: EdgePlan, out: Output) -> None:
    """Print a row for each device: its work, how far off its target it is, vertices, memory."""
    from evener.wording import memory, signed_percent

    relative, metrics = plan.relative_loads, plan.metrics
    rows = [
        [
            name,
            f"{metrics.loads[b]:,.6g}" if metrics.loads[b] % 1 else f"{metrics.loads[b]:,.0f}",
            signed_percent(relative[b] - 1),
            f"{metrics.vertices[b]:,}",
            memory(metrics.bytes[b]),
        ]
        for b, name in enumerate(plan.platform.names)
    ]
    what = "work" if plan.options.get("weighted") else "edges"
    columns = ("device", what, "off target", "vertices", "memory")
    out.table(columns, rows, most=SHOWN, what="devices")


def edge_figures(plan: EdgePlan) -> dict[str, Any]:
    """Return the figures of an edge plan for --json; lists have an entry for each device."""
    relative, metrics = plan.relative_loads, plan.metrics
    return {
        "copies": metrics.copies,
        "replication": metrics.replication,
        "smallest": float(relative.min()),
        "largest": float(relative.max()),
        "most_vertices": metrics.most_vertices,
        "exchanged_bytes": metrics.exchanged_bytes(),
        "n_edges": plan.partition.m,
        "n_vertices": int(plan.graph["touched"]),
        "loads": metrics.loads.tolist(),
        "edges": metrics.edges.tolist(),
        "vertices": metrics.vertices.tolist(),
        "bytes": metrics.bytes.tolist(),
        "holds": bool(plan.holds.all()),
        "of": plan.of,
        "verdict": plan.verdict(),
    }

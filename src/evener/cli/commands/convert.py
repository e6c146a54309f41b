"""`evener convert`: write a graph, matrix or mesh as a graph in another format."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from evener.cli.graph_options import add_reading_options, read_options_from, read_workload

if TYPE_CHECKING:
    from evener.cli.output import Output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    from evener.io.formats import FORMATS

    written = [entry.name for entry in FORMATS if entry.writes]
    parser.add_argument("source", metavar="A", help="graph, matrix or mesh to read")
    parser.add_argument(
        "target", metavar="B", help="file to write; .zst, .gz, .xz, .bz2 compress it"
    )
    parser.add_argument("--to", choices=written, help="format of B (default: by its suffix)")
    add_reading_options(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Read A, write B, return 0."""
    from evener.io.write import write_graph, writer_for

    target = Path(args.target)
    entry = writer_for(
        target, args.to, directed=bool(args.directed)
    )  # checked before a long reading
    reading = read_workload(args.source, read_options_from(args), out)
    graph = reading.graph
    left_out = write_graph(target, graph, entry.name)
    for note in left_out:
        out.note(f"note: {note}")
    what = "edges" if graph.symmetric else "arcs"
    out.say(f"{target}: {entry.name}, {graph.n:,} vertices, {graph.m:,} {what}")
    out.result(
        {
            "file": target.name,
            "format": entry.name,
            "from": reading.format,
            "n": graph.n,
            "m": graph.m,
            "notes": [*reading.notes, *left_out],
        }
    )
    return 0

"""`evener convert`: write a graph, matrix, mesh or stream graph in another format."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from evener.cli.graph_options import add_reading_options, read_options_from, read_workload
from evener.errors import UsageError

if TYPE_CHECKING:
    from evener.cli.output import Output

OF_STREAMS = ("toml", "graphml")  # which no other graph is written in


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    from evener.io.formats import FORMATS

    written = [entry.name for entry in FORMATS if entry.writes]
    parser.add_argument(
        "source", metavar="INPUT", help="graph, matrix, mesh or stream graph to read"
    )
    parser.add_argument(
        "target", metavar="OUTPUT", help="file to write; .zst, .gz, .xz, .bz2 compress it"
    )
    parser.add_argument(
        "--to", choices=[*written, *OF_STREAMS], help="format of OUTPUT (default: by its suffix)"
    )
    parser.add_argument(
        "--stream",
        action="store_true",
        help="INPUT is a stream graph, with filters; so it is where OUTPUT is TOML or GraphML",
    )
    add_reading_options(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Read the input, write the output, return 0."""
    target = Path(args.target)
    if args.stream or args.to in OF_STREAMS or (args.to is None and _names_stream(target)):
        given = replace(read_options_from(args), by=None).recorded()
        if given or args.by != "cells":
            option = next(iter(given), "by").replace("_", "-")
            raise UsageError(f"--{option} is not for stream graphs")
        return _convert_stream(args.source, target, args.to, out)
    from evener.io.write import write_graph, writer_for

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


def _names_stream(target: Path) -> bool:
    from evener.io.write import without_packing

    return without_packing(target).suffix.lower().removeprefix(".") in OF_STREAMS


def _convert_stream(source: str, target: Path, to: str | None, out: Output) -> int:
    from evener.io.dataflow.reading import read_stream_graph
    from evener.io.dataflow.writing import stream_writer_for, write_stream_graph
    from evener.wording import plural

    name = stream_writer_for(target, to)
    reading = read_stream_graph(source)
    for note in reading.notes:
        out.note(f"note: {note}")
    graph = reading.graph
    write_stream_graph(target, graph, name)
    out.say(f"{target}: {name}, {plural(graph.n, 'filter')}, {plural(graph.m, 'edge')}")
    out.result(
        {
            "file": target.name,
            "format": name,
            "from": reading.format,
            "n": graph.n,
            "m": graph.m,
            "notes": list(reading.notes),
        }
    )
    return 0

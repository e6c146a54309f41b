"""`evener convert`: write a graph, matrix, mesh or stream graph in another format."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from evener.cli.graph_options import ReadOptions, add_reading_options, read_workload
from evener.cli.options import options_from
from evener.cli.values import size_in_bytes
from evener.errors import UsageError
from evener.files.writing import refuse_unwritable

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.io.converting.convert import Converted

LEAST_MEMORY = 2**26  # bytes: blocks of text and what is parsed of them
OF_STREAMS = ("toml", "graphml")  # which no other graph is written in


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    from evener.io.formats import FORMATS

    written = [entry.name for entry in FORMATS if entry.writes]
    parser.add_argument(
        "source", metavar="INPUT", help="graph, matrix, mesh or stream graph to read"
    )
    parser.add_argument(
        "target", nargs="?", metavar="OUTPUT",
        help="file to write; .zst, .gz, .xz, .bz2 compress it",
    )  # fmt: skip
    parser.add_argument("-o", "--output", metavar="OUTPUT", help="another way to give OUTPUT")
    parser.add_argument(
        "--to", choices=[*written, *OF_STREAMS], help="format of OUTPUT (default: by its suffix)"
    )
    parser.add_argument(
        "--stream",
        action="store_true",
        help="INPUT is a stream graph (implied if OUTPUT is TOML or GraphML)",
    )
    parser.add_argument(
        "--memory",
        type=size_in_bytes,
        metavar="SIZE",
        help="working memory if OUTPUT is .ecsr, such as 500MiB (default 1GiB); refused for an "
        "INPUT that cannot be read in pieces",
    )
    add_reading_options(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Read the input, write the output, return 0."""
    if (args.target is None) == (args.output is None):
        raise UsageError("give OUTPUT exactly once", hint="evener convert INPUT OUTPUT")
    target = Path(args.target or args.output)
    refuse_unwritable(target)  # before a long reading; INPUT itself may be replaced
    if args.memory is not None and args.memory < LEAST_MEMORY:
        raise UsageError("--memory must be at least 64MiB")
    if args.stream or args.to in OF_STREAMS or (args.to is None and _names_stream(target)):
        given = replace(options_from(args, ReadOptions), by=None).recorded()
        if given or args.by != "cells":
            option = next(iter(given), "by").replace("_", "-")
            raise UsageError(f"--{option} does not apply to stream graphs")
        return _convert_stream(args.source, target, args.to, out)
    from evener.io.sources import PACKINGS
    from evener.io.write import write_graph, writer_for

    entry = writer_for(
        target, args.to, directed=bool(args.directed)
    )  # checked before a long reading
    if entry.name == "ecsr":
        is_packed = target.suffix in PACKINGS
        if is_packed and args.memory is not None:
            raise UsageError("--memory does not work with a compressed OUTPUT")
        options = options_from(args, ReadOptions)
        if not is_packed and _convert_in_pieces(args.source, target, options, args.memory, out):
            return 0
    if args.memory is not None and entry.name != "ecsr":
        raise UsageError(f"--memory works with the format ecsr only, not {entry.name}")
    reading = read_workload(args.source, options_from(args, ReadOptions), out)
    graph = reading.graph
    left_out = write_graph(target, graph, entry.name)
    for note in left_out:
        out.note(f"note: {note}")
    what = "edges" if graph.symmetric else "arcs"
    from evener.io.converting.convert import Converted

    made = Converted(graph.n, graph.m, reading.format, (*reading.notes, *left_out))
    _say(made, target, entry.name, what, out)
    return 0


def _say(made: Converted, target: Path, name: str, what: str, out: Output) -> None:
    out.say(f"{target}: {name}, {made.n:,} vertices, {made.m:,} {what}")
    out.result(
        {
            "file": target.name,
            "format": name,
            "from": made.format,
            "n": made.n,
            "m": made.m,
            "notes": list(made.notes),
        }
    )


def _convert_in_pieces(
    source: str, target: Path, options: ReadOptions, memory: int | None, out: Output
) -> bool:
    """Write a binary CSR file without reading the whole input; return whether that is possible.

    Raises UsageError if it is impossible and a memory limit was given.
    """
    from evener.io.converting.convert import MEMORY, convert_to_csr
    from evener.io.converting.vertices import VertexFiles
    from evener.io.graphs.streams import WholeNeeded

    vertices = VertexFiles(
        options.coords,
        options.weights,
        options.constraint,
        options.bytes_per_vertex,
        options.bytes_per_edge,
    )
    try:
        with out.progress(f"Converting {source}") as progress:
            made = convert_to_csr(
                source,
                target,
                format=options.format,
                vertices=vertices,
                memory=memory or MEMORY,
                progress=progress,
            )
    except WholeNeeded as reason:
        if memory is None:
            return False
        raise UsageError(
            f"{source} cannot be read in pieces: {reason}",
            hint="Leave out --memory to read it whole.",
        ) from reason
    for note in made.notes:
        out.note(f"note: {note}")
    _say(made, target, "ecsr", "edges", out)
    return True


def _names_stream(target: Path) -> bool:
    from evener.io.sources import without_packing

    return without_packing(target).suffix.lower().removeprefix(".") in OF_STREAMS


def _convert_stream(source: str, target: Path, to: str | None, out: Output) -> int:
    from evener.io.dataflow.reading import read_stream_graph, stream_writer_for, write_stream_graph
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

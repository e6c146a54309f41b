"""The options by which every command reads its mesh, matrix or graph."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.filing import Reading


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """Add --by, --coords, --weights, --format, --constraint and the bytes options."""
    group = parser.add_argument_group("reading")
    group.add_argument(
        "--by",
        choices=("cells", "points"),
        default="cells",
        help="divide a mesh by its cells (default) or its points",
    )
    group.add_argument("--coords", metavar="FILE", help="coordinates of the vertices")
    group.add_argument(
        "--weights",
        metavar="FILE|cell:NAME",
        help="work per vertex: a file (FILE:COLUMN for one of several) or a mesh file's cell field",
    )
    group.add_argument("--format", metavar="NAME", help="the file's format, where not recognised")
    group.add_argument(
        "--constraint", type=int, metavar="I", help="which of several vertex weights, from 0"
    )
    group.add_argument(
        "--bytes-per-vertex", type=float, metavar="B", help="memory a vertex costs (default 24)"
    )
    group.add_argument(
        "--bytes-per-edge",
        type=float,
        metavar="B",
        help="memory an edge costs at each end (default 12)",
    )


def read_workload(path: str, args: argparse.Namespace, out: Output) -> Reading:
    """Read `path` as the options say, with a progress bar; remarks go to stderr."""
    from evener.filing import read

    with out.progress(f"Reading {path}") as progress:
        reading = read(
            path,
            by=args.by,
            coords=args.coords,
            weights=args.weights,
            format=args.format,
            constraint=args.constraint,
            bytes_per_vertex=args.bytes_per_vertex,
            bytes_per_edge=args.bytes_per_edge,
            progress=progress,
        )
    for note in reading.notes:
        out.note(f"note: {note}")
    return reading

"""The options by which every command reads its mesh, matrix or graph."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, NamedTuple

from evener.errors import UsageError

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.io import Reading


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
    from evener.io import read

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


# The load that sizes are asked for: a number of units, or that of a graph.


class Load(NamedTuple):
    """Whole units, and the memory that each takes [B]."""

    n: int
    bytes_per_unit: float


def check_load(args: argparse.Namespace) -> None:
    """Raise UsageError unless --n or --graph says the load, with options that go along."""
    if (args.n is None) == (args.graph is None):
        raise UsageError("the load is either --n N or --graph FILE")
    if args.n is not None and args.n < 1:
        raise UsageError(f"--n must be above zero, not {args.n}")
    if args.edges < 0:
        raise UsageError(f"--edges must not be negative, is {args.edges}")
    if args.graph is not None and args.edges:
        raise UsageError("--edges goes with --n; a graph knows its edges")


def load_of(args: argparse.Namespace, out: Output) -> Load:
    """Return the load. Raises UsageError for weights that do not add up to whole units."""
    check_load(args)
    if args.graph is None:
        return Load(args.n, bytes_per_unit(args))
    graph = read_workload(args.graph, args, out).graph
    load = float(graph.weights(0).sum())
    if load < 1 or load != int(load):
        raise UsageError(
            f"the vertices of {args.graph} weigh {load:g} in all, and sizes by curves are whole",
            hint="`evener plan --speeds` divides any weights.",
        )
    return Load(int(load), graph.total_bytes / load)


def bytes_per_unit(args: argparse.Namespace) -> float:
    """Return the memory of each of --n vertices with its share of --edges [B]."""
    from evener.graphs.graph import BYTES_PER_EDGE, BYTES_PER_VERTEX

    per_vertex = BYTES_PER_VERTEX if args.bytes_per_vertex is None else args.bytes_per_vertex
    per_edge = BYTES_PER_EDGE if args.bytes_per_edge is None else args.bytes_per_edge
    for option, value in (("--bytes-per-vertex", per_vertex), ("--bytes-per-edge", per_edge)):
        if not 0 <= value < math.inf:
            raise UsageError(f"{option} must be a number, zero or above, not {value}")
    # An edge is stored at both of its ends.
    return float(per_vertex + per_edge * (2 * args.edges / args.n))

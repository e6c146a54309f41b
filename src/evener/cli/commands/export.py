"""`evener export`: write a plan's partition in a solver's format."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from evener.cli.edges import edge_file_options_from, export_edges
from evener.cli.filters import export_filters, stream_file_options_from
from evener.cli.graph_options import add_rereading_options
from evener.cli.options import options_from
from evener.cli.part_files import PartFileOptions, export_part, export_to_program
from evener.cli.values import refuse_outputs
from evener.errors import UsageError

if TYPE_CHECKING:
    from evener.cli.output import Output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("plan", metavar="PLAN", help="a plan file")
    parser.add_argument(
        "mesh",
        nargs="?",
        metavar="MESH",
        help="the file it was made from, or OpenFOAM's case (some formats need it)",
    )
    parser.add_argument("--to", required=True, metavar="FORMAT", help=_formats())
    parser.add_argument(
        "-o",
        "--output",
        metavar="TARGET",
        help="file or folder (default for openfoam: the case MESH)",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="replace existing files",
    )
    add_rereading_options(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Write `part[v]`, the index of v's device in the machine's order, as asked."""
    from evener.integrations.exports import EXPORTERS
    from evener.io.plans.edge_exports import LISTS

    edges = edge_file_options_from(args, args.mesh)
    filters = stream_file_options_from(args, args.mesh)
    options = options_from(args, PartFileOptions)
    if edges is None and filters is None and args.to in EXPORTERS:
        return export_to_program(options, out)
    if args.output is None:
        raise UsageError("the following arguments are required: -o/--output")
    if args.to != LISTS:  # which is a folder
        refuse_outputs([args.output], [args.plan, args.mesh, args.coords])
    if filters is not None:
        return export_filters(filters, args.to, args.output, out)
    if edges is not None:
        return export_edges(edges, args.to, args.output, out)
    return export_part(options, args.output, out)


def _formats() -> str:
    from evener.integrations.exports import EXPORTERS
    from evener.io.dataflow.placed import NUMBERS, PLACED
    from evener.io.plans.edge_exports import EDGE_EXPORTS, LISTS
    from evener.io.plans.partitions import EXPORTS

    edges, filters = ", ".join((*EDGE_EXPORTS, LISTS)), ", ".join((*PLACED, *NUMBERS))
    vertices = ", ".join(dict.fromkeys((*EXPORTS, *EXPORTERS)))
    return f"{vertices}; of an edge plan {edges}; of a stream plan {filters}"

"""`evener export`: write a plan's partition in a solver's format."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from evener.cli.graph_options import ReadOptions, add_rereading_options
from evener.cli.kinds import kind_of
from evener.cli.kinds.plan_file import ExportOptions, PlanFile
from evener.cli.options import options_from

if TYPE_CHECKING:
    from evener.cli.output import Output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("plan", metavar="PLAN", help="a plan file")
    parser.add_argument(
        "mesh",
        nargs="?",
        metavar="MESH",
        help="the file that the plan was made from, or OpenFOAM's case (some formats need it)",
    )
    parser.add_argument("--to", required=True, metavar="FORMAT", help=_formats())
    parser.add_argument(
        "-o",
        "--output",
        metavar="TARGET",
        help="file or folder (default for openfoam and pyfr: MESH)",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="replace existing files",
    )
    add_rereading_options(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Write the device of each vertex, edge or filter in the requested format."""
    file = PlanFile(args.plan, args.mesh, options_from(args, ReadOptions))
    return kind_of(file.plan).export(file, options_from(args, ExportOptions), out)


def _formats() -> str:
    from evener.integrations.exports import EXPORTERS
    from evener.io.dataflow.placed import NUMBERS, PLACED
    from evener.io.plans.edge_exports import EDGE_EXPORTS, LISTS
    from evener.io.plans.partitions import PART_FORMATS

    edges, filters = ", ".join((*EDGE_EXPORTS, LISTS)), ", ".join((*PLACED, *NUMBERS))
    vertices = ", ".join(dict.fromkeys((*PART_FORMATS, *EXPORTERS)))
    return f"{vertices}; of an edge plan {edges}; of a stream plan {filters}"

"""`evener compare`: several partitioners side by side."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from evener.cli.kinds import KINDS
from evener.cli.kinds.edges import add_edge_options
from evener.cli.kinds.filters import add_search_seconds, add_stream_reading
from evener.cli.machines import add_machine_options
from evener.cli.options import given_options_from
from evener.cli.plan_options import add_plan_options
from evener.cli.values import page

if TYPE_CHECKING:
    from evener.cli.output import Output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("graph", metavar="GRAPH", help="a mesh, matrix or graph file")
    parser.add_argument(
        "--with",
        dest="tools",
        metavar="TOOL,TOOL,...",
        help="partitioners (default: all installed), or methods of --edges or --stream",
    )
    parser.add_argument("--report", type=page, metavar="X.html", help="also write an HTML page")
    parser.add_argument(
        "--edges",
        action="store_true",
        help="divide edges instead of vertices; --with names methods of `evener split`",
    )
    parser.add_argument(
        "--stream",
        action="store_true",
        help="compare mappings of a stream graph's filters; --with names methods of `evener map`",
    )
    add_stream_reading(parser)
    add_search_seconds(parser)
    add_machine_options(parser)
    add_plan_options(parser)
    add_edge_options(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Run every tool with the same targets and contract; exit 0 even if a tool fails."""
    given = given_options_from(args, add_arguments)
    for kind in KINDS.values():
        options = kind.comparison_options_from(args, given)
        if options is not None:
            return kind.compare(options, out)
    raise AssertionError("no kind of plan accepts the options")

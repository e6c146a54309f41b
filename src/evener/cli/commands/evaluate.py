"""`evener evaluate`: evaluate a partition from any tool."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from evener.cli.graph_options import add_reading_options
from evener.cli.judged import add_judging_options
from evener.cli.kinds import KINDS
from evener.cli.kinds.edges import EdgeOptions
from evener.cli.kinds.filters import add_stream_reading
from evener.cli.machines import add_machine_options
from evener.cli.options import add_options, given_options_from

if TYPE_CHECKING:
    from evener.cli.output import Output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("graph", metavar="GRAPH", help="a mesh, matrix or graph file")
    parser.add_argument(
        "part",
        metavar="PART",
        help="a partition file: METIS, Scotch, npy, npz, csv, json, OpenFOAM, or a plan",
    )
    parser.add_argument(
        "--as",
        dest="plan",
        metavar="X.plan",
        help="a plan, whose machine, kernel, contract and reading options apply; with --edges, "
        "either a plan or a kind of edges: graph, arcs, matrix, file",
    )
    parser.add_argument(
        "--edges",
        action="store_true",
        help="PART holds a block for each edge, in the order of `evener split` (implied by a plan "
        "of edges)",
    )
    parser.add_argument(
        "--stream",
        action="store_true",
        help="GRAPH is a stream graph, and PART holds the device of each filter, by number or name "
        "(implied by a plan of `evener map`)",
    )
    add_stream_reading(parser)
    add_options(parser, EdgeOptions, ["weighted"])
    add_machine_options(parser)
    add_judging_options(parser)
    add_reading_options(parser)
    parser.set_defaults(epsilon=None, by=None)  # None: as the plan has them


def run(args: argparse.Namespace, out: Output) -> int:
    """Read graph and partition, evaluate, print; the exit code does not depend on the contract."""
    given = given_options_from(args, add_arguments)
    for kind in KINDS.values():
        options = kind.evaluation_options_from(args, given)
        if options is not None:
            return kind.evaluate(options, out)
    raise AssertionError("no kind of plan accepts the options")

"""`evener replay`: make a plan or decisions again, and report whether they are identical."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from evener.cli.differences import SHOWN
from evener.cli.graph_options import ReadOptions, add_rereading_options
from evener.cli.kinds import kind_of
from evener.cli.kinds.plan_file import PlanFile
from evener.cli.options import options_from

if TYPE_CHECKING:
    from evener.cli.output import Output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("plan", metavar="PLAN", help="a plan file or a decision log")
    parser.add_argument("graph", nargs="?", metavar="GRAPH", help="the file a plan was made from")
    add_rereading_options(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Exit 0 if identical, 3 if the input differs, 5 if only the result differs."""
    from evener.rebalancing.decision_log import is_decisions

    if is_decisions(args.plan):
        return _decisions(args.plan, args.graph, out)
    file = PlanFile(args.plan, args.graph, options_from(args, ReadOptions))
    return kind_of(file.plan).replay(file, out)


def _decisions(file: str, graph: str | None, out: Output) -> int:
    """Make the decisions of a log again from its measurements; this needs no graph."""
    from evener.errors import ToolError, UsageError
    from evener.rebalancing.decision_log import read_decisions, replay

    if graph is not None:
        raise UsageError("replay of a decision log takes no graph", hint=f"Leave out {graph}.")
    log = read_decisions(file)
    made = replay(log)
    out.result({"identical": not made.differences, "differences": made.differences,
                "decisions": made.decisions, "moves": made.moves, "cut": log.cut})  # fmt: skip
    if made.differences:
        raise ToolError(f"not identical: {'; '.join(made.differences[:SHOWN])}", file=file)
    cut = " The last line was cut off, and is left out." if log.cut else ""
    out.say(f"Identical: {made.decisions:,} decisions, {made.moves:,} of them to move.{cut}")
    return 0

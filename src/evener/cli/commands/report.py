"""`evener report`: write the HTML report of a plan, or of a decision log."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from evener.cli.graph_options import ReadOptions, add_rereading_options
from evener.cli.kinds import kind_of
from evener.cli.kinds.plan_file import PlanFile
from evener.cli.options import options_from
from evener.cli.values import page, refuse_outputs
from evener.files.opening import is_stdin

if TYPE_CHECKING:
    from evener.cli.output import Output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("plan", metavar="PLAN", help="a plan file or a decision log")
    parser.add_argument(
        "mesh", nargs="?", metavar="MESH", help="the file it was made from, for the picture"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=page,
        metavar="X.html",
        help="the page (default: the file's name with .html)",
    )
    add_rereading_options(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Read the plan and, for the picture, its graph; write the page."""
    from evener.rebalancing.decision_log import is_decisions

    stem = "stdin" if is_stdin(args.plan) else Path(args.plan).with_suffix("")
    output = args.output or f"{stem}.html"
    refuse_outputs([output], [args.plan, args.mesh, args.coords])
    if is_decisions(args.plan):
        return _of_decisions(args.plan, args.mesh, output, out)
    file = PlanFile(args.plan, args.mesh, options_from(args, ReadOptions))
    return kind_of(file.plan).report(file, output, out)


def _of_decisions(file: str, mesh: str | None, output: str, out: Output) -> int:
    """Write the report of a decision log."""
    from evener.errors import UsageError
    from evener.rebalancing.decision_log import read_decisions
    from evener.reporting.decisions import write_decisions

    if mesh is not None:
        raise UsageError("the report of a decision log shows no mesh", hint=f"Leave out {mesh}.")
    verdict = write_decisions(output, read_decisions(file))
    out.say(f"{verdict}.")
    out.say(f"Written: {output}")
    out.result({"verdict": verdict, "written": output, "picture": False})
    return 0

"""The options of commands that make a plan."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from evener.cli.judged import WorkloadOptions, add_judging_options
from evener.cli.options import options_from
from evener.cli.values import seed, share

if TYPE_CHECKING:
    from evener.planning.options import PlanOptions


def add_plan_options(parser: argparse.ArgumentParser, *, seconds: bool = False) -> None:
    """Add the options that `plan_options_from` returns.

    seconds: whether the objective "seconds" may be chosen; it is then the default if links are
    stated.
    """
    parser.add_argument(
        "--objective",
        choices=("cut", "total_volume", "max_volume", *(["seconds", "auto"] if seconds else [])),
        default="auto" if seconds else "cut",
        help="what to minimise; max_volume only by Evener's own partitioner (default auto: seconds "
        "if the machine file has links and neither --with nor --method is given, else cut)"
        if seconds
        else "what to minimise; max_volume only by Evener's own partitioner (default cut)",
    )
    add_effort_options(parser)
    parser.add_argument(
        "--method",
        dest="sizing",
        choices=("auto", "constant", "gpa", "npa", "exact"),
        default="auto",
        help="how speed curves become sizes, with --speeds FILE (default auto)",
    )
    parser.add_argument("--connected", action="store_true", help="make every block connected")
    parser.add_argument(
        "--map",
        dest="mapping",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="if links differ, map blocks to devices according to the data they exchange "
        "(default yes)",
    )
    if seconds:
        parser.add_argument(
            "--alike",
            type=share,
            default=0.01,
            metavar="A",
            help="plans whose predicted seconds differ by less than this share count as equally "
            "fast; among these, choose the plan with the least volume and cut (default 0.01)",
        )
    parser.add_argument(
        "--time-limit",
        type=float,
        default=600.0,
        metavar="S",
        help="stop a tool after S seconds (default 600)",
    )
    add_judging_options(parser)


def add_effort_options(parser: argparse.ArgumentParser, preset: str = "effort") -> None:
    """Add --preset, --seed and --threads."""
    parser.add_argument(
        "--preset",
        choices=("fast", "default", "strong"),
        default="default",
        help=f"{preset} (default: default)",
    )
    parser.add_argument(
        "--seed",
        type=seed,
        default=7,
        help="random seed; the same seed gives the same result (default 7)",
    )
    parser.add_argument("--threads", type=int, default=2, help="threads a tool may use (default 2)")


def plan_options_from(args: argparse.Namespace, tool: str) -> PlanOptions:
    """Return the given options for a command that plans with the tool of this name."""
    from evener.partitioning.tools import SLICED_TOOLS, find_tool
    from evener.planning.options import PlanOptions

    if tool != "auto" and tool not in SLICED_TOOLS:
        find_tool(tool)  # before anything is read
    workload = options_from(args, WorkloadOptions).workload()
    return options_from(args, PlanOptions, tool=tool, workload=workload)

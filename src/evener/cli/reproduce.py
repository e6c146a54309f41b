"""`evener reproduce`: a paper's tables and figures, what it says beside what we see."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evener.cli.output import Output, Progress
    from evener.reproducing.findings import Result

PAPERS = ("fupermod",)
TRIALS, FEW_TRIALS = 20, 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the paper, and where results go."""
    parser.add_argument("paper", choices=PAPERS, metavar="PAPER", help="fupermod")
    parser.add_argument(
        "--fast", action="store_true", help="fewer sizes or trials of each experiment"
    )
    parser.add_argument(
        "--here",
        action="store_true",
        help="predict and measure iterations on two cores of this computer instead (minutes)",
    )
    parser.add_argument(
        "-o", "--output", metavar="FOLDER", help="write plots, a page and the numbers there"
    )


def run(args: argparse.Namespace, out: Output) -> int:
    """Run the experiments, show what was found, write what was asked."""
    from evener.reproducing.fupermod import EMULATED, reproduce, write_result

    where = "this computer" if args.here else EMULATED
    with out.progress(f"Reproducing {args.paper}") as progress:
        result = _measured(args, progress) if args.here else reproduce(args.fast, progress)
        written = write_result(args.output, result, where) if args.output else []
    if args.here:
        _show_errors(result, out)
    findings = list(result.findings)
    for finding in findings:
        out.say(f"{finding.where}{'' if finding.holds else ' - NOT REPRODUCED'}")
        out.say(f"  it says  {finding.paper}\n  we see   {finding.ours}", hang=9)
    held = sum(finding.holds for finding in findings)
    out.say(f"{held} of {len(findings)} statements reproduced, in kind, on {where}")
    if written:
        out.say(f"Written: {args.output}: {', '.join(written)}")
    out.result(
        {
            "paper": args.paper,
            "findings": [vars(finding) for finding in findings],
            "tables": dict(result.tables),
            "written": written,
        }
    )
    return 0


def _measured(args: argparse.Namespace, progress: Progress) -> Result:
    from evener.reproducing.here import predicted_and_measured
    from evener.reproducing.here_errors import found_here

    return found_here(predicted_and_measured(FEW_TRIALS if args.fast else TRIALS, progress))


def _show_errors(result: Result, out: Output) -> None:
    """Print errors, median and nine tenths, by program and size."""
    from evener.reporting.numbers import count, duration, percent

    kinds = {"predicted": "error", "model": "by old models", "null": "null pair"}
    rows = [
        (
            f"{row['program']}, {row['units']}",
            count(float(row["trials"])),
            duration(float(row["measured_s"])),
            *(
                percent(float(row[f"{kind}_{what}"]))
                for kind in kinds
                for what in ("median", "p90")
            ),
        )
        for row in result.tables["errors"]
    ]
    heads = [head for name in kinds.values() for head in (f"{name}: median", "90 %")]
    out.table(("program, units", "trials", "iteration", *heads), rows)

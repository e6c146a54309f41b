"""`evener reproduce`: a paper's tables and figures, what it says beside what we see."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evener.cli.output import Output

PAPERS = ("fupermod",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the paper, and where results go."""
    parser.add_argument("paper", choices=PAPERS, metavar="PAPER", help="fupermod")
    parser.add_argument("--fast", action="store_true", help="fewer sizes of each experiment")
    parser.add_argument(
        "-o", "--output", metavar="FOLDER", help="write plots, a page and the numbers there"
    )


def run(args: argparse.Namespace, out: Output) -> int:
    """Run the experiments, show what was found, write what was asked."""
    from evener.reproducing.fupermod import reproduce, write_result

    with out.progress(f"Reproducing {args.paper}") as progress:
        result = reproduce(args.fast, progress)
        written = write_result(args.output, result) if args.output else []
    findings = list(result.findings)
    for finding in findings:
        out.say(f"{finding.where}{'' if finding.holds else ' - NOT REPRODUCED'}")
        out.say(f"  it says  {finding.paper}\n  we see   {finding.ours}")
    held = sum(finding.holds for finding in findings)
    out.say(f"{held} of {len(findings)} statements reproduced, in kind, on emulated machines")
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

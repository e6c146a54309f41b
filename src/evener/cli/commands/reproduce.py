"""`evener reproduce`: repeat a paper's experiments, and compare its results with those here."""

from __future__ import annotations

import argparse
import shutil
import textwrap
from typing import TYPE_CHECKING

from evener.errors import UsageError

if TYPE_CHECKING:
    from evener.cli.output import Output, Progress
    from evener.reproducing.findings import Finding, PaperResult

# Papers by the names of their experiments, what their pages are called, and their keys in
# docs/references.md.
PAPERS = {
    "fupermod": ("FuPerMod", "Cla14"),
    "dhgp": ("Distributed heterogeneous graph processing", "Guo16"),
    "spac": ("Split-and-connect", "SPAC"),
    "hmap": ("HMAP", "Muralidharan13"),
    "ldht": ("Load distribution on heterogeneous topologies", "LDHT"),
}
WITH_DATA = ("dhgp", "spac", "hmap", "ldht")
TRIALS, FEW_TRIALS = 20, 3
LEAST_WIDTH, WIDTH, INDENT = 40, 78, 11  # of findings, and of their text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the paper, and where results go."""
    parser.add_argument("paper", choices=PAPERS, metavar="PAPER", help=", ".join(PAPERS))
    effort = parser.add_mutually_exclusive_group()
    effort.add_argument(
        "--fast", action="store_true", help="fewer sizes or trials of each experiment"
    )
    effort.add_argument("--full", action="store_true", help="all of them, as without --fast")
    parser.add_argument(
        "--here",
        action="store_true",
        help="fupermod: predict and measure iterations on two cores of this computer instead "
        "(minutes)",
    )
    parser.add_argument(
        "--data",
        metavar="FOLDER",
        help="dhgp: with the paper's graphs, such as WikiTalk.txt, which are taken in the place of "
        "generated ones; spac: with cant.mtx, circuit5M.mtx, in-2004.mtx, mc2depi.mtx or "
        "scircuit.mtx, which are taken in the place of generated matrices; hmap: with real stream "
        "graphs; ldht: with graphs of its Table II, such as hugetric-00020.graph, with coordinates "
        "beside",
    )
    parser.add_argument(
        "-o", "--output", metavar="FOLDER", help="write plots, a page and the numbers there"
    )


def run(args: argparse.Namespace, out: Output) -> int:
    """Run the experiments, print the findings, write plots and numbers."""
    from evener.reproducing.findings import SUMMARY, counted
    from evener.reproducing.fupermod import write_result

    if args.here and args.paper != "fupermod":
        raise UsageError(f"--here is for fupermod, not {args.paper}")
    if args.data is not None and args.paper not in WITH_DATA:
        *some, last = WITH_DATA
        raise UsageError(f"--data is for {', '.join(some)} and {last}, not {args.paper}")
    where = "this computer" if args.here else _place_of(args.paper)
    with out.progress(f"Reproducing {args.paper}") as progress:
        result = (
            _measured(FEW_TRIALS if args.fast else TRIALS, progress)
            if args.here
            else _result_from(args, progress)
        )
        title, source = PAPERS[args.paper]
        written = write_result(args.output, result, where, title, source) if args.output else []
    if args.here:
        _show_errors(result, out)
    for finding in result.findings:
        _show(finding, out)
    lines = [finding.summary(source) for finding in result.findings]
    out.table(tuple(SUMMARY.values()), [[line[key] for key in SUMMARY] for line in lines])
    out.say(f"{counted(result.verdicts)}, on {where}")
    if written:
        out.say(f"Written: {args.output}: {', '.join(written)}")
    out.result(
        {
            "paper": args.paper,
            "verdicts": result.verdicts,
            "findings": result.rows(source),
            "tables": dict(result.tables),
            "written": written,
        }
    )
    return 0


def _place_of(paper: str) -> str:
    """Return on which machines a paper's experiments are repeated."""
    from evener.reproducing import fupermod, hmap, ldht, spac

    own = {"spac": spac.WHERE, "hmap": hmap.WHERE, "ldht": ldht.WHERE}
    return own.get(paper, fupermod.EMULATED)


def _result_from(args: argparse.Namespace, progress: Progress) -> PaperResult:
    from evener.reproducing import dhgp, fupermod, hmap, ldht, spac

    paper, fast, data = args.paper, args.fast, args.data
    if paper == "ldht":
        return ldht.reproduce(fast, progress, data, keep=args.output)
    if paper == "hmap":
        return hmap.reproduce(fast, progress, data, keep=args.output)
    if paper == "spac":
        return spac.reproduce(fast, progress, data)
    if paper == "dhgp":
        return dhgp.reproduce(fast, progress, data)
    return fupermod.reproduce(fast, progress)


def _show(finding: Finding, out: Output) -> None:
    """Print a finding: its verdict, then its texts."""
    from evener.reproducing.fupermod import LABELS

    width = max(LEAST_WIDTH, min(WIDTH, shutil.get_terminal_size().columns))
    row = finding.row()
    out.say(f"{row.pop('where')}: {row.pop('verdict')}")
    for key, text in row.items():
        if text:
            label = f"  {LABELS[key]}".ljust(INDENT)
            indent = " " * INDENT
            out.say(textwrap.fill(text, width, initial_indent=label, subsequent_indent=indent))


def _measured(n_trials: int, progress: Progress) -> PaperResult:
    from evener.reproducing.here import found_here, predicted_and_measured

    return found_here(predicted_and_measured(n_trials, progress))


def _show_errors(result: PaperResult, out: Output) -> None:
    """Print the median and the 90 % quantile of the errors, by program and size."""
    from evener.wording import count, duration, percent

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

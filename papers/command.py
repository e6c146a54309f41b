"""The command of a paper, `python -m papers.NAME`: prints findings, writes plots and a page.

papers/NAME/__main__.py calls `main` with its Reproduction. Common options, messages and exit codes
are those of `evener`.
"""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evener.cli.output import Output, shown_steps
from evener.cli.parsing import Parser, add_common
from evener.errors import EvenerError, InputError
from evener.files.writing import write_text
from evener.reporting.plots import save_figure
from papers.drawing import draw_lines
from papers.findings import SUMMARY, Finding, PaperResult, counted

Tell = Callable[[str, float], None]
INTERRUPTED = 130
LEAST_WIDTH, WIDTH, INDENT = 40, 78, 11  # of findings, and of their text
# Names of the fields of a finding, as they are shown.
LABELS = {
    "did": "it did",
    "says": "it says",
    "tried": "we did",
    "seen": "we see",
    "criteria": "asked",
    "lacking": "lacking",
    "counter": "counter",
}


@dataclass(frozen=True)
class Reproduction:
    """A paper and its experiments.

    name: of its package. title: of the page. source: its key in docs/references.md. where: the
    machines that are used. run(fast, tell, data, output): the experiments; fast: fewer of them;
    tell: called with the next step and the part that is done; data, output: values of options.
    data: help of the option --data, or None if the paper has no such option. here: the experiments
    of the option --here, which run on this computer, or None: called with `fast` and `tell`.
    """

    name: str
    title: str
    source: str
    where: str
    run: Callable[[bool, Tell, str | None, str | None], PaperResult]
    data: str | None = None
    here: Callable[[bool, Tell], PaperResult] | None = None


def main(paper: Reproduction, words: Sequence[str] | None = None) -> int:
    """Run the command of a paper with these words, or those of sys.argv; return the exit code."""
    given = list(sys.argv[1:] if words is None else words)
    out = Output(json="--json" in given, quiet="--quiet" in given, verbose="--verbose" in given)
    try:
        args = _parser(paper).parse_args(given)
        with shown_steps(wanted=args.verbose):
            _run(paper, args, out)
    except SystemExit:  # --help has been answered
        return 0
    except EvenerError as error:
        if "--debug" in given:
            out.trace(error)
        out.error(error)
        return error.exit_code
    except KeyboardInterrupt:
        print(f"\npapers.{paper.name}: interrupted", file=sys.stderr)
        return INTERRUPTED
    return 0


def _parser(paper: Reproduction) -> Parser:
    parser = Parser(
        prog=f"python -m papers.{paper.name}",
        description=f"Repeat the experiments of [{paper.source}]_ (docs/references.md), and "
        "compare its statements with the results.",
    )
    effort = parser.add_mutually_exclusive_group()
    effort.add_argument(
        "--fast", action="store_true", help="fewer sizes or trials of each experiment"
    )
    effort.add_argument("--full", action="store_true", help="all of them, as without --fast")
    if paper.here is not None:
        parser.add_argument(
            "--here", action="store_true",
            help="predict and measure iterations on two cores of this computer instead (minutes)",
        )  # fmt: skip
    if paper.data is not None:
        parser.add_argument("--data", metavar="FOLDER", help=paper.data)
    parser.add_argument(
        "-o", "--output", metavar="FOLDER", help="write plots, a page and the numbers there"
    )
    add_common(parser)
    return parser


def _run(paper: Reproduction, args: Namespace, out: Output) -> None:
    """Run the experiments, print the findings, write plots and numbers."""
    here = paper.here if getattr(args, "here", False) else None
    where = paper.where if here is None else "this computer"
    with out.progress(f"Reproducing {paper.name}") as progress:
        if here is not None:
            result = here(args.fast, progress)
        else:
            result = paper.run(args.fast, progress, getattr(args, "data", None), args.output)
        written = write_result(args.output, result, paper, where) if args.output else []
    if here is not None:
        _show_errors(result, out)
    for finding in result.findings:
        show(finding, out)
    lines = [finding.summary(paper.source) for finding in result.findings]
    out.table(tuple(SUMMARY.values()), [[line[key] for key in SUMMARY] for line in lines])
    out.say(f"{counted(result.verdicts)}, on {where}")
    if written:
        out.say(f"Written: {args.output}: {', '.join(written)}")
    out.result(
        {
            "paper": paper.name,
            "verdicts": result.verdicts,
            "findings": result.rows(paper.source),
            "tables": dict(result.tables),
            "written": written,
        }
    )


def show(finding: Finding, out: Output) -> None:
    """Print a finding: its verdict, then its texts."""
    width = max(LEAST_WIDTH, min(WIDTH, shutil.get_terminal_size().columns))
    row = finding.row()
    out.say(f"{row.pop('where')}: {row.pop('verdict')}")
    for key, text in row.items():
        if text:
            label = f"  {LABELS[key]}".ljust(INDENT)
            indent = " " * INDENT
            out.say(textwrap.fill(text, width, initial_indent=label, subsequent_indent=indent))


def _show_errors(result: PaperResult, out: Output) -> None:
    """Print the median and the 90 % quantile of the errors of --here, by program and size."""
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


def write_result(
    folder: str | Path, result: PaperResult, paper: Reproduction, where: str
) -> list[str]:
    """Write the plots, README.md with the findings, and numbers.jsonl; return the files' names.

    where: the machines that were used. The folder is made if absent. Raises InputError where that
    is not possible.
    """
    target = Path(folder)
    try:
        target.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made: {error.strerror}", file=folder) from error
    names = []
    for plot in result.plots:
        names.append(f"{plot.name}.png")
        save_figure(target / names[-1], draw_lines(plot.panels))
    title = f"{paper.title}, tried on {where}"
    write_text(target / "README.md", _page(result, names, title, paper.source))
    tables = {"findings": result.rows(paper.source), **result.tables}
    lines = [json.dumps({"table": name, **row}) for name, rows in tables.items() for row in rows]
    write_text(target / "numbers.jsonl", "\n".join(lines) + "\n")
    return [*names, "README.md", "numbers.jsonl"]


def _page(result: PaperResult, pictures: Sequence[str], title: str, source: str) -> str:
    lines = [list(SUMMARY.values()), ["---"] * len(SUMMARY)]
    lines += [[row[key] for key in SUMMARY] for row in result.rows(source)]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    parts = [f"# {title}", f"{counted(result.verdicts)}.", table]
    for finding in result.findings:
        row = finding.row()
        head = f"## {row.pop('where')}: {row.pop('verdict')}"
        parts += [head, "\n".join(f"- {LABELS[key]}: {text}" for key, text in row.items() if text)]
    parts += [f"![{Path(name).stem}]({name})" for name in pictures]
    return "\n\n".join(parts) + "\n"

"""The command line: parses arguments, runs a command, prints its result.

parsing.py      command line -> arguments of a command; registry.py lists commands
commands/       a file for each command: add_arguments(parser), run(args, out) -> exit code
options.py turns fields of frozen dataclasses into arguments: `option` declares such a field,
                `add_options` adds the arguments, `options_from` returns the dataclass
*_options.py, machines.py, judged.py, values.py
                options that several commands share. Only add_*, *_from and run use argparse.
output.py       prints sentences, tables (table_layout.py), a JSON object, progress bars, --verbose
streams.py, compiling.py
                stdout and stderr; a message while kernels are being compiled
precompile/     `evener warm`
kinds/          what evaluate, compare, report, export and replay do for plans of vertices, edges
                and filters
plan_in_slices.py  `evener plan --memory`; ranks.py: a command on ranks of MPI
divisions.py    the blocks of `evener run`; run_programs.py: its --app or --program; run_records.py,
                run_summary.py: its files and its last lines; program_bytes.py: refuses what does
                not fit; stream_runs.py: runs of stream graphs
described_machines.py  `evener machine` from descriptions
differences.py  the record of a plan and that of the plan made again; oddities.py: properties of a
                graph that matter when it is divided

This package imports all others; none imports it. Read `main` first, then commands/plan.py.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from evener.cli.compiling import leave, run_beside, terminated_in_order
from evener.cli.parsing import parse
from evener.cli.registry import COMMANDS
from evener.cli.streams import (
    BROKEN_PIPE,
    ReaderGone,
    explained_disk,
    stdout_for_data,
    watched_streams,
)
from evener.errors import EvenerError, OutputError


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code (see evener.errors)."""
    words = list(sys.argv[1:] if argv is None else argv)
    with watched_streams():
        try:
            with terminated_in_order():
                code = _answer(words)
                sys.stdout.flush()
        except (BrokenPipeError, ReaderGone):
            code = BROKEN_PIPE
        except OutputError as error:  # when the last text was flushed
            print(f"evener: {error}", file=sys.stderr)  # noqa: T201
            code = error.exit_code
        except KeyboardInterrupt as interrupt:
            leave(interrupt)
        sys.stderr.flush()
    return code


def _answer(words: list[str]) -> int:
    if words[:1] == ["help"] and len(words) > 1:
        words = [*words[1:], "--help"]
    if not words or words[0] in ("-h", "--help", "help"):
        print(_help())  # noqa: T201
        return 0
    if words[0] == "--version":
        from importlib.metadata import version

        print(f"evener {version('evener')}")  # noqa: T201
        return 0
    from evener.cli.compiling import CompilingShown, explained
    from evener.cli.output import Output, shown_steps

    own = words[: words.index("--")] if "--" in words else words  # then files, or a program
    verbose = "--verbose" in own
    out = Output(json="--json" in own, quiet="--quiet" in own, verbose=verbose)
    try:
        try:
            args, run, takes_stdout = parse(words)
        except SystemExit:  # --help has been answered
            return 0
        shown = CompilingShown(out, words[0])
        try:
            with shown_steps(wanted=verbose), stdout_for_data(takes_stdout):
                return run_beside(lambda: run(args, out), shown)
        finally:
            out.wait_for("")
    except (BrokenPipeError, ReaderGone):
        raise
    except (Exception, SystemExit) as error:
        if "--debug" in own:
            out.trace(error)
        error = explained_disk(explained(error))
        if isinstance(error, EvenerError):
            out.error(error)
            return error.exit_code
        out.unexpected(error)
        return 1


def _help() -> str:
    width = max(len(name) for name in COMMANDS)
    lines = [f"  {name:<{width}}  {purpose}" for name, (_, purpose, _) in COMMANDS.items()]
    return "\n".join(
        [
            "usage: evener COMMAND [options]",
            "",
            "Splits one data-parallel computation over unequal devices: all finish together.",
            "",
            "commands:",
            *lines,
            "",
            "`evener COMMAND --help` explains a command. All take --json, --quiet, --verbose.",
            "Exit codes: 0 success, 2 usage, 3 bad input, 4 infeasible, 5 tool failed,",
            "6 disk full or stdout closed, 130 interrupt, 143 SIGTERM.",
        ]
    )

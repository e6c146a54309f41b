"""The command line: one file per subcommand, found by name, imported when chosen."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from evener.cli.running import leave, run_beside
from evener.errors import EvenerError, UsageError

if TYPE_CHECKING:
    from evener.cli.output import Output

# name: (module, what it does). Every module has add_arguments(parser) and run(args, out) -> int.
COMMANDS = {
    "plan": ("evener.cli.plan", "partition a mesh, matrix or graph for a machine, certified"),
    "evaluate": ("evener.cli.evaluate", "judge a partition from any tool"),
    "refine": ("evener.cli.refine", "improve a partition from any tool, never worsen it"),
    "compare": ("evener.cli.compare", "run several partitioners side by side"),
    "advise": ("evener.cli.advise", "which devices are worth using, and how many"),
    "fits": ("evener.cli.fits", "will it fit, on which devices not, by how much"),
    "sizes": ("evener.cli.sizes", "how much each device gets: optimal under speed and memory"),
    "measure": ("evener.cli.measure", "measure how fast each device is at each load"),
    "models": ("evener.cli.models", "speed models of a speeds file, compared and drawn"),
    "tile": ("evener.cli.tile", "divide a dense matrix into a rectangle for each device"),
    "machine": ("evener.cli.machine", "describe a machine: the papers', this one, your own"),
    "replay": ("evener.cli.replay", "make a plan or decisions again: are they identical"),
    "export": ("evener.cli.export", "write a plan's partition in a solver's format"),
    "report": ("evener.cli.report", "write the HTML report of a plan or of decisions"),
    "info": ("evener.cli.info", "what a graph or mesh file holds"),
    "convert": ("evener.cli.convert", "rewrite a graph or mesh as another format"),
    "generate": ("evener.cli.generate", "make a mesh, graph or speeds file: Delaunay, R-MAT, ..."),
    "warm": (
        "evener.cli.warm",
        "compile all kernels ahead, for containers and shared folders",
    ),
    "reproduce": ("evener.cli.reproduce", "a paper's tables and figures, beside what we see"),
    "doctor": ("evener.cli.doctor", "versions, threads, optional tools, a self-test"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code (see evener.errors)."""
    words = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a device may have any name
    try:
        code = _answer(words)
        sys.stdout.flush()
    except BrokenPipeError:
        _forget_output()
        return 0
    except KeyboardInterrupt:
        leave()
    return code


def _answer(words: list[str]) -> int:
    if words[:1] == ["help"] and len(words) > 1:
        words = [words[1], "--help"]
    if not words or words[0] in ("-h", "--help", "help"):
        print(_help())  # noqa: T201
        return 0
    if words[0] == "--version":
        from importlib.metadata import version

        print(f"evener {version('evener')}")  # noqa: T201
        return 0
    from evener.cli.compiling import CompilingShown, explained
    from evener.cli.output import Output

    out = Output(json="--json" in words, quiet="--quiet" in words)
    try:
        args, run = _parse(words)
        shown = CompilingShown(out, words[0])
        try:
            return run_beside(lambda: run(args, out), shown)
        finally:
            out.wait_for("")
    except SystemExit:  # --help has been answered
        return 0
    except BrokenPipeError:
        raise
    except Exception as error:
        if "--debug" in words:
            out.trace(error)
        error = explained(error)
        if isinstance(error, EvenerError):
            out.error(error)
            return error.exit_code
        out.unexpected(error)
        return 1


def _forget_output() -> None:
    """Let what is still to be written go nowhere: whoever read it has enough."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _parse(
    words: list[str],
) -> tuple[argparse.Namespace, Callable[[argparse.Namespace, Output], int]]:
    name = words[0]
    if name not in COMMANDS:
        raise UsageError(f"there is no command {name!r}", hint=f"Commands: {', '.join(COMMANDS)}.")
    module_name, purpose = COMMANDS[name]
    module = importlib.import_module(module_name)
    parser = _Parser(prog=f"evener {name}", description=_sentence(purpose), allow_abbrev=False)
    module.add_arguments(parser)
    _add_manners(parser)
    return parser.parse_args(words[1:]), module.run


def _add_manners(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("manners")
    group.add_argument("--json", action="store_true", help="one JSON object on stdout")
    group.add_argument("--quiet", action="store_true", help="errors only")
    group.add_argument("--debug", action="store_true", help="full tracebacks")


class _Parser(argparse.ArgumentParser):
    """argparse, but a mistake is a UsageError like any other."""

    def error(self, message: str) -> None:  # type: ignore[override]
        raise UsageError(message, hint=f"See `{self.prog} --help`.")


def _help() -> str:
    width = max(len(name) for name in COMMANDS)
    lines = [f"  {name:<{width}}  {purpose}" for name, (_, purpose) in COMMANDS.items()]
    return "\n".join(
        [
            "usage: evener COMMAND [options]",
            "",
            "Splits one data-parallel computation over unequal devices: all finish together.",
            "",
            "commands:",
            *lines,
            "",
            "`evener COMMAND --help` explains one. Every command takes --json and --quiet.",
            "Exit codes: 0 fine, 2 usage, 3 bad input, 4 infeasible, 5 tool failed, 130 interrupt.",
        ]
    )


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + ("" if text.endswith(".") else ".")

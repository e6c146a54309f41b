"""Writes manual pages, man(7), from the commands' parsers: `python -m evener.cli.manuals DIR`.

evener.1 lists the commands; evener-COMMAND.1 has what `evener COMMAND --help` says.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

from evener.cli.parsing import parser_of, sentence
from evener.cli.registry import COMMANDS
from evener.files.writing import write_text

SUMMARY = "splits one data-parallel computation over unequal devices"
ABOUT = (
    "Evener reads a mesh, matrix or graph and the description of a machine whose devices differ "
    "in speed and memory, and decides which device gets which part, so that all finish together. "
    "Each command has a page of its own, evener-COMMAND(1)."
)
CODES = (
    ("0", "success"), ("2", "usage"), ("3", "bad input"), ("4", "infeasible, or no plan found"),
    ("5", "a tool failed"), ("6", "disk full or stdout closed"), ("130", "interrupted"),
    ("141", "the reader of a pipe has ended"), ("143", "ended by SIGTERM"),
)  # fmt: skip
VARIABLES = (
    ("EVENER_MAX_INPUT", "most bytes of an input file, as `40GiB`"),
    ("NO_COLOR", "no colours, whatever its value"),
    ("COLUMNS", "width of tables, in characters"),
)


def manuals() -> dict[str, str]:
    """Return the text of each page by its file's name."""
    pages = {f"evener-{name}.1": _page_of(name) for name in COMMANDS}
    return {"evener.1": _overview(), **pages}


def write_manuals(folder: Path) -> list[Path]:
    """Write all pages into a folder, which is made if it is absent; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, text in manuals().items():
        write_text(folder / name, text)
        written.append(folder / name)
    return written


def _overview() -> str:
    lines = [*_head("evener", SUMMARY), ".SH SYNOPSIS", r"\fBevener\fR \fICOMMAND\fR [options]"]
    lines += [".SH DESCRIPTION", _text(ABOUT), ".SH COMMANDS"]
    for name, command in COMMANDS.items():
        lines += [".TP", rf"\fBevener\-{_text(name)}\fR(1)", _text(sentence(command.purpose))]
    return _ended([*lines, *_closing()])


def _page_of(name: str) -> str:
    """Return the page of a command."""
    command, parser = COMMANDS[name], parser_of(name)
    lines = [*_head(f"evener-{name}", command.purpose), ".SH SYNOPSIS", *_synopsis(parser)]
    lines += [".SH DESCRIPTION", _text(sentence(command.purpose))]
    lines += _arguments(parser, ".SH")
    for action in parser._actions:  # noqa: SLF001
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for kind, below in action.choices.items():
                lines += [f".SH {_text(f'{name} {kind}'.upper())}"]
                lines += [_text(sentence(below.description)), ".PP"] if below.description else []
                lines += [*_synopsis(below), *_arguments(below, ".SS")]
    if parser.epilog:
        lines += [".SH NOTES", ".nf", *map(_text, parser.epilog.splitlines()), ".fi"]
    return _ended([*lines, *_closing(), ".SH SEE ALSO", r"\fBevener\fR(1)"])


def _head(name: str, purpose: str) -> list[str]:
    """Return the title line and the NAME section."""
    told = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    day = time.strftime("%Y-%m-%d", time.gmtime(told))
    title = f'.TH {_text(name.upper())} 1 "{day}" "Evener {version("evener")}" "Evener Manual"'
    return [title, ".SH NAME", rf"{_text(name)} \- {_text(purpose)}"]


def _synopsis(parser: argparse.ArgumentParser) -> list[str]:
    usage = " ".join(parser.format_usage().removeprefix("usage: ").split())
    bold = _text(parser.prog)
    return [rf"\fB{bold}\fR{_text(usage.removeprefix(parser.prog))}"]


def _arguments(parser: argparse.ArgumentParser, heading: str) -> Iterator[str]:
    """Yield a section for each group of arguments: the name of each, then its help."""
    for group in parser._action_groups:  # noqa: SLF001
        shown = [
            action
            for action in group._group_actions  # noqa: SLF001
            if action.help != argparse.SUPPRESS
            and not isinstance(action, argparse._SubParsersAction)  # noqa: SLF001
        ]
        if not shown:
            continue
        title = (group.title or "options").replace("positional arguments", "arguments")
        yield f"{heading} {_text(title.upper())}"
        if group.description:
            yield _text(group.description)
        for action in shown:
            yield ".TP"
            yield _name_of(action)
            yield _text(_help_of(action, parser)) or r"\&"


def _name_of(action: argparse.Action) -> str:
    """Return an option with its value, or a positional argument, in roff."""
    value = str(action.metavar or "|".join(map(str, action.choices or ())) or action.dest)
    if not action.option_strings:
        return rf"\fI{_text(value)}\fR"
    names = ", ".join(rf"\fB{_text(name)}\fR" for name in action.option_strings)
    return names if action.nargs == 0 else rf"{names} \fI{_text(value)}\fR"


def _help_of(action: argparse.Action, parser: argparse.ArgumentParser) -> str:
    """Return the help of an argument as argparse would print it, on one line."""
    return " ".join((action.help or "").split()) % (vars(action) | {"prog": parser.prog})


def _closing() -> list[str]:
    """Return what all pages end with: exit codes and variables of the environment."""
    lines = [".SH EXIT STATUS"]
    for code, meaning in CODES:
        lines += [".TP", rf"\fB{code}\fR", _text(meaning)]
    lines.append(".SH ENVIRONMENT")
    for name, meaning in VARIABLES:
        lines += [".TP", rf"\fB{name}\fR", _text(meaning)]
    return lines


def _text(text: str) -> str:
    """Return plain text for roff: backslashes, hyphens and dots at line starts are escaped."""
    text = text.replace("\\", r"\e").replace("-", r"\-").replace("\t", " ")
    text = "".join(c if ord(c) < 128 else rf"\[u{ord(c):04X}]" for c in text)
    return rf"\&{text}" if text[:1] in (".", "'") else text


def _ended(lines: Sequence[str]) -> str:
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    for path in write_manuals(Path(sys.argv[1])):
        print(path)  # noqa: T201

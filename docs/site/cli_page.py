"""Writes the tables of docs/cli.md from the parsers: python docs/site/cli_page.py.

The options of a command, or of a group in GROUPS, are between `<!-- options: TITLE -->` and
`<!-- end -->`, the commands between `<!-- commands -->` and `<!-- end -->`. All other text of the
page is written by hand. The meaning of an option is its help text; its default is what that text
states as `(default X)`. The table of a command refers to groups of which it has all options.
"""

import argparse
import re
from pathlib import Path
from typing import NamedTuple

from evener.cli.parsing import parser_of
from evener.cli.registry import COMMANDS

PAGE = Path(__file__).parents[1] / "cli.md"
# Title of each group: a command that has its options, and their names; "": all of the command.
GROUPS = {
    "Machine options": ("evener plan", "machine k speeds"),
    "Planning options": ("evener compare", "preset seed threads method connected map time-limit"),
    "Contract options": ("evener plan", "epsilon constraints"),
    "Workload options": ("evener plan", "kernel overlap exchange bytes-per-value"),
    "Edge options": ("evener compare", "as weighted"),
    "Measurement options": ("evener measure", """device processes precision confidence repetitions
                            time-limit slowest block no-transfers memory"""),
    "Reading options": ("evener info", """by no-couplings directed coords weights balance-each
                        format constraint bytes-per-vertex bytes-per-edge"""),
    "Rereading options": ("evener replay", "coords weights"),
    "Families": ("evener generate", """n time dim degree shape triangulated scale edge-factor a b c
                 directed n-triangles camber camber-at thickness curves points noise repetitions k
                 setting machine reading ccr alpha beta gamma"""),
    "Common options": ("evener plan", "json quiet verbose debug"),
    "evener machine star": ("evener machine star", ""),
    "evener machine topo1": ("evener machine topo1", ""),
    "Machine file options": ("evener machine flat", "output"),
}  # fmt: skip
BLOCK = re.compile(r"(<!-- (?:options: (.+?)|commands) -->\n).*?(<!-- end -->)", re.DOTALL)
DEFAULT = re.compile(r",? ?\(default:? ([^()]*)\)")
CODE = re.compile(r"(`[^`]*`)|(?<![\w`-])(--[a-z](?:[\w-]*\w)?(?: [A-Z]+(?:\.\w+)?\b)?)")


class Row(NamedTuple):
    """An option in its table."""

    names: str
    default: str
    meaning: str


def parsers():
    """Return every parser by its title on the page; `machine` has one for each kind, too."""
    found = {}
    for command in COMMANDS:
        parser = found[f"evener {command}"] = parser_of(command)
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                found |= {f"evener {command} {kind}": one for kind, one in action.choices.items()}
    return found


def rows_of(parser):
    """Return the rows of a parser by the long name of the option, positional arguments first."""
    shown = [one for one in parser._actions
             if not (isinstance(one, argparse._HelpAction) or one.help == argparse.SUPPRESS)
             ]  # fmt: skip
    shown.sort(key=lambda action: bool(action.option_strings))
    return {_long_name(action): _row(action) for action in shown}


def _long_name(action):
    names = [name for name in action.option_strings if name.startswith("--")]
    return names[0] if names else action.metavar or action.dest


def _row(action):
    choices = ", ".join(action.choices or ())
    value = action.metavar
    if value is None and action.nargs != 0:
        value = f"{{{choices.replace(', ', ',')}}}" if choices else action.dest.upper()
    *names, last = action.option_strings or [value]
    names.append(f"{last} {value}" if value and action.option_strings else last)
    text = (action.help or choices).replace("%%", "%")
    defaults = DEFAULT.findall(text)
    if len(defaults) == 1:
        text = DEFAULT.sub("", text)
        default = defaults[0]
    else:
        default = "required" if action.required and action.option_strings else ""
    return Row(", ".join(f"`{name}`" for name in names), _marked(default), _marked(text))


def _marked(text):
    return CODE.sub(lambda at: at[1] or f"`{at[2]}`", text).replace("<", "&lt;").strip()


def group_rows(title, found):
    """Return the rows of a group."""
    command, names = GROUPS[title]
    rows = rows_of(found[command])
    return {f"--{name}": rows[f"--{name}"] for name in names.split()} or rows


def options_table(title, found):
    """Return the table of a group, or of a command with the groups whose options it has."""
    if title not in found:
        return table(group_rows(title, found).values())
    rows, also = rows_of(found[title]), []
    for group in GROUPS:
        shared = group_rows(group, found)
        if group != title and shared.items() <= rows.items():
            rows = {name: row for name, row in rows.items() if name not in shared}
            also.append(f"[{group}]")
    also = f"Also: {', '.join(also)}\n" if also else ""
    return "\n".join(filter(None, [table(rows.values()) if rows else "", also]))


def table(rows):
    """Return a Markdown table, without the column of defaults if it is empty."""
    columns = slice(None) if any(row.default for row in rows) else slice(None, None, 2)
    heads = Row("argument", "default", "meaning"), Row("---", "---", "---")
    lines = [" | ".join(cell.replace("|", r"\|") for cell in row[columns])
             for row in (*heads, *rows)]  # fmt: skip
    return "".join(f"| {line} |\n".replace("|  |", "| |") for line in lines)


def commands_table():
    """Return the table of commands."""
    lines = [f"| [{name}](#evener-{name}) | {one.purpose} |\n" for name, one in COMMANDS.items()]
    return "".join(["| command | what it does |\n| --- | --- |\n", *lines])


def updated(text):
    """Return the page with its tables as they should be."""
    found = parsers()
    titles = [at[2] for at in BLOCK.finditer(text) if at[2]]
    wrong = (found.keys() | GROUPS.keys()).symmetric_difference(titles)
    if wrong or len(titles) != len(set(titles)):
        raise SystemExit(f"{PAGE.name}: options twice, missing or unknown: {sorted(wrong)}")
    return BLOCK.sub(
        lambda at: (
            f"{at[1]}\n{options_table(at[2], found) if at[2] else commands_table()}\n{at[3]}"
        ),
        text,
    )


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text()))

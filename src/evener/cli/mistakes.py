"""Words for command lines that cannot be understood, with what was probably meant."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence

from evener.cli.commands import COMMANDS
from evener.errors import UsageError
from evener.naming import meant, nearest

# What others call a command; the rest is found by likeness.
CALLED = {
    "partition": "plan",
    "part": "plan",
    "split": "plan",
    "divide": "plan",
    "check": "evaluate",
    "judge": "evaluate",
    "verify": "evaluate",
    "validate": "evaluate",
    "improve": "refine",
    "bench": "measure",
    "benchmark": "measure",
    "profile": "measure",
    "compile": "warm",
    "show": "info",
    "describe": "info",
    "version": "--version",
}


def unknown_command(name: str) -> UsageError:
    """Return the error for a command that does not exist."""
    near = CALLED.get(name.lower()) or nearest(name, COMMANDS)
    question = f"; did you mean `evener {near}`?" if near else ""
    return UsageError(
        f"there is no command {name!r}{question}", hint=f"Commands: {', '.join(COMMANDS)}."
    )


def options_of(parser: argparse.ArgumentParser, words: Sequence[str]) -> list[str]:
    """Return all options of a parser, and of those below it: that words name, or else all."""
    found: list[str] = []
    for action in parser._actions:  # noqa: SLF001
        found += action.option_strings
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for name in set(words) & set(action.choices) or action.choices:
                found += options_of(action.choices[name], words)
    return found


def unknown_option(words: Sequence[str], known: Sequence[str]) -> str | None:
    """Return the message for the first word that is no option but is written as one; else None."""
    for word in words:
        name = word.split("=")[0]
        if word == "--":
            return None
        if word.startswith("--") and name not in known:
            return f"there is no option {name}{meant(name, [o for o in known if len(o) > 2])}"
    return None


def not_among(value: object, choices: Iterable[object]) -> str:
    """Return the message for a value that is none of the choices."""
    names = [str(choice) for choice in choices]
    return f"there is no {value!r}{meant(str(value), names)} (there are: {', '.join(names)})"


def no_number(kind: object, text: str) -> str:
    """Return the message for a text that does not say a value of this type."""
    return f"{text!r} is not {'a whole number' if kind is int else 'a number'}"

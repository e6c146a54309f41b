"""Declare an option once: a field of a dataclass is also an argument of a command."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection
from dataclasses import MISSING, field, fields, is_dataclass
from typing import Any, TypeVar

Options = TypeVar("Options")


def option(
    meaning: str | None, *flags: str, default: Any = None, group: str = "", **settings: Any
) -> Any:
    """Return a dataclass field, for which `add_options` adds an argument.

    meaning: the help text. flags: names of the option, such as "-o", "--output"; "name" for a
    positional argument; without flags, the name is `--` and the field's name with hyphens. group:
    title of its group in --help. settings: further keywords of `add_argument`. An option whose
    default is False takes no value.
    """
    settings["help"] = meaning
    return field(default=default, metadata={"flags": flags, "group": group, "settings": settings})


def add_options(
    parser: argparse._ActionsContainer, kind: type, only: Collection[str] | None = None
) -> None:
    """Add an argument for each option field of a dataclass; only: names of the fields to add."""
    groups: dict[str, argparse._ActionsContainer] = {"": parser}
    for one in fields(kind):
        if "flags" not in one.metadata or (only is not None and one.name not in only):
            continue
        flags = one.metadata["flags"] or (f"--{one.name.replace('_', '-')}",)
        settings = dict(one.metadata["settings"])
        if flags[0].startswith("-"):
            settings["dest"] = one.name
        if one.default is not MISSING:
            settings.setdefault("default", one.default)
        if one.default is False:
            settings.setdefault("action", "store_true")
        title = one.metadata["group"]
        if title not in groups:
            groups[title] = parser.add_argument_group(title)
        groups[title].add_argument(*flags, **settings)


def given_options_from(
    args: argparse.Namespace, add_arguments: Callable[[argparse.ArgumentParser], object]
) -> dict[str, str]:
    """Return the options of a command that differ from their defaults: name -> as written."""
    parser = argparse.ArgumentParser(add_help=False)
    add_arguments(parser)
    found = {}
    for action in parser._actions:  # noqa: SLF001
        value = getattr(args, action.dest, None)
        if value != parser.get_default(action.dest):
            flags = action.option_strings or [action.dest]
            found[action.dest] = flags[-1 if value is False else 0]
    return found


def options_from(args: argparse.Namespace, kind: type[Options], **made: Any) -> Options:
    """Return an instance of `kind`, with each field set to the argument of the same name.

    A field for which the command has no argument keeps its default. If the default is an instance
    of a class of options, the field is also made from the arguments.
    """
    for one in fields(kind):  # type: ignore[arg-type]
        nested: Any = one.default_factory
        if one.name in made:
            continue
        if isinstance(nested, type) and is_dataclass(nested):
            made[one.name] = options_from(args, nested)
        elif hasattr(args, one.name):
            made[one.name] = getattr(args, one.name)
    return kind(**made)

"""What is written after `evener`, parsed: options and files in any order, a short --help."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from evener.cli.commands import COMMANDS
from evener.cli.mistakes import no_number, not_among, options_of, unknown_command, unknown_option
from evener.errors import UsageError
from evener.opening import is_stdin

if TYPE_CHECKING:
    from evener.cli.output import Output

_WRITTEN = {"output", "report", "plot", "picture", "target"}  # where `-` is standard output
Run = Callable[[argparse.Namespace, "Output"], int]


def parse(words: Sequence[str]) -> tuple[argparse.Namespace, Run]:
    """Return the arguments of the command that words[0] names, and what runs it.

    Raises UsageError where there is no such command or its arguments are none; SystemExit once
    --help is answered.
    """
    name, *given = words
    if name not in COMMANDS:
        raise unknown_command(name)
    parser = parser_of(name)
    run: Run = importlib.import_module(COMMANDS[name].module).run
    if message := unknown_option(given, options_of(parser, given)):
        parser.error(message)
    # argparse mixes files and options only where neither subcommands nor `--` tell them apart.
    if "--" in given or any(isinstance(a, argparse._SubParsersAction) for a in parser._actions):  # noqa: SLF001
        args, extra = parser.parse_known_args(given)
    else:
        args, extra = parser.parse_known_intermixed_args(given)
    if extra:
        parser.error(f"more than is taken: {' '.join(extra)}")
    _refuse_second_stdin(args)
    return args, run


def _refuse_second_stdin(args: argparse.Namespace) -> None:
    """Raise UsageError where two inputs are `-`: what is piped can be one of them only."""
    found = []
    for name, value in vars(args).items():
        words = value if isinstance(value, list) else [value]
        if name not in _WRITTEN:
            found += [name for word in words if isinstance(word, str) and is_stdin(word)]
    if len(found) > 1:
        message = f"standard input can be one file, not both {found[0]} and {found[1]}"
        raise UsageError(message, hint="Write one of them to a file.")


def parser_of(name: str) -> Parser:
    """Return the parser of a command."""
    command = COMMANDS[name]
    parser = Parser(prog=f"evener {name}", description=sentence(command.purpose))
    importlib.import_module(command.module).add_arguments(parser)
    _add_manners(parser)
    parser.usage = _usage(parser)
    parser.epilog = "\n\n".join(filter(None, [parser.epilog, f"example:\n  {command.example}"]))
    return parser


class Parser(argparse.ArgumentParser):
    """argparse, but a mistake is a UsageError like any other, and names are never guessed."""

    def __init__(self, **settings: object) -> None:
        form = partial(argparse.RawDescriptionHelpFormatter, max_help_position=30)
        chosen = {"formatter_class": form, "allow_abbrev": False} | settings
        super().__init__(**chosen)  # type: ignore[arg-type]

    def error(self, message: str) -> None:  # type: ignore[override]
        """Raise a UsageError."""
        raise UsageError(message.removeprefix("argument "), hint=f"See `{self.prog} --help`.")

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        """Return the value; a mistake never names the function that looks at it."""
        kind = self._registry_get("type", action.type, action.type)
        try:
            return kind(arg_string)
        except argparse.ArgumentTypeError as error:
            raise argparse.ArgumentError(action, str(error)) from error
        except (TypeError, ValueError) as error:
            raise argparse.ArgumentError(action, no_number(kind, arg_string)) from error

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse what is none of the choices, with the one that was meant."""
        if action.choices is not None and value not in action.choices:
            raise argparse.ArgumentError(action, not_among(value, action.choices))


def sentence(text: str) -> str:
    """Return a purpose as a sentence."""
    return text[0].upper() + text[1:] + ("" if text.endswith(".") else ".")


def _add_manners(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("manners")
    group.add_argument("--json", action="store_true", help="one JSON object on stdout")
    group.add_argument("--quiet", action="store_true", help="errors only")
    group.add_argument("--verbose", action="store_true", help="every step, timed, on stderr")
    group.add_argument("--debug", action="store_true", help="full tracebacks")


def _usage(parser: argparse.ArgumentParser) -> str | None:
    """What must be given; the options that need not be are listed below it anyway."""
    actions = parser._actions  # noqa: SLF001
    if any(isinstance(action, argparse._SubParsersAction) for action in actions):  # noqa: SLF001
        return None
    words = [parser.prog]
    for action in actions:
        shown = str(action.metavar or action.dest)
        if not action.option_strings:
            words.append(f"[{shown}]" if action.nargs == "?" else shown)
        elif action.required:
            words.append(f"{action.option_strings[0]} {shown}")
    return " ".join([*words, "[options]"])

"""Parse command lines: options and files in any order, a short --help, mistakes as UsageError."""

from __future__ import annotations

import argparse
import importlib
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from evener.cli.registry import COMMANDS
from evener.errors import UsageError
from evener.files.opening import is_stdin
from evener.files.writing import STDOUT, is_stdout
from evener.wording import meant, nearest

if TYPE_CHECKING:
    from evener.cli.output import Output


# Other names of commands, for "did you mean"; misspelt names are found by likeness.
SYNONYMS = {
    "partition": "plan",
    "part": "plan",
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
    near = SYNONYMS.get(name.lower()) or nearest(name, COMMANDS)
    question = f"; did you mean `evener {near}`?" if near else ""
    return UsageError(
        f"there is no command {name!r}{question}", hint=f"Commands: {', '.join(COMMANDS)}."
    )


def options_of(parser: argparse.ArgumentParser, words: Sequence[str]) -> list[str]:
    """Return all options of a parser and of its subparsers.

    If `words` name subparsers, options of the other subparsers are left out.
    """
    found: list[str] = []
    for action in parser._actions:  # noqa: SLF001
        found += action.option_strings
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for name in set(words) & set(action.choices) or action.choices:
                found += options_of(action.choices[name], words)
    return found


def unknown_option(words: Sequence[str], known: Sequence[str]) -> str | None:
    """Return an error message for the first unknown option among the words; None: all known."""
    for word in words:
        name = word.split("=")[0]
        if word == "--":
            return None
        if word.startswith("--") and name not in known:
            near = nearest(name[2:], [o[2:] for o in known if len(o) > 2])
            return f"there is no option {name}" + (f"; did you mean --{near}?" if near else "")
        if word[:1] == "-" and word[1:2].isalpha() and word[:2] not in known:
            return f"there is no option {word[:2]}"
    return None


def not_among(value: object, choices: Iterable[object]) -> str:
    """Return the error message for a value that is not among the choices."""
    names = [str(choice) for choice in choices]
    return f"there is no {value!r}{meant(str(value), names)} (there are: {', '.join(names)})"


def no_number(kind: object, text: str) -> str:
    """Return the error message for a text that cannot be parsed as a number of this type."""
    return f"{text!r} is not {'a whole number' if kind is int else 'a number'}"


_ONE_OF = re.compile(r"one of the arguments (.*) is required")  # as argparse says it
# Arguments that name a command's output files, for which `-` means standard output.
_OUTPUTS = ("output", "target", "report", "picture", "plot")
Run = Callable[[argparse.Namespace, "Output"], int]


class Parsed(NamedTuple):
    """A parsed command line: arguments, the command's `run`, whether a file goes to stdout."""

    args: argparse.Namespace
    run: Run
    takes_stdout: bool


def parse(words: Sequence[str]) -> Parsed:
    """Return the command that words[0] names, with its arguments.

    Raises UsageError for an unknown command or wrong arguments; SystemExit after printing --help.
    """
    name, *given = words
    if name not in COMMANDS:
        raise unknown_command(name)
    parser = parser_of(name)
    run: Run = importlib.import_module(COMMANDS[name].module).run
    program = None
    if _takes_program(parser) and "--" in given:
        given, program = given[: given.index("--")], given[given.index("--") + 1 :]
    if message := unknown_option(given, options_of(parser, given)):
        parser.error(message)
    # argparse can only mix files and options if there are neither subcommands nor `--`.
    if "--" in given or any(isinstance(a, argparse._SubParsersAction) for a in parser._actions):  # noqa: SLF001
        args, extra = parser.parse_known_args(given)
    else:
        args, extra = parser.parse_known_intermixed_args(given)
    if extra:
        before = "; write the program and its arguments after --" if _takes_program(parser) else ""
        if all(re.fullmatch(r"[\d.,e+-]+", word) for word in extra):
            before = "; separate the entries of a list by commas, as in 1,2,4"
        parser.error(f"unexpected argument: {' '.join(extra)}{before}")
    if program is not None:
        args.program = program
    _refuse_second_stdin(args)
    return Parsed(args, run, _replace_stdout(args))


def _takes_program(parser: argparse.ArgumentParser) -> bool:
    """Return whether a command takes the command line of a program, after `--`."""
    return parser.get_default("program") is not None


def _refuse_second_stdin(args: argparse.Namespace) -> None:
    """Raise UsageError if two inputs are `-`: stdin can supply only one file."""
    found = []
    for name, value in vars(args).items():
        words = value if isinstance(value, list) else [value]
        if name not in (*_OUTPUTS, "program"):
            found += [name for word in words if isinstance(word, str) and is_stdin(word)]
    if len(found) > 1:
        message = f"standard input can be only one of {found[0]} and {found[1]}"
        raise UsageError(message, hint="Write one of them to a file.")


def _replace_stdout(args: argparse.Namespace) -> bool:
    """Replace an output `-` by /dev/stdout; return whether there is one.

    Raises UsageError if two outputs, or an output and the --json object, would go to stdout.
    """
    taken = False
    for name in _OUTPUTS:
        given = getattr(args, name, None)
        if not isinstance(given, str) or not (given == "-" or is_stdout(given)):
            continue
        if taken or args.json:
            other = "--json" if args.json else "another file"
            raise UsageError(
                f"{given} and {other} cannot both go to stdout", hint="Write one of them to a file."
            )
        setattr(args, name, STDOUT)
        taken = True
    return taken


def parser_of(name: str) -> Parser:
    """Return the parser of a command."""
    command = COMMANDS[name]
    parser = Parser(prog=f"evener {name}", description=sentence(command.purpose))
    importlib.import_module(command.module).add_arguments(parser)
    add_common(parser)
    parser.usage = _usage(parser)
    parser.epilog = "\n\n".join(filter(None, [parser.epilog, f"example:\n  {command.example}"]))
    return parser


class Parser(argparse.ArgumentParser):
    """ArgumentParser that raises UsageError, and does not accept abbreviated options."""

    def __init__(self, **settings: object) -> None:
        form = partial(argparse.RawDescriptionHelpFormatter, max_help_position=30)
        chosen = {"formatter_class": form, "allow_abbrev": False} | settings
        super().__init__(**chosen)  # type: ignore[arg-type]
        # -1GiB is a value, as of Python 3.13 on: its type says what is wrong with it.
        self._negative_number_matcher = re.compile(r"-\.?\d")

    def error(self, message: str) -> None:  # type: ignore[override]
        """Raise a UsageError."""
        if found := _ONE_OF.fullmatch(message):
            message = f"one of {' and '.join(found[1].split())} is needed"
        raise UsageError(message.removeprefix("argument "), hint=f"See `{self.prog} --help`.")

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        """Return the value of an option; errors name the value, not the Python function."""
        kind = self._registry_get("type", action.type, action.type)
        try:
            return kind(arg_string)
        except argparse.ArgumentTypeError as error:
            raise argparse.ArgumentError(action, str(error)) from error
        except (TypeError, ValueError) as error:
            raise argparse.ArgumentError(action, no_number(kind, arg_string)) from error

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Raise an error for a value that is not among the choices, and suggest the nearest."""
        if action.choices is not None and value not in action.choices:
            raise argparse.ArgumentError(action, not_among(value, action.choices))


def sentence(text: str) -> str:
    """Return a text with a capital first letter and a full stop."""
    return text[0].upper() + text[1:] + ("" if text.endswith(".") else ".")


def add_common(parser: argparse.ArgumentParser) -> None:
    """Add the options that every command has."""
    group = parser.add_argument_group("common options")
    group.add_argument(
        "--json", action="store_true", help="print one JSON object on stdout; errors stay on stderr"
    )
    group.add_argument("--quiet", action="store_true", help="print only errors")
    group.add_argument(
        "--verbose", action="store_true", help="print each step, with its time, on stderr"
    )
    group.add_argument("--debug", action="store_true", help="print full tracebacks")


def _usage(parser: argparse.ArgumentParser) -> str | None:
    """Return a usage line with the required arguments; None for a command with subcommands."""
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
    program = ["--", "PROGRAM", "[ARGUMENTS]"] if _takes_program(parser) else []
    return " ".join([*words, "[options]", *program])

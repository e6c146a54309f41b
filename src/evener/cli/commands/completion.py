"""`evener completion`: print a script that completes command lines in bash, zsh or fish."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evener.cli.registry import COMMANDS

if TYPE_CHECKING:
    from evener.cli.output import Output

INSTALL = {
    "bash": "evener completion bash > ~/.local/share/bash-completion/completions/evener",
    "zsh": 'evener completion zsh > "${fpath[1]}/_evener"',
    "fish": "evener completion fish > ~/.config/fish/completions/evener.fish",
}


@dataclass
class Offer:
    """Completions of a command: options with their help, and known values.

    values: values of each option; under "", the values of the first argument. lists: options that
    take several of their values, separated by commas.
    """

    purpose: str
    options: dict[str, str] = field(default_factory=dict)
    values: dict[str, list[str]] = field(default_factory=dict)
    lists: set[str] = field(default_factory=set)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the argument SHELL."""
    parser.add_argument("shell", choices=list(INSTALL), metavar="SHELL", help="bash, zsh or fish")


def run(args: argparse.Namespace, out: Output) -> int:
    """Print the script."""
    script = SCRIPTS[args.shell](offers())
    out.say(script, verbatim=True)
    out.result({"shell": args.shell, "script": script, "install": INSTALL[args.shell]})
    return 0


def offers() -> dict[str, Offer]:
    """Return the completions of every command, from its parser."""
    from evener.cli.parsing import parser_of

    found = {name: _offer(parser_of(name), COMMANDS[name].purpose) for name in COMMANDS}
    found["help"] = Offer("explain a command", values={"": list(COMMANDS)})
    found["generate"].values[""] = _families()
    found["measure"].values[""] = _kernels()
    return found


def _offer(parser: argparse.ArgumentParser, purpose: str) -> Offer:
    """Return the completions of a parser and its subparsers."""
    offer, known = Offer(purpose), _known_values()
    for action in parser._actions:  # noqa: SLF001
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            offer.values[""] = list(action.choices)
            for below in action.choices.values():
                own = _offer(below, "")
                offer.options |= own.options
                offer.values |= {key: value for key, value in own.values.items() if key}
                offer.lists |= own.lists
            continue
        choices = [str(choice) for choice in action.choices or ()]
        for name in action.option_strings or [""]:
            if name:
                offer.options[name] = _first_part(action.help or "")
            if choices or name in known:
                offer.values.setdefault(name, choices or known[name])
                if "," in str(action.metavar):
                    offer.lists.add(name)
    return offer


def _first_part(help_: str) -> str:
    """Return a help text up to its first colon outside brackets."""
    return re.split(r":(?![^(]*\))", help_.replace("%%", "%"))[0]


def _known_values() -> dict[str, list[str]]:
    """Return values to suggest for options that also accept other values."""
    from evener.integrations.exports import EXPORTERS
    from evener.io.formats import FORMATS
    from evener.io.plans.partitions import PART_FORMATS
    from evener.partitioning.tools import TOOLS
    from evener.plans.workload import WORKLOADS

    tools = ["auto", *TOOLS]
    return {
        "--with": tools,
        "--versus": list(TOOLS),
        "--kernel": list(WORKLOADS),
        "--to": list(dict.fromkeys((*PART_FORMATS, *EXPORTERS))),
        "--format": [entry.name for entry in FORMATS],
    }


def _families() -> list[str]:
    from evener.cli.commands.generate import families

    return list(families())


def _kernels() -> list[str]:
    from evener.measuring.kernels import KERNELS

    return list(KERNELS)


def _cases(found: dict[str, Offer], line: Callable[[str, str, str, bool], str]) -> list[str]:
    """Return a line of script for every "COMMAND OPTION" whose values are known.

    line: function of command, option, values, and whether several values are joined by commas.
    """
    return [
        line(name, option, " ".join(values), option in offer.lists)
        for name, offer in found.items()
        for option, values in offer.values.items()
        if option
    ]


def bash(found: dict[str, Offer]) -> str:
    """Return the script for bash; it completes file names if no values are known."""
    firsts = [
        f'    {name}) [[ $COMP_CWORD -eq 2 ]] && words="{" ".join(offer.values[""])}" ;;'
        for name, offer in found.items()
        if "" in offer.values
    ]
    return "\n".join(
        [
            f"# {INSTALL['bash']}",
            "_evener() {",
            '  local current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"',
            '  local command="${COMP_WORDS[1]}" words=""',
            "  if [[ $COMP_CWORD -eq 1 ]]; then",
            f'    words="{" ".join(found)} --version --help"',
            '  else case "$command $before" in',
            *_cases(found, _bash_case),
            "    *) if [[ $current == -* ]]; then",
            '      case "$command" in',
            *(
                f'      {name}) words="{" ".join(offer.options)}" ;;'
                for name, offer in found.items()
            ),
            "      esac",
            '    else case "$command" in',
            *firsts,
            "    esac; fi ;;",
            "  esac; fi",
            '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
            "}",
            "complete -o default -F _evener evener",
        ]
    )


def _bash_case(name: str, option: str, values: str, listed: bool) -> str:
    """Return a case of the bash script; for lists, it keeps the text before the last comma."""
    if not listed:
        return f'    "{name} {option}") words="{values}" ;;'
    before = 'local first=""; [[ $current == *,* ]] && first="${current%,*},"'
    joined = f'local one; for one in {values}; do words+="$first$one "; done'
    return f'    "{name} {option}") {before}; {joined} ;;'


def _zsh_case(name: str, option: str, values: str, listed: bool) -> str:
    """Return a case of the zsh script."""
    before = "compset -P '*,'; " if listed else ""
    return f'    "{name} {option}") {before}compadd {values}; return ;;'


def zsh(found: dict[str, Offer]) -> str:
    """Return the script for zsh."""
    return "\n".join(
        [
            "#compdef evener",
            f"# {INSTALL['zsh']}",
            "_evener() {",
            "  local -a commands options",
            "  commands=(",
            *(f"    {_quoted(f'{name}:{offer.purpose}')}" for name, offer in found.items()),
            "  )",
            "  if (( CURRENT == 2 )); then _describe command commands; return; fi",
            '  case "$words[2] $words[CURRENT-1]" in',
            *_cases(found, _zsh_case),
            "  esac",
            "  if [[ $words[CURRENT] == -* ]]; then",
            '    case "$words[2]" in',
            *(f"      {name}) options=({_zsh_options(offer)}) ;;" for name, offer in found.items()),
            "    esac",
            "    _describe -o option options",
            "    return",
            "  fi",
            '  if (( CURRENT == 3 )); then case "$words[2]" in',
            *(
                f"    {name}) compadd {' '.join(offer.values[''])}; return ;;"
                for name, offer in found.items()
                if "" in offer.values
            ),
            "  esac; fi",
            "  _files",
            "}",
            'if [ "$funcstack[1]" = "_evener" ]; then _evener "$@"',
            "else compdef _evener evener; fi",
        ]
    )


def _zsh_options(offer: Offer) -> str:
    """Return the options, each with its help, in the format of zsh's _describe."""
    return " ".join(_quoted(f"{name}:{help_}") for name, help_ in offer.options.items())


def fish(found: dict[str, Offer]) -> str:
    """Return the script for fish."""
    lines = [f"# {INSTALL['fish']}"]
    for name, offer in found.items():
        purpose = _quoted(offer.purpose)
        lines.append(f"complete -c evener -n __fish_use_subcommand -f -a {name} -d {purpose}")
        after = f"complete -c evener -n '__fish_seen_subcommand_from {name}'"
        for option, help_ in offer.options.items():
            how = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
            values = offer.values.get(option)
            words = " ".join(values or ())
            if option in offer.lists:
                words = f"(__fish_append , {words})"
            given = f" -x -a {_quoted(words)}" if values else ""
            lines.append(f"{after} {how}{given} -d {_quoted(help_)}")
        if "" in offer.values:
            lines.append(f"{after} -a {_quoted(' '.join(offer.values['']))}")
    return "\n".join(lines)


def _quoted(text: str) -> str:
    """Return a text quoted for a shell."""
    return "'" + text.replace("'", "’").replace("\n", " ") + "'"


SCRIPTS: dict[str, Callable[[dict[str, Offer]], str]] = {"bash": bash, "zsh": zsh, "fish": fish}

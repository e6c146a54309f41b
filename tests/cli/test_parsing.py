"""Command lines: files and options in any order, and every --help short, with an example."""

import shlex

import pytest

from evener.cli import COMMANDS
from evener.cli.parsing import parse, parser_of
from evener.errors import UsageError


@pytest.mark.parametrize("command", COMMANDS)
def test_help_begins_with_what_is_needed_and_ends_with_an_example(command):
    lines = parser_of(command).format_help().rstrip("\n").split("\n")
    assert lines[0].startswith(f"usage: evener {command} ")
    assert lines[1] == ""
    assert lines[-2:] == ["example:", f"  {COMMANDS[command].example}"]


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_can_be_written_so(command):
    evener, *words = shlex.split(COMMANDS[command].example)
    assert evener == "evener"
    parse(words)


@pytest.mark.parametrize(
    "words",
    ["report --json x.plan mesh.su2", "report x.plan --json mesh.su2",
     "report x.plan mesh.su2 --json", "report --json -- x.plan mesh.su2"],
)  # fmt: skip
def test_files_and_options_stand_in_any_order(words):
    args, _ = parse(words.split())
    assert (args.plan, args.mesh, args.json) == ("x.plan", "mesh.su2", True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("report", "required: PLAN"),
        ("report a b c", "more than is taken: c"),
        ("report a --mesh b", "there is no option --mesh"),
        ("export a", "required: --to, -o/--output"),
        ("machine", "required: KIND"),
        ("machine grid --shape", "expected one argument"),
    ],
)
def test_mistakes_are_usage_errors(words, said):
    with pytest.raises(UsageError, match=said) as caught:
        parse(words.split())
    assert caught.value.hint.startswith("See `evener ")

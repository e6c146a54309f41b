"""Command lines: files and options in any order, and every --help short, with an example."""

import ast
import shlex
from pathlib import Path

import pytest

import evener.cli
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
    args = parse(words.split()).args
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


def test_arguments_become_options_before_anything_else_sees_them():
    """Only parsing, `add_*`, `run` and `*_from` name argparse's Namespace; import-linter checks
    that no other package does.
    """
    folder = Path(evener.cli.__file__).parent
    seen = [
        f"{path.relative_to(folder)}: {node.name}"
        for path in sorted(folder.rglob("*.py"))
        if path.name != "parsing.py"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef)
        and any("Namespace" in ast.unparse(one) for one in ast.walk(node.args))
        and not (node.name == "run" or node.name.endswith("_from"))
    ]
    assert seen == []

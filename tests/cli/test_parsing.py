"""Command lines: files and options in any order, a short --help, mistakes with what was meant."""

import ast
import re
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
        ("report a b c", "unexpected argument: c"),
        (
            "plan g --speeds 1 2 4",
            "argument: 2 4; separate the entries of a list by commas, as in 1,2,4",
        ),
        ("report a --mesh b", "there is no option --mesh"),
        ("run a b", "one of --app and --program is needed"),
        ("export a", "required: --to"),
        ("machine", "required: KIND"),
        ("machine grid --shape", "expected one argument"),
        ("tune x.plan --report x.pdf -- mpirun", "is not a name for a report"),
    ],
)
def test_mistakes_are_usage_errors(words, said):
    with pytest.raises(UsageError, match=said) as caught:
        parse(words.split())
    assert caught.value.hint.startswith("See `evener ")


@pytest.mark.parametrize(
    ("words", "name", "value"),
    [
        ("launch m.toml -- prog - -", "program", ["prog", "-", "-"]),
        *((f"machine flat --speeds 1,1 --{name}", name, True) for name in ("verbose", "debug")),
    ],
)
def test_words_that_are_accepted(words, name, value):
    assert getattr(parse(words.split()).args, name) == value


@pytest.mark.parametrize("words", ["split g --report x.html", "plan g --k 2 --preset best"])
def test_names_that_are_not_alike_are_not_asked_for(words):
    with pytest.raises(UsageError) as caught:
        parse(words.split())
    assert "did you mean" not in caught.value.message


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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("plam g.graph", "did you mean `evener plan`?"),
        ("partition g.graph", "did you mean `evener plan`?"),
        ("plan g.graph --k 3 --prest fast", "no option --prest; did you mean --preset?"),
        ("plan --prest=fast", "no option --prest; did you mean --preset?"),
        ("machine grid --shpe 3x3", "no option --shpe; did you mean --shape?"),
        ("plan g.graph --k 3 --preset fats", "did you mean fast?"),
        ("plan g.graph --k 3 --with mets", "'mets'; did you mean metis?"),
        ("plan missing --k 3 --with mets", "did you mean metis?"),
        ("compare g.graph --k 3 --with metis,rcbb", "did you mean rcb?"),
        ("plan g.graph --k 3 --kernel smpv", "did you mean spmv?"),
        ("plan g.graph --k 3 --objective secnods", "did you mean seconds?"),
        ("sizes --n 9 --speeds v.toml --method extact", "did you mean exact?"),
        ("tile --k 3 --size 8 --method guilotine", "did you mean guillotine?"),
        ("info g.graph --format metiss", "did you mean metis?"),
        ("export g.plan --to scoth -o x", "did you mean scotch?"),
        ("generate delauny -o x.graph", "did you mean delaunay?"),
        ("machine gird --shape 3x3", "did you mean grid?"),
        ("measure spmw --device cpu0 -o x.toml", "did you mean spmv?"),
    ],
)
def test_what_was_meant_is_asked(evener, place, words, said):
    done = evener(*words.split())
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert len(done.err.splitlines()) <= 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("plan g.graph --k 3 --epsilon 3", "for 3 % write 3%"),
        ("plan g.graph --k 3 --epsilon x", "'x' is not a share, such as 0.03 or 3%"),
        ("plan g.graph --k 3.5", "'3.5' is not a whole number"),
        ("plan g.graph --k 3 --time-limit x", "'x' is not a number"),
        ("plan g.graph --k 3 --bytes-per-value x", "'x' is not a number"),
        ("sizes --k 3 --n x", "'x' is not a whole number"),
        ("sizes --k 3 --n 9 --epsilon 120%", "does not lie in [0, 1)"),
        ("machine topo1 --speed x", "'x' is not a number, zero or above"),
        ("plan g.graph --k 3 --report x.pdf", "use .html"),
        ("compare g.graph --k 3 --report x.pdf", "use .html"),
        ("report g.plan -o x.pdf", "use .html"),
        ("measure axpy --precision x", "'x' is not a share"),
    ],
)
def test_wrong_values_are_said_in_words(evener, place, words, said):
    done = evener(*words.split())
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert not re.search(r"invalid|\b_\w+|float value|int value", done.err)
    assert not (place / "x.pdf").exists()


@pytest.mark.parametrize("epsilon", ["3%", "3 %", "0.03"])
def test_shares_may_be_percentages(evener, place, epsilon):
    usual = evener("sizes", "--k", 3, "--n", 1000, "--json")
    assert evener("sizes", "--k", 3, "--n", 1000, "--epsilon", epsilon, "--json") == usual


def test_help_of_a_command_either_way(evener):
    for words in (["plan"], ["machine", "grid"]):
        assert evener("help", *words) == evener(*words, "--help")
    assert "did you mean `evener plan`?" in evener("help", "plam").err

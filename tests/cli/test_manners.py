"""Manners that all commands share: streams, exit codes, interrupts, pipes, names."""

import ast
import json
import os
import re
from importlib.metadata import version

import pytest

from evener.cli import COMMANDS
from tests.assertions import run_python

# Words with which each command succeeds in a folder made by `place`.
# `tune` needs an MPI and its compiler: tests/tuning.
EXAMPLES = {
    "plan": "plan g.graph --k 3 -o new.plan",
    "evaluate": "evaluate g.graph g.plan --k 3",
    "refine": "refine g.graph g.plan --k 3 -o new.part",
    "compare": "compare g.graph --k 3 --with metis,rcb",
    "fits": "fits g.graph --machine m.toml",
    "sizes": "sizes --machine m.toml --n 100",
    "split": "split g.graph --machine m.toml -o e.plan",
    "map": "map f.toml --machine p.toml --method greedy -o f.plan",
    "tile": "tile --machine m.toml --size 64 --block 8",
    "measure": "measure axpy --device cpu0 --range 9:9 --time-limit 0.1 -o s.toml",
    "models": "models v.toml",
    "machine": "machine topo1 --k 4 --fast 2 -o new.toml",
    "advise": "advise g.graph --machine m.toml",
    "replay": "replay g.plan g.graph",
    "export": "export g.plan --to csv -o new.csv",
    "distribute": "distribute g.plan g.graph -o new.parts",
    "run": "run g.plan g.graph --app pagerank --iterations 2",
    "launch": "launch g.plan --with hostfile -- true",
    "report": "report g.plan -o new.html",
    "info": "info g.graph",
    "convert": "convert g.graph new.mtx",
    "generate": "generate grid --shape 4x5 -o new.graph",
    "warm": "warm --processes 1",
    "completion": "completion bash",
    "doctor": "doctor",
}
READERS = [
    "plan",
    "evaluate",
    "refine",
    "compare",
    "advise",
    "fits",
    "replay",
    "export",
    "distribute",
    "report",
    "info",
    "convert",
    "split",
]
# Every command that writes a file, or a new folder, in one that is not there.
MISSING = [
    *(EXAMPLES[command].replace("-o ", "-o no/") for command in EXAMPLES
      if "-o " in EXAMPLES[command]),
    *(f"{EXAMPLES[command]} -o no/x.csv" for command in ("run", "tile")),
    "advise g.graph --machine m.toml -o no/x.png",
    "compare g.graph --k 3 --with metis --report no/x.html",
    "convert g.graph no/new.mtx",
    "convert g.graph no/new.ecsr",
    "export g.plan g.graph --to petsc -o no/x",
    "machine here -o no/x.toml",
    "machine processes -o no/x.toml",
    "models v.toml --plot no/x.png",
    "plan g.graph --k 3 -o new.plan --report no/x.html",
    "tile --k 3 --size 8 --picture no/x.png",
]  # fmt: skip
# Those that start processes are run twice in test-fast, not four times.
COSTLY = ("advise", "compare", "doctor", "measure")
HEAVY = ("numpy", "scipy", "numba", "matplotlib", "meshio", "meshlane", "rich", "jinja2")


def fast_but(slow):
    """All commands, those of `slow` marked so."""
    return [
        pytest.param(command, marks=[pytest.mark.slow] if command in slow else [])
        for command in EXAMPLES
    ]


def example(command, *more):
    """Return the words of a command's example, with more options; a program's words come last."""
    words, *program = EXAMPLES[command].split(" -- ")
    return [*words.split(), *more, *(["--", *program[0].split()] if program else [])]


def test_every_command_has_an_example():
    assert EXAMPLES.keys() == COMMANDS.keys() - {"tune"}


@pytest.mark.parametrize("command", EXAMPLES)
def test_succeeds_and_writes_no_escapes(evener, place, command):
    said = evener(*example(command))
    assert said.code == 0, said.err
    assert said.out
    assert "\x1b" not in said.out + said.err
    assert "\r" not in said.out + said.err


@pytest.mark.parametrize("command", EXAMPLES)
def test_help(evener, command):
    said = evener(command, "--help")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(f"usage: evener {command} ")
    assert "--json" in said.out
    assert "--quiet" in said.out


@pytest.mark.parametrize("command", EXAMPLES)
def test_json_is_one_object(evener, place, command):
    said = evener(*example(command, "--json"))
    assert said.code == 0, said.err
    assert isinstance(json.loads(said.out), dict)
    assert "NaN" not in said.out
    assert "Infinity" not in said.out


@pytest.mark.parametrize("command", fast_but(COSTLY))
def test_quiet(evener, place, command):
    said = evener(*example(command, "--quiet"))
    assert (said.code, said.out, said.err) == (0, "", "")


@pytest.mark.parametrize("command", fast_but(COSTLY))
def test_quiet_does_not_silence_json(evener, place, command):
    said = evener(*example(command, "--quiet", "--json"))
    assert isinstance(json.loads(said.out), dict)
    assert said.err == ""


@pytest.mark.parametrize("command", EXAMPLES)
@pytest.mark.parametrize("more", [["--nothing"], ["--jso"]])
def test_unknown_options(evener, place, command, more):
    said = evener(*example(command, *more))
    assert (said.code, said.out) == (2, "")
    assert more[0] in said.err
    assert f"See `evener {command}" in said.err
    assert len(said.err.splitlines()) <= 3


@pytest.mark.parametrize("words", MISSING)
def test_outputs_into_a_folder_that_is_not_there(evener, place, words):
    """A name that cannot be written is exit code 3; 6 is for full disks (test_full_disks.py)."""
    said = evener(*words.split())
    assert (said.code, said.out) == (3, "")
    assert re.search(r"no/\S+: cannot be written: folder no", said.err)
    assert not (place / "no").exists()


@pytest.mark.parametrize("command", READERS)
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "No such file"),
        ("folder", ""),
        (b"", "is empty"),
        (bytes(range(256)) * 20, ""),
        (b"these are words\nand more of them\n", ""),
    ],
    ids=["missing", "folder", "empty", "binary", "text"],
)
def test_bad_files(evener, place, command, content, reason):
    words = ["bad" if word in ("g.graph", "g.plan") else word for word in EXAMPLES[command].split()]
    if command in ("evaluate", "replay", "distribute"):
        words[1] = "g.graph" if command == "evaluate" else "bad"
    if content == "folder":
        (place / "bad").mkdir()
    elif content is not None:
        (place / "bad").write_bytes(content)
    before = sorted(place.iterdir())
    said = evener(*words)
    assert said.code == 3, said.err
    assert said.out == ""
    assert "bad" in said.err
    # Plans have no word of their own for what is empty.
    if command not in ("replay", "export", "distribute", "report"):
        assert reason in said.err
    assert "Traceback" not in said.err
    assert 1 <= len(said.err.splitlines()) <= 4  # a note may come before
    assert sorted(place.iterdir()) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
@pytest.mark.parametrize("command", READERS)
def test_unreadable_files(evener, place, command):
    for name in ("g.graph", "g.plan"):
        (place / name).chmod(0)
    said = evener(*example(command))
    assert said.code == 3
    assert "Permission denied" in said.err


@pytest.mark.parametrize("option", ["--weights", "--coords"])
@pytest.mark.parametrize("name", ["", ".", "/", ":", "missing", "cell:"])
def test_bad_names_of_further_files(evener, place, option, name):
    said = evener("info", "g.graph", option, name)
    assert said.code in (2, 3)
    assert said.out == ""


def test_debug_shows_where(evener, place):
    said = evener("info", "missing", "--debug")
    assert said.code == 3
    assert "Traceback" in said.err
    assert said.err.rstrip().endswith("evener: missing: cannot be read: No such file or directory")


def test_a_bug_says_so(evener, place, monkeypatch):
    monkeypatch.setattr("evener.cli.commands.info.describe", lambda reading: 1 / 0)
    said = evener("info", "g.graph")
    assert said.code == 1
    assert "unexpected ZeroDivisionError" in said.err
    assert "--debug" in said.err
    assert "Traceback" not in said.err
    assert "Traceback" in evener("info", "g.graph", "--debug").err


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"], ["help"]])
def test_help_lists_the_commands(evener, words):
    said = evener(*words)
    assert (said.code, said.err) == (0, "")
    for command in COMMANDS:
        assert f"\n  {command} " in said.out


def test_version(evener):
    assert evener("--version") == (0, f"evener {version('evener')}\n", "")


def test_unknown_command(evener):
    said = evener("plans")
    assert (said.code, said.out) == (2, "")
    assert "no command 'plans'" in said.err


def test_help_imports_nothing_heavy():
    """In one process after another's help, the lightest first; whoever imports it is named."""
    words = [["--help"], ["--version"], *[[command, "--help"] for command in COMMANDS]]
    code = (
        f"import sys; from evener.cli import main\n"
        f"for words in {words}:\n"
        f"    main(words)\n"
        f"    found = [name for name in {HEAVY} if name in sys.modules]\n"
        f"    print(*words, found, sep='|', file=sys.stderr)"
    )
    done = run_python("-c", code)
    assert done.returncode == 0, done.stderr
    told = [line.split("|") for line in done.stderr.splitlines()]
    assert [line[:-1] for line in told] == words
    for *said, found in told:
        allowed = {"numpy", "scipy"} if said[0] in COMMANDS else set()
        assert set(ast.literal_eval(found)) <= allowed, said

"""No input of any command hurts: nothing is waited for, nothing grows without end, `-` is read."""

import io
import json
import os
import sys

import pytest

from evener.files.writing import write_text

MARKED = "\u202egpj\u2066\x1b[31m\x9b"
SHOWN = r"\u202egpj\u2066\x1b[31m\x9b"

# Of every command, each of its inputs in turn.
INPUTS = [
    "info X", "info g.graph --coords X", "info g.graph --weights X", "convert X y.graph",
    "plan X --k 2", "plan g.graph --machine X", "plan g.graph --k 2 --kernel X",
    "plan g.graph --k 2 --coords X", "plan g.graph --k 2 --weights X:1",
    "evaluate X p.part --k 3", "evaluate g.graph X --k 3", "evaluate g.graph g.plan --machine X",
    "refine g.graph X --k 3 -o y", "refine g.graph g.plan --k 3 -o y --fixed X",
    "compare X --k 2", "compare g.graph --machine X",
    "advise X --machine m.toml", "advise g.graph --machine X", "fits X --k 2",
    "fits g.graph --machine X", "sizes --machine X --n 9", "sizes --machine m.toml --graph X",
    "measure --trace X -o y", "measure --trace X.prv --loads 1 -o y", "measure spmv --graph X -o y",
    "models X", "tile --machine X --size 64", "machine show X", "replay X g.graph",
    "replay g.plan X", "export X --to metis -o y", "export g.plan X --to vtu -o y", "report X",
    "report g.plan X",
]  # fmt: skip


@pytest.fixture
def piped(monkeypatch):
    """Put bytes on standard input."""

    def put(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return put


@pytest.fixture
def files(place, evener):
    """The files that commands take beside the one in question."""
    (place / "m.toml").write_text(
        '[[device]]\nname = "a"\nspeed = 2\n[[device]]\nname = "b"\nspeed = 1\n'
    )
    assert evener("export", "g.plan", "--to", "metis", "-o", "p.part").code == 0
    return place


@pytest.mark.timeout(120)  # read to their end, they would have none
@pytest.mark.parametrize("words", INPUTS)
def test_a_pipe_and_a_device_are_refused_at_once(evener, files, words):
    os.mkfifo(files / "pipe")
    os.mkfifo(files / "pipe.prv")
    (files / "zero.prv").symlink_to("/dev/zero")
    (files / "zero").symlink_to("/dev/zero")
    for name, kind in (("pipe", "a pipe"), ("zero", "a device")):
        said = evener(*words.replace("X", name).split())
        assert said.code == 3, said
        assert f"is {kind}, not a file" in said.err
        assert said.err.count("\n") <= 3
    assert not list(files.glob("y*"))


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_every_kind_of_file_comes_through_standard_input(evener, files, piped, name):
    def run(file, *words):
        piped((files / file).read_bytes())
        said = evener(*(name if word == "X" else word for word in words))
        assert said.code == 0, said
        return said

    assert "vertices       72" in run("g.graph", "info", "X").out
    run("g.graph", "plan", "X", "--machine", "m.toml", "-o", "one.plan")
    run("m.toml", "plan", "g.graph", "--machine", "X", "-o", "two.plan")
    one, two = ((files / f"{n}.plan").read_bytes() for n in ("one", "two"))
    assert len(one) == pytest.approx(len(two), abs=200)
    assert "2 devices" in run("m.toml", "machine", "show", "X").out
    assert run("p.part", "evaluate", "g.graph", "X", "--k", "3").out
    assert run("g.plan", "evaluate", "g.graph", "X", "--k", "3").out
    run("g.plan", "export", "X", "--to", "json", "-o", "x.json")
    assert json.loads((files / "x.json").read_bytes())["n"] == 72
    run("g.plan", "replay", "X", "g.graph")
    run("g.plan", "report", "X")
    assert (files / "stdin.html").exists()
    run("g.graph", "plan", "X", "--k", "2")
    assert (files / "stdin.plan").exists()
    run("v.toml", "models", "X")
    run("v.toml", "sizes", "--speeds", "X", "--n", "20")
    run("g.graph", "info", "X", "--format", "metis")


def test_standard_input_is_one_file(evener, files, piped):
    piped(b"3 2\n2\n1 3\n2\n")
    said = evener("plan", "-", "--machine", "/dev/stdin", "-o", "-")
    assert said.code == 2
    assert "standard input can be only one of" in said.err


def test_the_limits_are_the_environment_s(evener, files, monkeypatch):
    monkeypatch.setenv("EVENER_MAX_INPUT", "100")
    for words in ("info g.graph", "machine show m.toml --json", "report g.plan", "models v.toml"):
        said = evener(*words.split())
        if said.code != 0:  # one of them is shorter
            assert "more than the 100 bytes allowed" in said.err
            assert "set EVENER_MAX_INPUT" in said.err
    assert evener("info", "g.graph").code == 3
    monkeypatch.setenv("EVENER_MAX_INPUT", "lots")
    assert evener("info", "g.graph").code == 2


@pytest.mark.parametrize(
    "text",
    [
        "a" + ".a" * 60_000 + " = 1\n",
        "[a" + ".a" * 60_000 + "]\n",
        "name = 'd'\ncapabilities = {x" + ' . "y"' * 30_000 + " = 1}\n",
    ],
)
@pytest.mark.parametrize(
    "command", ["machine show x.toml", "models x.toml", "plan g.graph --k 2 --kernel x.toml"]
)
@pytest.mark.timeout(60)  # it took hours
def test_a_key_of_many_parts_does_not_hang(evener, files, text, command):
    (files / "x.toml").write_text(text)
    said = evener(*command.split())
    assert said.code == 3
    assert "x.toml:" in said.err
    assert "a dotted key has more than 32 parts" in said.err


@pytest.mark.parametrize("name", ["=cmd|' /C calc'!A0", "+1", "@SUM(A1)", "-2+3", MARKED])
def test_names_are_shown_and_exported_as_what_they_are(evener, files, name):
    devices = (
        f"[[device]]\nname = {json.dumps(name)}\nspeed = 2\n[[device]]\nname = 'b'\nspeed = 1\n"
    )
    write_text(files / "odd.toml", devices)
    outputs = [
        evener(*words.split()) for words in (
            "machine show odd.toml", "plan g.graph --machine odd.toml -o o.plan --report o.html",
            "evaluate g.graph o.plan --machine odd.toml", "sizes --machine odd.toml --n 9",
            "fits g.graph --machine odd.toml", "tile --machine odd.toml --size 64",
            "export o.plan --to csv -o o.csv", "machine show odd.toml --json",
        )
    ]  # fmt: skip
    for said in outputs:
        assert said.code == 0, said
        assert all(c.isprintable() or c == "\n" for c in said.out + said.err)
    page = (files / "o.html").read_text()
    text = (files / "o.csv").read_text()
    if name == MARKED:
        assert SHOWN in outputs[0].out
        assert SHOWN in page
        assert SHOWN in text
    else:
        assert f",'{name}\n" in text or f',"\'{name}"\n' in text or name == "+1"
    for mark in "\u202e\u2066\x1b\x9b":
        assert mark not in page + text
    assert evener("evaluate", "g.graph", "o.csv", "--machine", "odd.toml").code == 0


def test_long_and_odd_names_in_errors(evener, files):
    for words in (["info", "x" * 5000], ["info", MARKED], ["machine", "show", "\x1b[2J.toml"],
                  ["plan", "g.graph", "--k", "2", "--kernel", "k" * 9000],
                  ["plan", "g.graph", "--with", "t" * 9000, "--k", "2"], ["p" * 9000],
                  ["info", "g.graph", "--format", "f\n" * 900]):  # fmt: skip
        said = evener(*words)
        assert said.code in (2, 3)
        lines = said.err.rstrip("\n").split("\n")
        assert len(lines) <= 3
        assert all(len(line) < 500 and line.isprintable() for line in lines)

"""A short run of the fuzzer, and whether it finds what is wrong."""

import random

import pytest

from evener.errors import EvenerError
from tests.fuzzing import changes, samples, supervising, uses, worker


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    folder = tmp_path_factory.mktemp("samples")
    samples.make(folder)
    return folder


@pytest.mark.slow
def test_nothing_is_found_in_some_cases(source):
    tally = supervising.watch(str(source), 7, range(150), 200, lambda number, text: None)
    assert tally.findings == []
    assert tally.done == 150


@pytest.mark.slow
def test_a_hang_and_a_crash_are_found(source, monkeypatch, tmp_path):
    monkeypatch.setattr(supervising, "SECONDS", 0.5)
    script = tmp_path / "worker.py"
    script.write_text("import os, sys\nprint('ready', flush=True)\n"
                      "for line in sys.stdin:\n    if ' 0' in line:\n        while True: pass\n"
                      "    os.abort()\n")  # fmt: skip
    monkeypatch.setattr(supervising, "COMMAND", [str(script)])
    found = []
    supervising.watch(source, 1, range(2), 60, lambda number, text: found.append((number, text)))
    assert [number for number, _ in found] == [0, 1]
    assert "takes more than 0.5 s" in found[0][1]
    assert "ends the process" in found[1][1]


def test_a_case_is_the_same_again_and_cases_differ():
    files = {"machine": [("m.toml", samples.MACHINE.encode())],
             "graph": [("g.graph", b"3 2\n2\n1 3\n2\n")]}  # fmt: skip
    once, again = ([worker.case(files, 3, n)[:3] for n in range(50)] for _ in range(2))
    assert once == again
    assert len({content for *_, content in once}) > 40
    assert {kind for kind, *_ in once} == {"machine", "graph"}


@pytest.mark.parametrize(
    "content",
    [b"", b"1 2\n", b"PK", b'{"a": [1, {"b": 2}]}', b'{"a": 1}\n{"a": 2}\n', b"[[d]]\na = 1\n"],
)
def test_every_content_can_be_changed(content):
    results = {changes.changed(content, random.Random(i)) for i in range(60)}
    assert len(results) > 3


@pytest.mark.parametrize("wrong", ["code", "bug", "marks", "quotation", "lines"])
def test_what_must_not_happen_is_found(wrong, monkeypatch):
    def main(words):
        import sys

        if wrong == "marks":
            print("a\u202eb")
        elif wrong == "bug":
            print("evener: unexpected\nThis is a bug in evener.", file=sys.stderr)
        elif wrong == "quotation":
            print(f"evener: no '{'x' * 90}'", file=sys.stderr)
        elif wrong == "lines":
            print("evener: a\nb\nc\nd", file=sys.stderr)
        return {"code": 1, "marks": 0}.get(wrong, 3)

    monkeypatch.setattr(uses, "main", main)
    with pytest.raises(uses.FoundError):
        uses.run("info", "x")


def test_what_is_accepted_and_then_refused_is_found(tmp_path, monkeypatch):
    def refuse(*_):
        raise EvenerError("no")

    monkeypatch.setattr(uses, "use", refuse)
    files = {"graph": [("g.graph", b"3 2\n2\n1 3\n2\n")]}
    assert "accepted, then refused" in worker.once(files, tmp_path, 1, 1)

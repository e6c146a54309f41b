"""Files of the wrong sort are named with what to do, before any work."""

import pytest

from evener.cli.parsing import parse
from evener.cli.swapped import files_from, sort_of

MACHINE, GRAPH, PLAN, PART = "m.toml", "g.graph", "g.plan", "g.part"


@pytest.fixture
def files(place):
    (place / PART).write_text("0\n" * 24 + "1\n" * 24 + "2\n" * 24)
    (place / "f.toml").write_text('[[filter]]\nname = "a"\nscalar = 1\n')
    (place / "d.json").write_bytes(b'{"decisions": 1}\n')
    return place


def test_sorts_of_files(files):
    found = {name: sort_of(name) for name in (MACHINE, GRAPH, PLAN, PART, "v.toml", "d.json")}
    assert list(found.values()) == ["machine", None, "plan", "part", "speeds", "decisions"]
    assert sort_of("f.toml") == "filters"
    assert sort_of("missing") is None
    assert sort_of(".") is None


@pytest.mark.parametrize(
    ("words", "said", "hint"),
    [
        (f"plan {MACHINE} --machine {GRAPH}", "describes a machine",
         f"evener plan {GRAPH} --machine {MACHINE}"),
        (f"evaluate {PART} {GRAPH} --k 3", "is a partition", f"evener evaluate {GRAPH} {PART}"),
        (f"refine {PLAN} {GRAPH} --k 3 -o x", "is a plan", f"evener refine {GRAPH} {PLAN}"),
        (f"report {GRAPH} {PLAN}", "is not a plan", f"evener report {PLAN} {GRAPH}"),
        (f"replay {GRAPH} {PLAN}", "is not a plan", f"evener replay {PLAN} {GRAPH}"),
        (f"report {GRAPH}", "named as a mesh", f"evener plan {GRAPH}"),
        (f"report {PART}", "is a partition", ""),
        (f"info {PLAN}", "is a plan", f"evener report {PLAN}"),
        (f"plan {GRAPH} --machine {GRAPH}", "--machine takes a machine file", "--k 8"),
        (f"evaluate {GRAPH} {MACHINE} --k 3", "describes a machine", ""),
        ("compare v.toml --k 3", "holds speeds", ""),
        (f"run {GRAPH} {PLAN} --app wcc", "is not a plan", f"evener run {PLAN} {GRAPH}"),
        (f"plan {GRAPH} --speeds {MACHINE}", "describes a machine; a file of speeds", ""),
        (f"report {PLAN} {MACHINE}", "describes a machine; a mesh", ""),
        (f"models {PLAN}", "is a plan; a file of speeds", ""),
        (f"evaluate {GRAPH} {GRAPH} --k 3", "named as a mesh, matrix or graph is; a partition", ""),
        (f"map {GRAPH} --machine {MACHINE}", "a stream graph is expected", f"evener plan {GRAPH}"),
        (f"map {MACHINE} --machine {MACHINE}", "describes a machine; a stream graph", ""),
        (f"machine show {PLAN}", "is a plan; a machine file", ""),
        ("map f.toml --machine f.toml", "is a stream graph; a machine file or a plan", ""),
        (f"evaluate {GRAPH} f.toml --k 3", "is a stream graph; a partition", ""),
    ],
)  # fmt: skip
def test_swapped_files_are_named_with_what_to_do(evener, files, words, said, hint):
    before = sorted(files.iterdir())
    done = evener(*words.split())
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert hint in done.err
    assert len(done.err.splitlines()) <= 2
    assert sorted(files.iterdir()) == before


def test_the_one_file_of_run_is_the_graph():
    found = files_from("run", parse(f"run {GRAPH} --machine {MACHINE} --app wcc".split()).args)
    assert (found.graph, found.plan) == (GRAPH, None)

"""Files given in each other's place are refused by the reader of each."""

import pytest


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("plan m.toml --machine g.graph", "g.graph:1: not valid TOML, so no machine file"),
        ("plan m.toml --k 3", "m.toml: is text, but not a graph"),
        ("evaluate g.part g.graph --k 3", "g.part:2: has no vertex"),
        ("evaluate g.graph g.graph --k 3", "g.graph:1: the line has 2 numbers"),
        ("refine g.plan g.graph --k 3 -o x", "contains a plan or a partition, not a graph"),
        ("info g.plan", "contains a plan or a partition, not a graph"),
        ("report g.graph g.plan", "g.graph: is not a plan file"),
        ("replay g.graph g.plan", "g.graph: is not a plan file"),
        ("run g.graph g.plan --app wcc", "g.graph: is not a plan file"),
        ("plan g.graph --speeds m.toml", "m.toml:3: unknown key 'speed'"),
        ("map g.graph --machine m.toml", "g.graph: is not a stream graph"),
        ("map f.toml --machine f.toml", "f.toml:1: unknown key 'filter'"),
        ("machine show g.plan", "not a text in UTF-8, so no machine file"),
    ],
)
def test_refused_without_a_file_written(evener, place, words, said):
    (place / "g.part").write_text("0\n" * 24 + "1\n" * 24 + "2\n" * 24)
    before = sorted(place.iterdir())
    done = evener(*words.split())
    assert (done.code, done.out) == (3, "")
    assert said in done.err
    assert sorted(place.iterdir()) == before

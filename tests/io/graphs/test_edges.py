"""Edge lists of every dialect: the same graph, the vertices' own names kept as labels."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evener.errors import InputError
from evener.io import read, read_graph
from evener.io import text as pieces
from tests.examples import with_examples

# A triangle 0-1-2 with a tail 2-3.
NEIGHBOURS = [1, 2, 0, 2, 0, 1, 3, 2]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("0 1\n0 2\n1 2\n2 3\n", "g.txt"),
        ("# Directed graph\n# FromNodeId\tToNodeId\n0\t1\n2\t0\n1\t2\n3\t2\n", "g.txt"),
        ("0 1\r\n0 2\r\n1 2\r\n2 3", "g.edges"),
        ("source,target\n0,1\n0,2\n1,2\n2,3\n", "g.csv"),
        ("id_1;id_2\n0; 1\n0; 2\n1; 2\n2; 3\n", "g.csv"),
        ('"from"\t"to"\n0\t1\n0\t2\n1\t2\n2\t3\n', "g.tsv"),
        ("0 1 {}\n0 2 {}\n1 2 {'color': 'red'}\n2 3 {}\n", "g.edgelist"),
        ("% konect\n\n0 1\n# between\n0 2\n\n1 2\n2 3\n\n", "g.el"),
        ("0|1\n0|2\n1|2\n2|3\n", "g.csv"),
    ],
)
def test_dialects(put, text, name):
    graph = read_graph(put(text, name))
    assert graph.adjncy.tolist() == NEIGHBOURS
    assert graph.labels is None
    assert graph.adjwgt is None


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("1 2\n1 3\n2 3\n3 4\n", [1, 2, 3, 4]),
        ("10 20\n10 30\n20 30\n30 99\n", [10, 20, 30, 99]),
        ("-5 7\n-5 8\n7 8\n8 9000000000000000000\n", [-5, 7, 8, 9_000_000_000_000_000_000]),
    ],
)
def test_any_numbers_become_labels(put, text, labels):
    graph = read_graph(put(text, "g.txt"))
    assert graph.adjncy.tolist() == NEIGHBOURS
    assert graph.labels.tolist() == labels


@pytest.mark.parametrize(
    "text",
    [
        "alice bob\nalice ćiril\nbob ćiril\nćiril dora\n",
        "Source,Target\nalice,bob\nalice,ćiril\nbob,ćiril\nćiril,dora\n",
        'alice,bob\n"alice",ćiril\nbob , "ćiril"\nćiril,dora\n',
    ],
)
def test_names_become_labels(put, text):
    graph = read_graph(put(text, "g.csv"))
    assert graph.adjncy.tolist() == NEIGHBOURS
    assert graph.labels.tolist() == ["alice", "bob", "ćiril", "dora"]


def test_a_quoted_name_may_hold_the_separator(put):
    graph = read_graph(put('"a, b",c\nc,"d e"\n', "g.csv"))
    assert graph.labels.tolist() == ["a, b", "c", "d e"]


def test_weights(put):
    graph = read_graph(put("source,target,weight\n0,1,5\n1,2,7\n", "g.csv"))
    assert graph.adjwgt.tolist() == [5, 5, 7, 7]
    graph = read_graph(put("a b 0.5\nb c 2\n", "g.edgelist"))
    assert graph.adjwgt.tolist() == [0.5, 0.5, 2.0, 2.0]


@pytest.mark.parametrize(
    ("text", "weights", "said"),
    [
        ("0 1 {'weight': 3}\n1 2 {'weight': 5}\n", [3, 5], []),
        ('a b {"weight": 0.5, "color": "red"}\nb c {}\n', [0.5, 1], ["color", "1 edge", "names"]),
        ("0 1 {'length': 3}\n1 2 {}\n", None, ["length"]),
        ("u,v,time\n0,1,3\n1,2,5\n", [3, 5], ["'time' is read"]),
    ],
)
def test_what_networkx_and_headings_say_of_edges(put, text, weights, said):
    reading = read(put(text, "x.edgelist"))
    found = reading.graph.adjwgt
    assert (found if found is None else found[[0, 3]].tolist()) == weights
    assert len(reading.notes) == len(said)
    for word in said:
        assert any(word in note for note in reading.notes)


@pytest.mark.parametrize(
    ("name", "text", "n", "m"),
    [
        ("two.tri", "2 2 4\n0 0 1\n0 1 2\n1 0 -2\n1 1 3\n", 2, 1),
        ("two.tri", "2 2 4 0\n0 0 1\n0 1 2\n1 0 -2\n1 1 3\n", 2, 1),
        ("wide.mtx", "5 5 2\n1 2 1\n2 3 1\n", 5, 2),
        ("k4.edges", "4 6\n0 1\n0 2\n0 3\n1 2\n1 3\n2 3\n", 4, 6),
        ("k4.edges", "4 6\n1 2 .5\n1 3 .5\n1 4 .5\n2 3 .5\n2 4 .5\n3 4 .5\n", 4, 6),
        ("k3.edges", "3 3 3\n1 2 7\n1 3 7\n2 3 7\n", 3, 3),
    ],
)
def test_a_line_that_counts_the_others_is_no_edge(put, name, text, n, m):
    reading = read(put(text, name))
    assert (reading.graph.n, reading.graph.m) == (n, m)
    assert "Line 1 is a header" in reading.notes[0]


@pytest.mark.parametrize("text", ["5 4\n0 1\n1 2\n2 3\n3 4\n", "0 1\n1 2\n", "1 2 9\n0 1 3\n"])
def test_a_line_that_may_be_an_edge_is_one(put, text):
    reading = read(put(text, "x.edges"))
    assert reading.graph.m == text.count("\n")
    assert not reading.notes


def test_what_was_made_of_it_is_said(put):
    reading = read(put("4 5 1\n5 4 9\n4 4 2\n6 5 3\n", "g.edges"))
    assert reading.graph.adjwgt.tolist() == [1, 1, 3, 3]
    labels, loops, merged = reading.notes
    assert "counted from 4" in labels
    assert loops.startswith("1 line joins a vertex with itself")
    assert merged.startswith("1 line repeats an edge")
    assert "the first weight counts" in merged


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("0 1\n0 2 3\n", 2, "3 fields; the lines before have 2"),
        ("0 1\n0\n", 2, "1 field"),
        ("0 1\n0 x\n", 2, "'x'"),
        ("0 1\n0 1.5\n", 2, "'1.5'"),
        ("0 1\n0 99999999999999999999\n", 2, "too large"),
        ("0 1 2\n0 2 -1\n", 2, "must not be negative"),
        ("0 1 2\n0 2 nan\n", 2, "not finite"),
        ("0 1 2\n0 2 1e999\n", 2, "not finite"),
        ("a b\na c d\n", 2, "3 fields; 2 are needed"),
        ("a b\na\n", 2, "1 field; 2 are needed"),
        ("a b 1\na c x\n", 2, "'x'"),
        ("a b 1\na c -4\n", 2, "must not be negative"),
        ("0 1 2 3\n0 1 2 3\n", 1, "each line must be `u v [weight]`, but this line has 4 fields"),
        ("just one\nword\n", 2, "1 field"),
        ("# nothing\n% at all\n", None, "contains only comments"),
        (b"a b\n\xff\xfe c\n", None, "UTF-8"),
    ],
)
def test_refused(put, text, line, words):
    path = put(text, "g.edgelist")
    with pytest.raises(InputError) as caught:
        read_graph(path, format="edges")
    assert words in str(caught.value)
    assert (caught.value.file, caught.value.line) == (str(path), line)


@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=1, max_size=60))
@with_examples(60)
def test_beside_python(tmp_path_factory, pairs):
    """The graph is that of sets and dicts, whatever the numbers."""
    path = tmp_path_factory.mktemp("edges") / "g.txt"
    path.write_text("".join(f"{u} {v}\n" for u, v in pairs))
    graph = read_graph(path, format="edges")
    assume(pairs[0][1] != len(pairs) - 1)  # else the first line may be a header
    names = sorted({name for pair in pairs for name in pair})
    edges = {frozenset(pair) for pair in pairs if pair[0] != pair[1]}
    labels = list(range(graph.n)) if graph.labels is None else graph.labels.tolist()
    assert labels == names
    u = np.repeat(np.arange(graph.n), graph.degrees)
    found = {frozenset((labels[a], labels[b])) for a, b in zip(u, graph.adjncy, strict=True)}
    assert found == edges
    assert graph.m == len(edges)


def test_pieces_do_not_change_the_graph(put, monkeypatch):
    """Cut anywhere, by threads or not, the same edges and weights come out."""
    rng = np.random.default_rng(77)
    table = np.column_stack((rng.integers(0, 10**6, (500, 2)), rng.integers(0, 99, 500)))
    path = put("".join(f"{a} {b} {c}\n" for a, b, c in table.tolist()), "g.txt")
    whole = read_graph(path)
    for size in (1, 7, 100, 3000):
        monkeypatch.setattr(pieces, "PIECE", size)
        graph = read_graph(path)
        assert np.array_equal(graph.adjncy, whole.adjncy)
        assert np.array_equal(graph.adjwgt, whole.adjwgt)
        assert graph.adjwgt.dtype == np.int64


@pytest.mark.parametrize("size", [1, 10, 2**22])
def test_pieces_do_not_change_what_is_refused(put, monkeypatch, size):
    monkeypatch.setattr(pieces, "PIECE", size)
    good = [f"{i} {i + 1} 1" for i in range(50)]
    for bad in ("3 x 1", "3 4", "3 4 -1", "3 4 5 6"):
        lines = [*good[:20], bad, *good[20:], "also wrong"]
        with pytest.raises(InputError) as caught:
            read_graph(put("\n".join(lines), "g.txt"), format="edges")
        assert caught.value.line == 21
    lines = [*good[:20], "# a comment", "", "7 9 0.5", *good[20:]]
    graph = read_graph(put("\n".join(lines), "g.txt"), format="edges")
    assert graph.m == 51
    assert graph.adjwgt.dtype == np.float64

"""Graphviz's DOT: what is read of it, and what is refused with line and way round."""

import contextlib

import numpy as np
import pytest

from evener.errors import InputError
from evener.io import read


def edges_of(graph):
    names = range(graph.n) if graph.labels is None else graph.labels.tolist()
    u = np.repeat(np.arange(graph.n), graph.degrees).tolist()
    pairs = zip(u, graph.adjncy.tolist(), graph.edge_weights().tolist(), strict=True)
    return {(names[a], names[b]): w for a, b, w in pairs if a < b}


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        ("graph { a -- b }", {("a", "b"): 1}),
        ("graph{a--b--c}", {("a", "b"): 1, ("b", "c"): 1}),
        ('STRICT Graph "x y" {\n"a b"--c;c--d,\n}', {("a b", "c"): 1, ("c", "d"): 1}),
        ("graph 7 { 0--1; 1--2 }", {(0, 1): 1, (1, 2): 1}),
        ("graph { 12 -- 5 }", {(5, 12): 1}),
        ("graph { -1 -- .5 }", {("-1", ".5"): 1}),
        ("graph { a:n -- b:port:sw }", {("a", "b"): 1}),
        ("graph { a -- b [weight=3][weight = 2.5, color=red; x] }", {("a", "b"): 2.5}),
        ("graph { edge [weight=3]; a -- b; edge [weight=4] b -- c }",
         {("a", "b"): 3, ("b", "c"): 4}),
        ("graph { a -- b [weight=3] b -- c }", {("a", "b"): 3, ("b", "c"): 1}),
        ("graph { subgraph s { edge [weight=9] a -- b } b -- c {c -- d} }",
         {("a", "b"): 9, ("b", "c"): 1, ("c", "d"): 1}),
        ("graph { rank=same; label = \"x {\" graph [y=z]\n# -- no\n/* e -- f */ a // b\n -- b }",
         {("a", "b"): 1}),
        ('graph { x -- "a" + "b"; "c\\"d" -- x }', {("x", "ab"): 1, ("x", 'c"d'): 1}),
        ("graph { größe -- ça }", {("größe", "ça"): 1}),
        ("graph { a -- a; a -- b; b -- a }", {("a", "b"): 1}),
    ],
)  # fmt: skip
def test_what_is_read(put, text, edges):
    reading = read(put(text, "g.txt"))
    assert reading.format == "dot"
    assert edges_of(reading.graph) == edges


def test_notes_say_what_was_dropped(put):
    reading = read(put("graph { a -- a; a -- b; b -- a [weight=2] }", "g.dot"))
    assert reading.notes == (
        "Vertices have names, 'a' the first: labels keep them.",
        "1 edges join a node with itself: they are left out.",
        "1 edges repeat others: merged; the first weight counts.",
    )


def test_nodes_weigh_and_lie_where_they_say(put):
    text = 'graph { node [weight=2]; b [pos="1,2"]; a [weight=5 pos="3.5,-4!"]; a -- b }'
    graph = read(put(text, "g.gv")).graph
    assert graph.vwgt.tolist() == [2, 5]
    assert graph.coords.tolist() == [[1, 2], [3.5, -4]]


def test_whole_numbers_are_put_in_order(put):
    graph = read(
        put("graph { 3 [weight=30]; 1 [weight=10]; 2 [weight=20]; 3 -- 1 }", "g.dot")
    ).graph
    assert graph.labels.tolist() == [1, 2, 3]
    assert graph.vwgt.tolist() == [10, 20, 30]
    assert edges_of(graph) == {(1, 3): 1}
    assert read(put("graph { 7 -- 07 }", "g.dot")).graph.labels.tolist() == ["7", "07"]


def test_nodes_without_a_place_leave_coordinates_out(put):
    reading = read(put('graph { a [pos="1,2"]; a -- b }', "g.dot"))
    assert reading.graph.coords is None
    assert "coordinates left out" in " ".join(reading.notes)


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("digraph {\n a -> b }", 1, "is a directed graph"),
        ("graph {\n a -> b }", 2, "joins nodes by ->"),
        ("graph {\n a -- {b c} }", 2, "a group of nodes by one edge"),
        ("graph {\n a\n -- subgraph x {b} }", 3, "a group of nodes by one edge"),
        ("graph {\n {a b}\n -- c }", 3, "a group of nodes by one edge"),
        ("graph {\n a -- <b> }", 2, "a name in HTML"),
        ("graph {\n a -- b\n", 2, "ends before its last 1 braces"),
        ("graph { a -- b }\n graph { c }", 2, "more than one graph"),
        ("graph {\n a -- ; }", 2, "a name is needed, not ';'"),
        ("graph {\n a [weight=x] }", 2, "a number is needed, not 'x'"),
        ("graph {\n a -- b [weight=-2] }", 2, "negative or not finite"),
        ("graph {\n a -- b [weight=1e999] }", 2, ""),
        ('graph {\n a -- b [weight="nan"] }', 2, "negative or not finite"),
        ("graph {\n a [weight=2]\n b }", 3, "node 'b' has no weight"),
        ('graph {\n "a }', 2, "a quotation mark is not closed"),
        ("graph {\n /* a }", 2, "a comment is not closed"),
        ("graph {\n a -- b$ }", 2, "'$' cannot stand here"),
        ("graph {\n 1a -- b }", 2, "cannot stand here"),
        ("graph {\n a [weight }", 2, "a name is needed, not '}'"),
        ("graph { }", None, "has no node"),
        ("{ a -- b }", 1, "must begin"),
        ('graph {\n "a" + b -- c }', 2, ""),
    ],
)
def test_what_is_refused(put, text, line, told):
    with pytest.raises(InputError) as caught:
        read(put(text, "g.dot"))
    assert told in caught.value.message
    assert caught.value.line == line


def test_directed_graphs_have_a_way_round(put):
    with pytest.raises(InputError) as caught:
        read(put("digraph { a -> b }", "g.dot"))
    assert "from_networkx" in caught.value.hint


def test_names_that_are_no_text(put):
    with pytest.raises(InputError, match="not UTF-8"):
        read(put(b"graph { \xff\xfe -- a }", "g.dot"))
    with pytest.raises(InputError, match="too long to be one"):
        read(put("graph {" + "".join(f"a{i};" for i in range(2000)) + "b" * 20_000 + "}", "g.dot"))


def test_content_before_suffix(put):
    assert read(put("3 2\n2\n1 3\n2\n", "g.dot")).format == "metis"


@pytest.mark.parametrize("piece", ["/**/", "{", "\n#", "//\n", '"', "/*", " ", "a--", "[", "{a;"])
@pytest.mark.parametrize("begin", ["", "graph {"])
def test_what_repeats_without_end_is_read_or_refused(put, piece, begin):
    """Neither recognising nor reading tries the ways in which comments could be cut up."""
    for name in ("g.txt", "g.dot"):
        with contextlib.suppress(InputError):
            assert read(put(begin + piece * 5_000 + "}", name)).graph.n > 0

"""Graphviz's DOT: which statements are read, and what is refused, with its line."""

import contextlib

import pytest

from evener.errors import InputError
from evener.io import read
from evener.io.dataflow.dot import quoted_name
from evener.io.dataflow.reading import read_stream_graph


def with_costs(text):
    """The text with defaults for nodes and edges behind the first brace."""
    return text.replace("{", "{node [scalar=1] edge [bytes=1] ", 1)


def edges_of(graph):
    return {(row.tail, row.head): row.nbytes for row in graph.edge_rows()}


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        ("digraph { a -> b }", {("a", "b"): 1}),
        ("digraph{a->b->c}", {("a", "b"): 1, ("b", "c"): 1}),
        ('STRICT DiGraph "x y" {\n"a b"->c;c->d,\n}', {("a b", "c"): 1, ("c", "d"): 1}),
        ("digraph 7 { 0->1; 1->2 }", {("0", "1"): 1, ("1", "2"): 1}),
        ("digraph { -1 -> .5 }", {("-1", ".5"): 1}),
        ("digraph { a:n -> b:port:sw }", {("a", "b"): 1}),
        ("digraph { a -> b [bytes=3][bytes = 2.5, color=red; x] }", {("a", "b"): 2.5}),
        ("digraph { edge [bytes=3]; a -> b; edge [bytes=4] b -> c }",
         {("a", "b"): 3, ("b", "c"): 4}),
        ("digraph { a -> b [bytes=3] b -> c }", {("a", "b"): 3, ("b", "c"): 1}),
        ("digraph { subgraph s { edge [bytes=9] a -> b } b -> c {c -> d} }",
         {("a", "b"): 9, ("b", "c"): 1, ("c", "d"): 1}),
        ("digraph { rank=same; label = \"x {\" graph [y=z]\n# -> no\n/* e -> f */ a // b\n -> b }",
         {("a", "b"): 1}),
        ('digraph { x -> "a" + "b"; "c\\"d" -> x }', {("x", "ab"): 1, ('c"d', "x"): 1}),
        ("digraph { größe -> ça }", {("größe", "ça"): 1}),
    ],
)  # fmt: skip
def test_what_is_read(put, text, edges):
    reading = read_stream_graph(put(with_costs(text), "g.txt"))
    assert reading.format == "dot"
    assert edges_of(reading.graph) == edges


def test_nodes_have_the_defaults_of_where_they_begin(put):
    text = "digraph { node [scalar=2]; b; node [scalar=3] a [scalar=5]; c; {node [scalar=7] b d} }"
    graph = read_stream_graph(put(text, "g.gv")).graph
    assert dict(zip(graph.names, graph.scalar, strict=True)) == {"b": 2, "a": 5, "c": 3, "d": 7}


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("graph {\n a -- b }", 1, "is an undirected graph"),
        ("digraph {\n a -- b }", 2, "joins nodes by --"),
        ("digraph {\n a -> {b c} }", 2, "an edge to or from a group"),
        ("digraph {\n a\n -> subgraph x {b} }", 3, "an edge to or from a group"),
        ("digraph {\n {a b}\n -> c }", 3, "an edge to or from a group"),
        ("digraph {\n a -> <b> }", 2, "an HTML name"),
        ("digraph {\n a -> b\n", 2, "ends before its last 1 braces"),
        ("digraph { a -> b }\n digraph { c }", 2, "more than one graph"),
        ("digraph {\n a -> ; }", 2, "a name is needed, not ';'"),
        ('digraph {\n "a }', 2, "a quotation mark is not closed"),
        ("digraph {\n /* a }", 2, "a comment is not closed"),
        ("digraph {\n a -> b$ }", 2, "unexpected '$'"),
        ("digraph {\n 1a -> b }", 2, "unexpected "),
        ("digraph {\n a [scalar }", 2, "a name is needed, not '}'"),
        ('digraph {\n "a" + b -> c }', 2, "a name is needed, not '+'"),
        ("digraph { }", None, "contains no filters"),
    ],
)
def test_what_is_refused(put, text, line, reason):
    with pytest.raises(InputError) as caught:
        read_stream_graph(put(text, "g.dot"))
    assert reason in caught.value.message
    assert caught.value.line == line


def test_names_that_are_no_text(put):
    with pytest.raises(InputError, match="not UTF-8"):
        read_stream_graph(put(b"digraph { \xff\xfe -> a }", "g.dot"))


def test_names_that_would_change_are_not_written():
    assert quoted_name('c"d ü\\x') == '"c\\"d ü\\x"'
    with pytest.raises(InputError, match="cannot be written in DOT"):
        quoted_name("b\\")


@pytest.mark.parametrize("name", ["g.dot", "g.txt"])
def test_as_a_graph_it_is_refused_with_a_way_round(put, name):
    with pytest.raises(InputError, match="DOT") as caught:
        read(put("graph { a -- b }", name))
    assert "ev.Graph.from_networkx" in caught.value.hint


def test_content_before_suffix(put):
    assert read(put("3 2\n2\n1 3\n2\n", "g.dot")).format == "metis"


@pytest.mark.parametrize("piece", ["/**/", "{", "\n#", "//\n", '"', "/*", " ", "a->", "[", "{a;"])
@pytest.mark.parametrize("begin", ["", "digraph {"])
def test_what_repeats_without_end_is_read_or_refused(put, piece, begin):
    """Neither recognising nor reading tries the ways in which comments could be cut up."""
    for name in ("g.txt", "g.dot"):
        path = put(begin + piece * 5_000 + "}", name)
        for reader in (read_stream_graph, read):
            with contextlib.suppress(InputError):
                reader(path)

"""Edges that are read one by one: their order, loops, repeats, weights; against loops in Python."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.errors import InputError, UsageError
from evener.graphs.directed import DirectedGraph
from evener.graphs.edge_list import EdgeList
from evener.graphs.generating.grid import grid
from evener.io.edges import as_edges, read_edges
from evener.io.write import write_graph
from tests.examples import with_examples

sparse = pytest.importorskip("scipy.sparse")
LINES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=12)


def written(path, lines):
    """Each line with its number as weight; all vertices have a line."""
    path.write_text("".join(f"{u} {v} {i}\n" for i, (u, v) in enumerate(lines)))
    return path


def rows_of(reading):
    columns = (*reading.ends, reading.edges.weights)
    return [tuple(map(int, row)) for row in zip(*columns, strict=True)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("edges")


@with_examples(40)
@given(LINES)
def test_lines_of_an_edge_list(folder, lines):
    path = written(folder / "a.el", lines)
    numbered = [(u, v, i) for i, (u, v) in enumerate(lines)]
    for of in ("arcs", "matrix"):
        found = read_edges(path, of=of, weighted=True)
        assert rows_of(found) == sorted(numbered)
    found = read_edges(path, of="graph", weighted=True)
    assert rows_of(found) == sorted(rows_of(found))
    counted = Counter((u, v) for u, v, _ in rows_of(found))
    ways = Counter(lines)
    for u, v in {(min(pair), max(pair)) for pair in lines}:
        assert counted.pop((u, v)) == max(ways[u, v], ways[v, u])
    assert not counted
    assert {i for *_, i in rows_of(found)} <= set(range(len(lines)))


def test_lines_in_the_order_of_the_file(folder):
    lines = [(3, 1), (0, 0), (1, 3), (3, 1)]
    np.save(folder / "f.npy", np.array(lines))
    for path in (folder / "f.npy", written(folder / "f.el", lines)):
        found = read_edges(path, of="file")
        assert list(zip(*found.ends, strict=True)) == lines
        assert (found.edges.n, len(found.inputs)) == (4, 1)
    with pytest.raises(UsageError, match="--weighted"):
        read_edges(path, of="file", weighted=True)


def test_what_is_odd_is_said(folder):
    path = written(folder / "odd.el", [(0, 1), (0, 1), (1, 0), (2, 2), (2, 1)])
    notes = " ".join(read_edges(path).notes)
    assert "1 line names an edge again, in the other direction: each pair is one edge." in notes
    assert "1 line joins a vertex to itself" in notes
    assert "1 line repeats an edge" in notes


def test_names_of_vertices_are_kept(folder):
    path = folder / "named.csv"
    path.write_text("source,target\nb,a\nc,a\n")
    found = read_edges(path, of="arcs")
    assert [name.tolist() for name in found.ends] == [["b", "c"], ["a", "a"]]


def test_entries_of_a_matrix_with_empty_rows_and_columns(folder):
    matrix = sparse.random(20, 30, 0.05, random_state=3, format="coo")
    sparse.save_npz(folder / "m.npz", matrix)
    found = read_edges(folder / "m.npz", of="matrix", weighted=True)
    expected = sorted(zip(matrix.row, matrix.col, matrix.data, strict=True))
    assert list(zip(*found.ends, found.edges.weights, strict=True)) == expected
    used = len(set(matrix.row)), len(set(matrix.col))
    assert (found.rows, found.edges.n) == (used[0], sum(used))
    assert found.edges.touched == found.edges.n
    again = as_edges(matrix, of="matrix", weighted=True)
    assert again.edges.tails.tolist() == found.edges.tails.tolist()
    assert again.edges.heads.tolist() == found.edges.heads.tolist()


def test_other_formats_as_their_graph(folder):
    graph = grid((3, 4))
    write_graph(folder / "g.graph", graph)
    edges = read_edges(folder / "g.graph").edges
    assert edges.heads.tolist() == EdgeList.of_graph(graph).heads.tolist()
    for of, vertices in (("arcs", 12), ("matrix", 24)):
        found = read_edges(folder / "g.graph", of=of).edges
        assert (found.m, found.n) == (2 * graph.m, vertices)


def test_what_python_has_is_taken():
    graph = DirectedGraph.from_arcs(3, [0, 1], [1, 0])
    assert as_edges(graph).edges.m == 1
    assert as_edges(graph, of="arcs").edges.m == 2
    edges = EdgeList(2, [0], [1])
    assert as_edges(edges).edges is edges
    assert as_edges(as_edges(edges)).edges is edges
    assert "1 edge" in repr(as_edges(edges))


@pytest.mark.parametrize(
    ("words", "error", "reason"),
    [
        ({"of": "edges"}, UsageError, "kind of edges"),
        ({"weighted": True}, InputError, "has no edge weights"),
        (
            {"of": "matrix", "coords": "x"},
            UsageError,
            "--coords applies to vertices, but this command divides edges",
        ),
        ({"together": "x"}, UsageError, "--together applies to vertices"),
        ({"balance_each": "type"}, UsageError, "--balance-each applies to vertices"),
        ({"constraint": True}, UsageError, "--constraint applies to vertices"),
        ({"couplings": False}, UsageError, "--no-couplings applies to vertices"),
        ({"of": "file", "weights": "x"}, UsageError, "--weights applies to vertices"),
        ({"format": "mtx"}, UsageError, "no format"),
    ],
)
def test_wrong_options_are_refused(folder, words, error, reason):
    (folder / "plain.el").write_text("0 1\n1 2\n")
    with pytest.raises(error, match=reason):
        read_edges(folder / "plain.el", **words)


def test_vertices_weigh_nothing_here():
    with pytest.raises(InputError, match="has no edge weights"):
        as_edges(grid((2, 2)), weighted=True)
    assert as_edges(sparse.eye(3), of="matrix").edges.heads.tolist() == [3, 4, 5]
    assert np.all(as_edges(sparse.eye(3), of="matrix", weighted=True).edges.weights == 1)

"""What is written reads back the same; what a format cannot hold is said or refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.errors import InputError, UsageError
from evener.graphs.graph import Graph
from evener.io import read_graph, write_graph
from evener.io.write import writer_for
from tests.examples import with_examples

WRITTEN = ["g.graph", "g.grf", "g.mtx", "g.npz", "g.ecsr", "g.csv"]


@st.composite
def graphs(draw):
    """Connected, so that an edge list names every vertex; weights and coordinates at will."""
    n = draw(st.integers(2, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    u = np.arange(1, n)
    v = (rng.random(n - 1) * u).astype(int)
    more = rng.integers(0, n, (draw(st.integers(0, 60)), 2))
    u, v = np.concatenate((u, more[:, 0])), np.concatenate((v, more[:, 1]))
    weights = rng.integers(0, 10**15, u.size) if draw(st.booleans()) else None
    graph = Graph.from_edges(n, u, v, weights=weights)
    if draw(st.booleans()):
        graph = graph.with_(vwgt=rng.integers(0, 10**12, n))
    if draw(st.booleans()):
        graph = graph.with_(coords=rng.standard_normal((n, draw(st.integers(2, 3)))) * 1e3)
    return graph


def same(a, b):
    return a is b is None or (a is not None and b is not None and np.array_equal(a, b))


@pytest.mark.parametrize("name", WRITTEN)
@given(graph=graphs())
@with_examples(40)
def test_round_trip(tmp_path_factory, name, graph):
    path = tmp_path_factory.mktemp("written") / name
    notes = write_graph(path, graph)
    again = read_graph(path)
    assert np.array_equal(again.xadj, graph.xadj)
    assert np.array_equal(again.adjncy, graph.adjncy)
    assert same(again.coords, graph.coords)
    if name != "g.mtx":
        assert same(again.adjwgt, graph.adjwgt)
    if name in ("g.graph", "g.grf", "g.npz", "g.ecsr"):
        assert same(again.vwgt, graph.vwgt)
    elif graph.vwgt is not None:
        assert "This format does not store vertex weights." in notes


@pytest.mark.parametrize("packing", [".gz", ".xz", ".zst"])
@pytest.mark.parametrize("name", ["g.graph", "g.grf"])
def test_packed(tmp_path, name, packing):
    graph = Graph([0, 1, 3, 4], [1, 0, 2, 1], coords=np.arange(6.0).reshape(3, 2))
    path = tmp_path / (name + packing)
    notes = write_graph(path, graph)
    assert notes == (f"Coordinates are in {name}.xyz{packing}.",)
    first = path.read_bytes()
    assert np.array_equal(read_graph(path).coords, graph.coords)
    write_graph(path, graph)
    assert path.read_bytes() == first


def test_several_weights(tmp_path):
    graph = Graph([0, 1, 2], [1, 0], vwgt=[[1, 2], [3, 4]])
    write_graph(tmp_path / "g.graph", graph)
    assert np.array_equal(read_graph(tmp_path / "g.graph").vwgt, graph.vwgt)
    with pytest.raises(InputError, match="the format stores one weight per vertex, not 2"):
        write_graph(tmp_path / "g.grf", graph)
    assert not (tmp_path / "g.grf").exists()


@pytest.mark.parametrize("name", ["g.graph", "g.grf"])
@pytest.mark.parametrize("field", [{"vwgt": [0.5, 1]}, {"adjwgt": [0.5, 0.5]}])
def test_fractions_are_refused_where_whole_numbers_stand(tmp_path, name, field):
    with pytest.raises(InputError, match="the format stores only whole numbers, but"):
        write_graph(tmp_path / name, Graph([0, 1, 2], [1, 0], **field))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["g.graph", "g.grf", "g.csv"])
def test_large_weights_come_back_or_are_refused(tmp_path, name):
    for kept in (10**18, 1e18, 2**53, 2**60):
        graph = Graph([0, 1, 2], [1, 0], adjwgt=[kept, kept])
        write_graph(tmp_path / name, graph)
        assert read_graph(tmp_path / name).adjwgt.tolist() == [kept, kept]
    for labels in (None, np.array(["a", "b"])):
        graph = Graph([0, 1, 2], [1, 0], adjwgt=[2**53 + 1] * 2, labels=labels)
        with pytest.raises(
            InputError, match=r"the format cannot store whole numbers above 2\^53 exactly, but"
        ):
            write_graph(tmp_path / name, graph)


def test_real_edge_weights_in_text(tmp_path):
    graph = Graph([0, 1, 3, 4], [1, 0, 2, 1], adjwgt=[0.1, 0.1, 2 / 3, 2 / 3])
    write_graph(tmp_path / "g.csv", graph)
    assert np.array_equal(read_graph(tmp_path / "g.csv").adjwgt, graph.adjwgt)
    write_graph(tmp_path / "g.mtx", graph)
    assert "0.6666666666666666" in (tmp_path / "g.mtx").read_text()


@pytest.mark.parametrize("labels", [[30, 10, 20], ["x", "b, c", "z"]])
def test_labels(tmp_path, labels):
    graph = Graph([0, 1, 3, 4], [1, 0, 2, 1], labels=np.array(labels))
    assert write_graph(tmp_path / "g.csv", graph) == ()
    again = read_graph(tmp_path / "g.csv")
    u = np.repeat(np.arange(3), again.degrees)
    ends = again.labels[np.column_stack((u, again.adjncy))].tolist()
    edges = {frozenset(pair) for pair in ends}
    assert edges == {frozenset(labels[:2]), frozenset(labels[1:])}
    for name in ("g.graph", "g.grf", "g.mtx"):
        assert any("labels" in note for note in write_graph(tmp_path / name, graph))


def test_names_with_quotes_come_back_or_are_refused(tmp_path):
    for name in ('c""', 'a"b', 'x"y z', "#1", " b", "a,b"):
        graph = Graph([0, 1, 2], [1, 0], labels=np.array(["a", name]))
        write_graph(tmp_path / "g.csv", graph)
        assert read_graph(tmp_path / "g.csv").labels.tolist() == ["a", name]
    for name in ('"', '"a"', 'a"b,c', 'a" ', "a\nb", ""):
        with pytest.raises(InputError, match="cannot be written as a field"):
            write_graph(tmp_path / "g.csv", Graph([0, 1, 2], [1, 0], labels=np.array(["a", name])))


def test_vertices_without_edges(tmp_path):
    graph = Graph([0, 0, 1, 2], [2, 1], coords=np.zeros((3, 2)))
    notes = write_graph(tmp_path / "g.csv", graph)
    assert "1 vertices without edges" in notes[0]
    assert "Coordinates are not written: the edge list does not contain all vertices." in notes[1]
    assert not (tmp_path / "g.csv.xyz").exists()
    write_graph(tmp_path / "g.graph", graph)
    assert read_graph(tmp_path / "g.graph").degrees.tolist() == [0, 1, 1]


def test_which_format(tmp_path):
    assert writer_for(tmp_path / "a.GRAPH.zst", None).name == "metis"
    assert writer_for(tmp_path / "a.dat", "scotch").name == "scotch"
    with pytest.raises(UsageError, match="Evener writes no format with the suffix"):
        writer_for(tmp_path / "a.dat", None)
    with pytest.raises(UsageError, match="but does not write it"):
        writer_for(tmp_path / "a.dat", "su2")
    with pytest.raises(UsageError, match="is a folder"):
        writer_for(tmp_path, None)


def test_large_graphs_are_written_in_pieces(tmp_path):
    """More entries than a buffer holds."""
    n = 700_000
    graph = Graph.from_edges(n, np.arange(n - 1), np.arange(1, n))
    for name in ("g.graph", "g.mtx"):
        write_graph(tmp_path / name, graph)
        assert np.array_equal(read_graph(tmp_path / name).adjncy, graph.adjncy)

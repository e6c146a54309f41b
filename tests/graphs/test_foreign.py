"""Graph.from_networkx: nodes in their order, names kept, weights by the attribute's name."""

import numpy as np
import pytest

import evener as ev
from evener.errors import InputError

nx = pytest.importorskip("networkx")


def test_nodes_in_their_order_edges_as_they_are():
    given = nx.Graph([("b", "a"), ("a", "c"), ("c", "c")])
    graph = ev.Graph.from_networkx(given)
    assert graph.labels.tolist() == ["b", "a", "c"]
    assert graph.adjncy.tolist() == [1, 0, 2, 1]
    assert graph.adjwgt is None
    assert graph.vwgt is None


@pytest.mark.parametrize(
    ("nodes", "labels"),
    [
        ([0, 1, 2], None),
        ([2, 1, 0], [2, 1, 0]),
        ([10, 20], [10, 20]),
        ([np.int64(0), np.int64(1)], None),
        ([(0, 1), (1, 1)], ["(0, 1)", "(1, 1)"]),
        ([1, "1"], ["1", "'1'"]),
        ([2**70, 1], [str(2**70), "1"]),
        ([False, True], ["False", "True"]),
    ],
)
def test_labels(nodes, labels):
    given = nx.Graph()
    given.add_nodes_from(nodes)
    found = ev.Graph.from_networkx(given).labels
    assert (None if found is None else found.tolist()) == labels


def test_attributes_by_name():
    given = nx.Graph()
    given.add_node("a", load=2, pos=(0.0, 1.0))
    given.add_node("b", load=3, pos=(2, 3))
    given.add_edge("b", "a", wires=1.5)
    graph = ev.Graph.from_networkx(given, weight="wires", node_weight="load", coords="pos")
    assert graph.vwgt.tolist() == [2, 3]
    assert graph.adjwgt.tolist() == [1.5, 1.5]
    assert graph.coords.tolist() == [[0, 1], [2, 3]]


def test_fields_of_graph():
    graph = ev.Graph.from_networkx(nx.path_graph(3), bytes_per_vertex=8.0, labels=["x", "y", "z"])
    assert graph.bytes_per_vertex == 8
    assert graph.labels.tolist() == ["x", "y", "z"]


@pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_other_kinds_of_graphs_are_refused_with_the_way_round(kind):
    given = kind([(0, 1), (1, 2)])
    with pytest.raises(InputError) as caught:
        ev.Graph.from_networkx(given)
    assert "G" in caught.value.hint
    assert ev.Graph.from_networkx(nx.Graph(given)).m == 2


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"weight": "w"}, "has no attribute 'w'"),
        ({"node_weight": "w"}, "node '0' has no attribute 'w'"),
        ({"coords": "pos"}, "has no attribute 'pos'"),
        ({"weight": "text"}, "must hold numbers"),
        ({"weight": "negative"}, "must not be negative"),
        ({"weight": "nan"}, "finite"),
        ({"coords": "text"}, "two or three numbers"),
        ({"coords": "one"}, "2 or 3 columns"),
    ],
)
def test_attributes_that_are_none(asked, told):
    given = nx.path_graph(3)
    for data in (*given.edges.values(), *given.nodes.values()):
        data |= {"text": "x", "negative": -1, "nan": float("nan"), "one": [1.0]}
    with pytest.raises(InputError, match=told):
        ev.Graph.from_networkx(given, **asked)


def test_no_node_and_no_edge():
    assert ev.Graph.from_networkx(nx.Graph()).n == 0
    assert ev.Graph.from_networkx(nx.empty_graph(3), weight="w").m == 0


def test_blocks_by_node():
    given = nx.grid_2d_graph(4, 4)
    plan = ev.plan(given, 2, tool="metis")
    block = dict(zip(given, plan.partition.part.tolist(), strict=True))
    assert sum(block[a] != block[b] for a, b in given.edges) == plan.evaluation.edge_cut

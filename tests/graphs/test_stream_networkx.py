"""Stream graphs from networkx, and to it."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

from evener.errors import InputError
from evener.graphs.stream_graph import StreamGraph
from tests.examples import with_examples
from tests.graphs.random_streams import stream_graphs


@with_examples(20)
@given(stream_graphs())
def test_networkx_and_back(graph):
    made = graph.to_networkx()
    assert made.is_directed()
    again = StreamGraph.from_networkx(made)
    assert list(again.filter_rows()) == list(graph.filter_rows())
    # networkx lists edges by their ends.
    assert sorted(again.edge_rows()) == sorted(graph.edge_rows())


def small():
    graph = nx.DiGraph()
    graph.add_node("a", scalar=1)
    graph.add_node("b", scalar=np.float64(2), vector=4, needs={"ram": 3})
    graph.add_edge("a", "b", bytes=8)
    return graph


def test_attributes_that_are_default():
    graph = StreamGraph.from_networkx(small())
    assert graph.vector.tolist() == [1, 4]
    assert graph.needs["ram"].tolist() == [0, 3]
    assert graph.tokens.tolist() == [0]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda g: g.nodes["a"].pop("scalar"), "node 'a' has no attribute 'scalar'"),
        (lambda g: g.nodes["a"].update(scalar="1"), "'scalar' of node 'a' must be a number"),
        (lambda g: g.nodes["a"].update(scalar=10**400), "'scalar' of node 'a' must be a number"),
        (lambda g: g.nodes["a"].update(scalar=-1), "scalar of filter 'a' must be >= 0, not"),
        (lambda g: g.nodes["a"].update(stateful=1), "'stateful' of node 'a' must be True"),
        (lambda g: g.nodes["a"].update(needs=[1]), "'needs' of node 'a' must be a dict"),
        (lambda g: g.nodes["a"].update(needs={"x": None}), "node 'a' has no attribute 'x'"),
        (lambda g: g.edges["a", "b"].clear(), "the edge 'a' -> 'b' has no attribute 'bytes'"),
        (lambda g: g.add_edge("b", "a", bytes=1), "wait for each other: 'a' -> 'b' -> 'a'"),
        (lambda g: g.add_edge("a", "a", bytes=1), "joins filter 'a' to itself"),
    ],
)
def test_what_is_refused(change, said):
    graph = small()
    change(graph)
    with pytest.raises(InputError, match=said):
        StreamGraph.from_networkx(graph)


def test_an_undirected_graph_is_refused():
    with pytest.raises(InputError, match="undirected"):
        StreamGraph.from_networkx(small().to_undirected())


def test_nodes_whose_names_are_one_text_are_refused():
    graph = nx.DiGraph()
    graph.add_nodes_from([1, "1"], scalar=1)
    with pytest.raises(InputError, match="two filters have the name '1'"):
        StreamGraph.from_networkx(graph)

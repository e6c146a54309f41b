"""Graph: what is accepted, what is refused and why, against a slow twin that reads the lists."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.errors import InputError
from evener.graphs.graph import Graph
from evener.graphs.lists import BYTES_PER_EDGE, BYTES_PER_VERTEX
from tests.assertions import path, random_graphs
from tests.examples import with_examples

REASONS = (
    "but there are",
    "own neighbour",
    "more than once",
    "not the other way",
    "different weights",
)


def reasons_of(lists, weights):
    """All that is wrong with adjacency lists, by the slowest means."""
    n, found = len(lists), set()
    for v, neighbours in enumerate(lists):
        for i, u in enumerate(neighbours):
            if not 0 <= u < n:
                found.add("but there are")
            elif u == v:
                found.add("own neighbour")
            elif v not in lists[u]:
                found.add("not the other way")
            elif weights is not None and weights[v][i] != weights[u][lists[u].index(v)]:
                found.add("different weights")
        if len(set(neighbours)) < len(neighbours):
            found.add("more than once")
    return found


def arrays_of(lists, weights=None):
    xadj = np.cumsum([0] + [len(neighbours) for neighbours in lists])
    flat = [u for neighbours in lists for u in neighbours]
    adjwgt = None if weights is None else [w for row in weights for w in row]
    return xadj, flat, adjwgt


@st.composite
def nearly_graphs(draw):
    """Adjacency lists of a graph, shuffled, with at most two faults put in."""
    graph = draw(random_graphs(max_n=7, weighted=False))
    n = graph.n
    lists = [graph.adjncy[graph.xadj[v] : graph.xadj[v + 1]].tolist() for v in range(n)]
    lists = [draw(st.permutations(neighbours)) for neighbours in lists]
    for _ in range(draw(st.integers(0, 2))):
        v = draw(st.integers(0, n - 1))
        kind = draw(st.sampled_from(["add", "drop", "repeat"]))
        if kind == "add":
            lists[v].insert(draw(st.integers(0, len(lists[v]))), draw(st.integers(-1, n)))
        elif lists[v] and kind == "drop":
            lists[v].pop(draw(st.integers(0, len(lists[v]) - 1)))
        elif lists[v]:
            lists[v].append(draw(st.sampled_from(lists[v])))
    weights = None
    if draw(st.booleans()):
        weights = [[(v + 1) * (u + 1) for u in row] for v, row in enumerate(lists)]
        if draw(st.booleans()) and any(weights):
            v = draw(st.sampled_from([v for v in range(n) if weights[v]]))
            weights[v][0] += 1
    return lists, weights


@pytest.mark.slow
@with_examples(250)
@given(nearly_graphs())
def test_accepts_graphs_and_names_what_is_wrong(case):
    lists, weights = case
    expected = reasons_of(lists, weights)
    xadj, adjncy, adjwgt = arrays_of(lists, weights)
    try:
        graph = Graph(xadj, adjncy, adjwgt=adjwgt)
    except InputError as error:
        said = {reason for reason in REASONS if reason in error.message}
        if "no such vertex" in error.message:
            said = {"no such"}
        assert len(said) == 1
        assert said <= expected, (error.message, expected)
        return
    assert not expected
    for v, neighbours in enumerate(lists):
        order = np.argsort(neighbours)
        first, last = graph.xadj[v], graph.xadj[v + 1]
        assert graph.adjncy[first:last].tolist() == sorted(neighbours)
        if weights is not None:
            assert graph.adjwgt[first:last].tolist() == [weights[v][i] for i in order]


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ([[1], [0, 2], [1, 5]], r"but there are 3 vertices"),
        ([[1], [0, -1]], r"adjncy\[2\] is -1"),
        ([[1, 0], [0]], "vertex 0 is its own neighbour"),
        ([[1], []], "vertex 0 lists 1 as a neighbour, but not"),
        ([[], [0]], "vertex 1 lists 0 as a neighbour, but not"),
        ([[2], [2], [0, 0, 1]], "vertex 2 lists its neighbour 0 more than once"),
        ([[2], [2], [1, 0, 1]], "vertex 2 lists its neighbour 1 more than once"),
    ],
)
def test_faults_are_named(lists, message):
    xadj, adjncy, _ = arrays_of(lists)
    with pytest.raises(InputError, match=message):
        Graph(xadj, adjncy)


def test_a_bad_index_of_the_final_type_reaches_no_kernel_unchecked():
    with pytest.raises(InputError, match="but there are 2 vertices"):
        Graph([0, 1, 2], np.array([1, 2**31 - 1], np.int32))
    with pytest.raises(InputError, match="but there are 2 vertices"):
        Graph([0, 1, 2], np.array([-(2**31), 0], np.int32))
    with pytest.raises(InputError, match="4294967296"):  # would be 0 in 32 bits
        Graph([0, 1, 2], np.array([1, 2**32], np.int64))


EDGE = ([0, 1, 2], [1, 0])


@pytest.mark.parametrize(
    ("xadj", "adjncy", "message"),
    [
        ([], [], "xadj is empty"),
        ([1, 2], [0], "from 0 to 1"),
        ([0, 1], [], "from 0 to 0, not 0 to 1"),
        ([0, 2, 1, 2], [1, 0], "decreases at vertex 1"),
        ([0, -(2**62), 2**62, 2], [1, 0], "decreases at vertex 0"),
        ([0, 0.5, 2], [1, 0], "whole numbers"),
        ([[0, 1, 2]], [1, 0], "dimension"),
        (["0", "2"], [1, 0], "whole numbers"),
        ([0, 1, 2], [[1, 0]], "dimension"),
        ([0, 1, 2], [1.5, 0], "whole numbers"),
        ([0, 1, 2], [np.nan, 0], "whole numbers"),
        ([0, 1, 2], [2**63, 0], "above 2"),
        ([0, 1, 2], [[1], [0, 2]], "differ in length"),
    ],
)
def test_refused_arrays(xadj, adjncy, message):
    with pytest.raises(InputError, match=message):
        Graph(xadj, adjncy)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"vwgt": [1]}, "vwgt has 1 entries for 2 vertices"),
        ({"vwgt": [1, -1]}, "must not be negative; entry 1"),
        ({"vwgt": [1.0, np.nan]}, "finite"),
        ({"vwgt": [np.inf, 1.0]}, "finite"),
        ({"vwgt": [2**62, 2**62]}, "add up to more"),
        ({"vwgt": np.empty((2, 0))}, "no column"),
        ({"vwgt": np.ones((2, 1, 1))}, "dimension"),
        ({"vwgt": ["a", "b"]}, "must hold numbers"),
        ({"adjwgt": [1]}, "adjwgt has 1 entries for 2 adjacency"),
        ({"adjwgt": [1, 2]}, "different weights at its two ends"),
        ({"adjwgt": [-1, -1]}, "must not be negative"),
        ({"adjwgt": [np.nan, np.nan]}, "finite"),
        ({"adjwgt": [2**62, 2**62]}, "add up to more"),
        ({"coords": [[0.0, 0.0]]}, "coords has 1 entries"),
        ({"coords": [[0.0], [1.0]]}, "2 or 3 columns"),
        ({"coords": [[0.0, np.inf], [1.0, 0.0]]}, "finite"),
        ({"coords": [0.0, 1.0]}, "dimension"),
        ({"labels": ["a"]}, "labels has 1 entries"),
        ({"bytes_per_vertex": -1}, "bytes_per_vertex"),
        ({"bytes_per_edge": np.nan}, "bytes_per_edge"),
        ({"bytes_per_edge": "8"}, "bytes_per_edge"),
        ({"bytes_per_edge": 1e308}, "add up to more"),
    ],
)
def test_refused_fields(fields, message):
    with pytest.raises(InputError, match=message):
        Graph(*EDGE, **fields)


@pytest.mark.parametrize("xtype", [np.int32, np.int64, np.uint64, np.float64])
@pytest.mark.parametrize("atype", [np.int8, np.int32, np.int64, np.uint32, np.float32])
def test_any_type_of_whole_numbers(xtype, atype):
    graph = Graph(np.array([0, 1, 3, 4], xtype), np.array([1, 2, 0, 1], atype))
    assert graph.xadj.dtype == np.int64
    assert graph.adjncy.dtype == np.int32
    assert graph.adjncy.tolist() == [1, 0, 2, 1]
    assert (graph.n, graph.m) == (3, 2)


def test_the_callers_arrays_stay_as_they_are():
    adjncy = np.array([1, 2, 0, 1], np.int32)
    adjwgt = np.array([5, 6, 5, 6])
    graph = Graph([0, 1, 3, 4], adjncy, adjwgt=adjwgt)
    assert adjncy.tolist() == [1, 2, 0, 1]
    assert graph.adjwgt.tolist() == [5, 5, 6, 6]
    assert adjwgt.tolist() == [5, 6, 5, 6]


def test_frozen():
    graph = path(3)
    with pytest.raises(dataclasses.FrozenInstanceError):
        graph.vwgt = np.ones(3)
    heavier = graph.with_(vwgt=[1, 2, 3])
    assert graph.vwgt is None
    assert heavier.total_weight == 6
    with pytest.raises(InputError, match="vwgt has 2 entries"):
        graph.with_(vwgt=[1, 2])


@pytest.mark.parametrize("n", [0, 1, 5])
def test_no_edge_at_all(n):
    graph = Graph(np.zeros(n + 1, np.int64), [])
    assert (graph.n, graph.m) == (n, 0)
    assert graph.components()[0] == n
    assert graph.total_weight == n
    assert graph.adjncy.dtype == np.int32


def test_weights_and_bytes():
    graph = path(3)
    assert graph.is_unit
    assert graph.weights().tolist() == [1, 1, 1]
    assert graph.edge_weights().tolist() == [1, 1, 1, 1]
    assert graph.total_bytes == 3 * BYTES_PER_VERTEX + 4 * BYTES_PER_EDGE
    several = path(3, vwgt=[[1, 4], [2, 5], [3, 6]], bytes_per_vertex=10, bytes_per_edge=1)
    assert several.n_constraints == 2
    assert several.weights(1).tolist() == [4, 5, 6]
    assert several.total_weight == 6
    assert several.vertex_bytes().tolist() == [11, 12, 11]
    assert several.vertex_bytes().sum() == several.total_bytes
    assert path(3, vwgt=[[1], [1], [1]]).vwgt.shape == (3,)
    assert path(2, vwgt=[1.0, 1.0]).is_unit
    assert not path(2, vwgt=[1.0, 2.0]).is_unit


@with_examples(150)
@given(random_graphs())
def test_components_against_flooding(graph):
    label = [-1] * graph.n
    count = 0
    for start in range(graph.n):
        if label[start] >= 0:
            continue
        reached = {start}
        while True:
            wider = reached | {int(u) for v in reached
                               for u in graph.adjncy[graph.xadj[v]:graph.xadj[v + 1]]}  # fmt: skip
            if wider == reached:
                break
            reached = wider
        for v in reached:
            label[v] = count
        count += 1
    assert graph.components()[0] == count
    assert graph.components()[1].tolist() == label


@with_examples(120)
@given(st.data())
def test_from_edges_against_a_dictionary(data):
    n = data.draw(st.integers(1, 8))
    pairs = data.draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)),
                               max_size=30))  # fmt: skip
    weights = data.draw(st.none() | st.lists(st.integers(0, 5), min_size=len(pairs),
                                             max_size=len(pairs)))  # fmt: skip
    edges = {}
    for i, (a, b) in enumerate(pairs):
        if a != b:
            for end, other in ((a, b), (b, a)):
                edges.setdefault((end, other), 1 if weights is None else weights[i])
    graph = Graph.from_edges(n, [a for a, _ in pairs], [b for _, b in pairs], weights=weights)
    source = np.repeat(np.arange(n), graph.degrees)
    found = dict(zip(zip(source.tolist(), graph.adjncy.tolist(), strict=True),
                     graph.edge_weights().tolist(), strict=True))  # fmt: skip
    assert found == edges
    assert graph.m * 2 == len(edges)


@pytest.mark.parametrize("hubs", [1, 3])
def test_long_lists_are_sorted_with_their_weights(hubs):
    # Beyond 48 neighbours another way of sorting is taken.
    rng = np.random.default_rng(20_011)
    n = 400
    u, v = np.repeat(np.arange(hubs), n), np.tile(rng.permutation(n), hubs)
    graph = Graph.from_edges(n, u, v, weights=(u + 1) * (v + 1) + u + v)
    assert (np.diff(graph.adjncy[: graph.degrees[0]]) > 0).all()
    order = rng.permutation(graph.degrees[0])
    adjncy, adjwgt = graph.adjncy.copy(), graph.adjwgt.copy()
    adjncy[: order.size], adjwgt[: order.size] = adjncy[order], adjwgt[order]
    again = Graph(graph.xadj, adjncy, adjwgt=adjwgt)
    assert (again.adjncy == graph.adjncy).all()
    assert (again.adjwgt == graph.adjwgt).all()
    unweighted = Graph(graph.xadj, adjncy)
    assert (unweighted.adjncy == graph.adjncy).all()


@pytest.mark.parametrize(
    ("n", "u", "v", "more", "message"),
    [
        (2, [0], [2], {}, "v must lie in"),
        (2, [-1], [0], {}, "u must lie in"),
        (2, [0, 1], [1], {}, "v has 1 entries for 2 entries of u"),
        (2, [0], [1], {"weights": [1, 2]}, "weights has 2 entries"),
        (2, [0], [1], {"weights": [-1]}, "must not be negative"),
        (-1, [], [], {}, "must not be negative"),
        (2, [0.5], [1], {}, "whole numbers"),
        (0, [0], [0], {}, "u must lie in"),
    ],
)
def test_from_edges_refuses(n, u, v, more, message):
    with pytest.raises(InputError, match=message):
        Graph.from_edges(n, u, v, **more)


def test_a_trusted_graph_is_the_checked_one_of_the_same_lists():
    checked = Graph.from_edges(4, [0, 1, 2], [1, 2, 3], weights=[3, 1, 2]).with_(vwgt=[1, 2, 3, 4])
    lists = checked.xadj, checked.adjncy, checked.vwgt, checked.adjwgt
    trusted = Graph.trusted(*lists)
    assert (trusted.n, trusted.m, trusted.total_weight) == (4, 3, 10)
    assert trusted.coords is None and trusted.labels is None
    assert (trusted.vertex_bytes() == checked.vertex_bytes()).all()

"""Every method's edge partitions keep their contract, are the same each time, and rank as known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.errors import UsageError
from evener.graphs.edge_list import EdgeList
from evener.graphs.generating.grid import grid
from evener.graphs.generating.random_graphs import rmat
from evener.partitioning.tools import find_tool
from evener.plans.edge_partition import edge_metrics
from evener.plans.partition import Contract
from evener.splitting import methods
from evener.splitting.methods import METHODS, by_hypergraph, split_with
from tests.examples import with_examples
from tests.graphs.test_edge_list import edge_lists


def contract_of(edges, targets, epsilon=0.05):
    """Limits on both sides of these targets, read as proportions."""
    wanted = np.asarray(targets, float) / np.sum(targets) * edges.total_weight
    return Contract(wanted, np.floor(wanted * (1 - epsilon)), np.ceil(wanted * (1 + epsilon)))


IN_CHILDREN = [name for name in METHODS if name.startswith(("spac", "wvp"))]  # dear to start
OPTIONAL = "mtkahypar"
OWN = [name for name in METHODS if name not in (*IN_CHILDREN, OPTIONAL)]  # in this process


@pytest.mark.parametrize("method", OWN)
@with_examples(12)
@given(edge_lists(), st.data())
def test_every_method_keeps_the_contract(method, edges, data):
    check_contract(method, edges, data)


@pytest.mark.parametrize("method", IN_CHILDREN)
@with_examples(4)
@given(edge_lists(), st.data())
def test_methods_with_tools_keep_the_contract(method, edges, data):
    check_contract(method, edges, data)


def check_contract(method, edges, data):
    k = data.draw(st.integers(1, min(4, edges.m)))
    targets = data.draw(st.lists(st.integers(1, 4), min_size=k, max_size=k))
    contract = contract_of(edges, targets, 1.0)
    found = split_with(method, edges, contract)
    loads = found.partition.loads(edges)
    assert (contract.low <= loads).all()
    assert (loads <= contract.high).all()
    again = split_with(method, edges, contract)
    assert np.array_equal(found.partition.part, again.partition.part)


@pytest.mark.parametrize("graph", [grid((50, 50)), rmat(12, 1)], ids=["grid", "R-MAT"])
def test_split_and_connect_makes_fewest_copies(graph):
    edges = EdgeList.of_graph(graph)
    contract = contract_of(edges, [1, 2, 4, 1, 1, 3, 1, 1])
    copies = {
        name: edge_metrics(edges, split_with(name, edges, contract).partition).copies
        for name in METHODS
        if name not in (OPTIONAL, "wvp-random", "spac-ring")
    }
    assert copies["spac"] <= min(copies.values())
    assert max(copies[name] for name in copies if name != "random") < copies["random"]


@pytest.mark.parametrize("method", OWN)
def test_a_star_is_divided_among_more_blocks_than_a_vertex_has_neighbours_left(method):
    """One vertex is on all edges; the last case has a block for each edge."""
    edges = EdgeList(7, [0] * 6, [1, 2, 3, 4, 5, 6])
    for targets in ([1], [1, 2, 3], [1] * 6):
        contract = contract_of(edges, targets, 0.0)
        found = split_with(method, edges, contract).partition
        assert found.loads(edges).tolist() == contract.targets.tolist()
        assert edge_metrics(edges, found).copies == len(targets) - 1


@pytest.mark.parametrize(
    ("words", "reason"), [({"method": "spam"}, "did you mean spac"), ({"preset": "best"}, "preset")]
)
def test_unknown_words_are_refused(words, reason):
    edges = EdgeList(2, [0], [1])
    with pytest.raises(UsageError, match=reason):
        split_with(**{"method": "spac"} | words, edges=edges, contract=contract_of(edges, [1]))


TARGETS = np.array([12.0, 6.0])
CONTRACT = Contract(TARGETS, TARGETS - 1, TARGETS + 1)
PATH = EdgeList(19, np.arange(18), np.arange(1, 19), np.ones(18, int))


@pytest.mark.skipif(bool(find_tool("mtkahypar").available()), reason="it is not installed")
def test_a_path_is_cut_once():
    found = by_hypergraph(PATH, CONTRACT, "default", 7).partition
    assert edge_metrics(PATH, found).copies == 1


def test_without_it_the_reason_is_said(monkeypatch):
    class Absent:
        def available(self):
            return "mtkahypar is not installed: pip install mtkahypar"

    monkeypatch.setattr(methods, "find_tool", lambda name: Absent())
    with pytest.raises(UsageError, match="pip install mtkahypar"):
        by_hypergraph(PATH, CONTRACT, "default", 7)

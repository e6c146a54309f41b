"""Neighbourhood expansion: blocks of exact sizes, grown along the graph, hubs last."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.graphs.edge_list import EdgeList
from evener.plans.edge_partition import edge_metrics
from evener.plans.partition import Contract
from evener.splitting.expanding import hybrid, neighbourhoods, rooms_of
from tests.examples import with_examples
from tests.graphs.test_edge_list import edge_lists


def whole(targets):
    targets = np.asarray(targets, float)
    return Contract(targets, targets, targets)


@with_examples(20)
@given(edge_lists(), st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_blocks_take_their_targets_whatever_the_graph(edges, targets):
    """Every edge gets a block; of unit work sizes are the targets, rounded as sums are."""
    edges = EdgeList(edges.n, edges.tails, edges.heads).opened()
    wanted = np.array(targets) / np.sum(targets) * edges.m
    free = Contract(wanted, wanted * 0, np.full(wanted.size, 1e9))
    for make in (neighbourhoods, hybrid):
        loads = make(edges, free, "default", 7).partition.loads(edges)
        assert loads.sum() == edges.m
        if make is neighbourhoods:
            assert loads[:-1].tolist() == rooms_of(wanted, edges.m)[:-1].tolist()


def test_a_path_is_cut_into_runs():
    edges = EdgeList(13, np.arange(12), np.arange(1, 13))
    found = neighbourhoods(edges, whole([2, 4, 6]), "default", 7).partition
    assert found.part.tolist() == [0] * 2 + [1] * 4 + [2] * 6


def test_two_cliques_are_told_apart():
    """The vertex with fewest new neighbours comes next: a clique is finished before the bridge."""
    pairs = [(a + c, b + c) for c in (0, 6) for a in range(6) for b in range(a + 1, 6)]
    rng = np.random.default_rng(3)
    tails, heads = rng.permutation(np.array([*pairs, (5, 6)])).T
    edges = EdgeList(12, tails, heads)
    found = neighbourhoods(edges, whole([15, 16]), "default", 7).partition
    assert edge_metrics(edges, found).copies == 1


@pytest.mark.parametrize("ratio", [0.0, 1.0, 100.0])
def test_edges_between_hubs_are_streamed(ratio):
    """Ratio 0: every vertex is a hub, and all is streamed; 100: none is."""
    rng = np.random.default_rng(5)
    edges = EdgeList(50, *np.sort(rng.choice(50, (2, 300)), axis=0)).opened()
    targets = np.array([60.0, 90.0, 150.0])
    contract = Contract(targets, targets * 0.8, targets * 1.2)
    found = hybrid(edges, contract, "default", 7, hub_ratio=ratio).partition
    loads = found.loads(edges)
    assert (contract.low <= loads).all()
    assert (loads <= contract.high).all()
    if ratio == 100:
        grown = neighbourhoods(edges, contract, "default", 7).partition
        assert found.part.tolist() == grown.part.tolist()

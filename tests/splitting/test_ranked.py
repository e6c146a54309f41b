"""Neighbourhood expansion by rank: exact sizes, and as few copies as with all edges looked at."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evener.graphs.edge_list import EdgeList
from evener.graphs.generating.random_graphs import barabasi_albert, rmat
from evener.plans.edge_partition import edge_metrics
from evener.plans.partition import Contract
from evener.splitting.expanding import neighbourhoods, ranked_edges, ranked_neighbourhoods, rooms_of
from tests.examples import with_examples
from tests.graphs.test_edge_list import edge_lists


def free(edges, shares):
    wanted = np.array(shares) / np.sum(shares) * edges.total_weight
    return Contract(wanted, wanted * 0, np.full(wanted.size, 1e9))


@with_examples(30)
@given(edge_lists(), st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_blocks_take_their_targets_whatever_the_graph(edges, targets):
    edges = EdgeList(edges.n, edges.tails, edges.heads).opened()
    contract = free(edges, targets)
    loads = ranked_neighbourhoods(edges, contract, "fast", 7).partition.loads(edges)
    assert loads.sum() == edges.m
    assert loads[:-1].tolist() == rooms_of(contract.targets, edges.m)[:-1].tolist()


@with_examples(20)
@given(edge_lists())
def test_edges_are_listed_at_both_ends_by_degree(edges):
    edges = EdgeList(edges.n, edges.tails, edges.heads).opened()
    ranked, degrees = ranked_edges(edges), np.sort(edges.degrees[edges.degrees > 0])[::-1]
    assert ranked.state[:, 1].tolist() == degrees.tolist()
    pairs = []
    for v in range(degrees.size):
        up = ranked.up[ranked.ups[v] : ranked.ups[v + 1]]
        down = ranked.down[ranked.downs[v] : ranked.downs[v + 1]]
        assert (up[:, 0] < v).all()
        assert (down[:, 0] > v).all()
        pairs += [(v, *map(int, one)) for one in up] + [(v, *map(int, one)) for one in down]
    both = sorted((max(v, w), min(v, w), e) for v, w, e in pairs)
    assert both[::2] == both[1::2]
    assert sorted(e for *_, e in both[::2]) == list(range(edges.m))


def test_a_path_is_cut_into_runs():
    edges = EdgeList(13, np.arange(12), np.arange(1, 13))
    found = ranked_neighbourhoods(edges, free(edges, [2, 4, 6]), "fast", 7)
    assert edge_metrics(edges, found.partition).copies == 2


def test_work_of_edges_fills_blocks():
    """No block is off its target by more than its last edge is worth."""
    edges = EdgeList.of_graph(rmat(8, 3))
    weights = np.random.default_rng(2).integers(1, 9, edges.m).astype(float)
    weighted = EdgeList(edges.n, edges.tails, edges.heads, weights)
    contract = free(weighted, [1, 1, 2, 4])
    loads = ranked_neighbourhoods(weighted, contract, "fast", 7).partition.loads(weighted)
    assert (np.abs(loads - contract.targets) <= 10).all()


def test_as_few_copies_as_with_all_edges_looked_at():
    """Within a twentieth, at a mean degree of 10; without looking again there are more."""
    edges = EdgeList.of_graph(barabasi_albert(3000, 3, 5))
    contract = free(edges, np.ones(16))
    ranked, never, all_edges = (
        edge_metrics(edges, split.partition).copies
        for split in (
            ranked_neighbourhoods(edges, contract, "fast", 7),
            ranked_neighbourhoods(edges, contract, "fast", 7, looks=()),
            neighbourhoods(edges, contract, "fast", 7),
        )
    )
    assert ranked < never
    assert ranked <= 1.05 * all_edges

"""Partitions combined: never worse than the best of them, within limits, the same every time."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evener.graphs.edge_list import EdgeList
from evener.graphs.generating.random_graphs import rmat
from evener.plans.edge_partition import EdgePartition, edge_metrics
from evener.plans.partition import Contract
from evener.splitting.combining import (
    by_copies,
    combined,
    neighbourhoods_in_orders,
    overlay,
)
from evener.splitting.refining import Effort
from evener.splitting.splits import Split
from tests.examples import with_examples
from tests.graphs.test_edge_list import edge_lists
from tests.plans.test_edge_partition import slow_copies
from tests.splitting.test_methods import contract_of

EFFORT = Effort(rounds=2, patience=3, searches=1, gives_up=True)


@with_examples(60)
@given(edge_lists(weighted=True), st.integers(2, 4), st.integers(1, 3), st.randoms())
def test_the_result_is_never_worse_than_the_best_and_keeps_limits(edges, k, count, random):
    splits = [
        Split(EdgePartition([random.randrange(k) for _ in range(edges.m)], k), order=str(i))
        for i in range(count)
    ]
    loads = np.array([made.partition.loads(edges) for made in splits])
    contract = Contract(loads[0], loads.min(axis=0), loads.max(axis=0))
    found = combined(edges, splits, contract, EFFORT, 3)
    fewest = min(slow_copies(edges, made.partition.part) for made in splits)
    assert slow_copies(edges, found.partition.part) == fewest - found.saved
    assert found.saved >= 0
    after = found.partition.loads(edges)
    assert (contract.low <= after).all()
    assert (after <= contract.high).all()
    assert sorted(found.order.split("+")) == [str(i) for i in range(count)]


def test_edges_have_one_number_where_they_have_one_block_in_both():
    numbers = overlay(np.array([0, 0, 1, 1, 0]), np.array([1, 1, 1, 0, 2]), 3)
    assert numbers.dtype == np.int32
    assert numbers.tolist() == [0, 0, 3, 2, 1]


def test_what_two_partitions_do_well_is_in_the_combined_one():
    """Each start is good elsewhere: cycles alone, which know one of them, save less."""
    edges = EdgeList.of_graph(rmat(11, 3))
    contract = contract_of(edges, [1.0] * 8, 0.03)
    starts = neighbourhoods_in_orders(edges, contract, 3, 7)
    copies = [edge_metrics(edges, made.partition).copies for made in starts]
    assert copies == sorted(copies)
    assert len(set(copies)) > 1
    found = combined(edges, starts, contract, EFFORT, 7)
    assert copies[0] - found.saved == edge_metrics(edges, found.partition).copies < copies[0]
    again = combined(edges, starts[::-1], contract, EFFORT, 7)
    assert np.array_equal(again.partition.part, found.partition.part)
    assert by_copies(edges, [*starts[::-1], found])[0] is found


def test_blocks_grown_in_several_orders_keep_the_contract_of_unequal_weighted_work():
    listed = EdgeList.of_graph(rmat(9, 1))
    edges = EdgeList(listed.n, listed.tails, listed.heads, 1 + np.arange(listed.m) % 3)
    contract = contract_of(edges, [1, 1, 2, 4], 0.05)
    for made in neighbourhoods_in_orders(edges, contract, 3, 1):
        loads = made.partition.loads(edges)
        assert (contract.low <= loads).all()
        assert (loads <= contract.high).all()

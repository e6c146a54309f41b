"""Split-and-connect: what tools are asked for, and what its presets do."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.graphs.edge_list import EdgeList
from evener.graphs.generating.grid import grid
from evener.graphs.generating.random_graphs import rmat, uniform
from evener.partitioning.registry import partition_with
from evener.plans.edge_partition import EdgePartition, edge_metrics
from evener.plans.partition import Contract
from evener.splitting import spac
from evener.splitting.copies_kernels import Limits
from evener.splitting.groups import single_edges
from evener.splitting.methods import split_with
from evener.splitting.refining import Effort
from evener.splitting.spac import (
    by_copies,
    combined,
    cut_borders,
    neighbourhoods_in_orders,
)
from evener.splitting.splits import PRESETS, Split
from tests.examples import with_examples
from tests.graphs.test_edge_list import edge_lists
from tests.plans.test_edge_partition import slow_copies
from tests.splitting.test_methods import contract_of


def test_presets_that_take_longer_copy_less_at_hubs_and_without():
    for graph in (grid((40, 40)), rmat(10, 1)):
        edges = EdgeList.of_graph(graph)
        contract = contract_of(edges, [1] * 8)
        fast, default, strong = (
            split_with("spac", edges, contract, preset=preset) for preset in PRESETS
        )
        copies = [edge_metrics(edges, made.partition).copies for made in (fast, default, strong)]
        assert copies[0] > copies[1] >= 0.98 * copies[2]
        assert default.saved > 0


@pytest.mark.parametrize("preset", ["fast", pytest.param("default", marks=pytest.mark.slow)])
@pytest.mark.parametrize("graph", [grid((130, 130)), rmat(12, 1)], ids=["grid", "R-MAT"])
def test_a_tolerance_of_one_percent_is_kept_by_blocks_of_a_thousand_edges(graph, preset):
    edges = EdgeList.of_graph(graph)
    contract = contract_of(edges, [1.0] * (edges.m // 1000), 0.01)
    loads = split_with("spac", edges, contract, preset=preset).partition.loads(edges)
    assert (contract.low <= loads).all()
    assert (loads <= contract.high).all()


def test_without_an_order_the_better_one_of_two_is_kept_and_said():
    edges = EdgeList.of_graph(rmat(9, 1))
    contract = contract_of(edges, [1] * 4)
    one = {
        order: edge_metrics(
            edges, split_with("spac-contracted", edges, contract, order=order).partition
        ).copies
        for order in spac.TRIED_ORDERS
    }
    found = split_with("spac-contracted", edges, contract)
    assert edge_metrics(edges, found.partition).copies == min(one.values()) < max(one.values())
    assert one[found.order] == min(one.values())
    assert found.notes == (
        f"of the orders neighbour and block of clones, {found.order} copies fewer vertices",
    )
    fast = split_with("spac-contracted", edges, contract, preset="fast")
    assert (fast.order, fast.notes) == ("neighbour", ())


@pytest.mark.parametrize(
    ("graph", "tool"), [(grid((30, 30)), "evener"), (uniform(10, 1, edge_factor=8), "metis")]
)
def test_where_no_clusters_are_found_metis_divides_the_vertices(monkeypatch, graph, tool):
    asked = []

    def by_vertices(edges, contract, name, *_):
        asked.append(name)
        return np.arange(edges.m, dtype=np.int32) % contract.k

    monkeypatch.setattr(spac, "by_vertices", by_vertices)
    edges = EdgeList.of_graph(graph)
    spac._start(edges, contract_of(edges, [1] * 8), "default", 7)
    assert asked == [tool]


@pytest.mark.parametrize("method", ["spac", "spac-path"])
@pytest.mark.parametrize("epsilon", [0.01, 0.2])
def test_tools_are_asked_for_the_tolerance_of_the_contract(monkeypatch, method, epsilon):
    """A rival that may use less than its tolerance would be held back."""
    asked = []

    def noted(tool, graph, request):
        asked.append((request.epsilon, request.high.sum() / graph.total_weight))
        return partition_with(tool, graph, request)

    monkeypatch.setattr(spac, "partition_with", noted)
    edges = EdgeList.of_graph(grid((40, 40)))
    split_with(method, edges, contract_of(edges, [1, 1, 2], epsilon))
    for tolerance, room in asked:
        assert tolerance == pytest.approx(epsilon, abs=2 / 700)
        assert room == pytest.approx(1 + epsilon, abs=0.01)


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


@with_examples(60)
@given(edge_lists(weighted=True, edges=30), st.integers(2, 4), st.randoms(), st.integers(0, 9))
def test_copies_fall_by_what_is_said_and_limits_hold(edges, k, random, slack):
    part = np.array([random.randrange(k) for _ in range(edges.m)], np.int32)
    load = np.bincount(part, edges.weights, k).astype(float)
    limits = Limits(load.copy(), load - slack, load + slack)
    before = slow_copies(edges, part)
    saved = cut_borders(single_edges(edges), part, limits, np.random.default_rng(1))
    assert saved >= 0
    assert slow_copies(edges, part) == before - saved
    assert limits.load.tolist() == np.bincount(part, edges.weights, k).tolist()
    assert (limits.low <= limits.load).all()
    assert (limits.load <= limits.high).all()


def test_a_crooked_border_through_a_grid_becomes_straight():
    edges = EdgeList.of_graph(grid((20, 12)))
    row = np.minimum(edges.tails, edges.heads) // 12
    column = np.minimum(edges.tails, edges.heads) % 12
    part = (row + 3 * (column % 4 > 1) > 10).astype(np.int32)
    load = np.bincount(part, minlength=2).astype(float)
    limits = Limits(load, 0.8 * load, 1.2 * load)
    assert edge_metrics(edges, EdgePartition(part, 2)).copies > 20
    cut_borders(single_edges(edges), part, limits, np.random.default_rng(1))
    assert edge_metrics(edges, EdgePartition(part, 2)).copies == 12

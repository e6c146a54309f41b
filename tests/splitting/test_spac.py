"""Split-and-connect: what tools are asked for, and what its presets do."""

import numpy as np
import pytest

from evener.graphs.edge_list import EdgeList
from evener.graphs.generating.grid import grid
from evener.graphs.generating.random_graphs import rmat, uniform
from evener.partitioning.registry import partition_with
from evener.plans.edge_partition import edge_metrics
from evener.splitting import spac
from evener.splitting.methods import split_with
from evener.splitting.splits import PRESETS
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

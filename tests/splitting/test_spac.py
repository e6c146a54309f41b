"""Split-and-connect: what tools are asked for, and what its presets do."""

import pytest

from evener.graphs.edge_list import EdgeList
from evener.graphs.generating.grid import grid
from evener.graphs.generating.random_graphs import rmat
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


@pytest.mark.parametrize("graph", [grid((130, 130)), rmat(12, 1)], ids=["grid", "R-MAT"])
def test_a_tolerance_of_one_percent_is_kept_by_blocks_of_a_thousand_edges(graph):
    edges = EdgeList.of_graph(graph)
    contract = contract_of(edges, [1.0] * (edges.m // 1000), 0.01)
    loads = split_with("spac", edges, contract, preset="fast").partition.loads(edges)
    assert (contract.low <= loads).all()
    assert (loads <= contract.high).all()


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

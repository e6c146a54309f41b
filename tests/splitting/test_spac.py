"""Split-and-connect: what tools are asked for, and what its presets do."""

import pytest

from evener.graphs.edge_list import EdgeList
from evener.graphs.generating.grid import grid
from evener.graphs.generating.random_graphs import rmat
from evener.partitioning.registry import partition_with
from evener.splitting import spac
from evener.splitting.methods import split_with
from tests.splitting.test_methods import contract_of


def test_refinement_is_part_of_every_preset():
    edges = EdgeList.of_graph(rmat(10, 1))
    contract = contract_of(edges, [1] * 8)
    for preset in ("fast", "default", "strong"):
        assert split_with("spac", edges, contract, preset=preset).saved > 0


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

"""Starts by vertices and by groups: within limits, and the graph of groups."""

import numpy as np
import pytest

from evener.graphs.edge_list import EdgeList
from evener.graphs.generating.grid import grid
from evener.graphs.generating.random_graphs import rmat
from evener.plans.edge_partition import EdgePartition, edge_metrics
from evener.splitting.groups import single_edges
from evener.splitting.refining import Effort
from evener.splitting.spac import by_groups, by_vertices, graph_of_groups
from tests.splitting.test_methods import contract_of
from tests.splitting.test_split_and_connect import weights_of


def started(edges, contract, by):
    if by == "vertices":
        return by_vertices(edges, contract, "metis", 7)
    return by_groups(edges, contract, Effort(2), 7)[0]


@pytest.mark.parametrize("by", ["vertices", "groups"])
@pytest.mark.parametrize("graph", [grid((40, 40)), rmat(10, 1)], ids=["grid", "R-MAT"])
def test_starts_are_within_narrow_limits_on_both_sides(graph, by):
    edges = EdgeList.of_graph(graph)
    contract = contract_of(edges, [1, 1, 2, 4], 0.01)
    part = started(edges, contract, by)
    loads = np.bincount(part, minlength=4)
    assert (contract.low <= loads).all()
    assert (loads <= contract.high).all()
    scattered = EdgePartition(np.random.default_rng(1).permutation(part), 4)
    copies = edge_metrics(edges, EdgePartition(part, 4)).copies
    assert copies < 0.8 * edge_metrics(edges, scattered).copies


def test_few_groups_at_a_vertex_form_a_clique_and_many_a_ring():
    star = EdgeList(8, [0] * 6 + [1], [1, 2, 3, 4, 5, 6, 7])
    ring = {(min(e, f), max(e, f)): 30 for e, f in zip(range(6), [1, 2, 3, 4, 5, 0], strict=True)}
    assert weights_of(graph_of_groups(single_edges(star))) == ring | {(0, 6): 60}
    three = EdgeList(4, [0, 0, 0], [1, 2, 3])
    clique = {(0, 1): 30, (0, 2): 30, (1, 2): 30}
    assert weights_of(graph_of_groups(single_edges(three))) == clique

"""Orders of clones: by what the neighbours have; unknown ones and missing places are refused."""

import numpy as np
import pytest

from evener.errors import UsageError
from evener.graphs.edge_list import EdgeList
from evener.graphs.generating.grid import grid
from evener.planning.split import split
from evener.plans.partition import Contract
from evener.splitting.orders import ORDERS, incidence_in

GRID = grid((9, 8))
EDGES = EdgeList.of_graph(GRID)
CONTRACT = Contract(np.full(4, EDGES.m / 4), np.zeros(4), np.full(4, float(EDGES.m)))


@pytest.mark.parametrize("order", ORDERS)
def test_every_order_lists_the_same_edges(order):
    offsets, listed = incidence_in(order, EDGES, CONTRACT, 7)
    plain = EDGES.incidence.edges
    for v in range(EDGES.n):
        own = slice(offsets[v], offsets[v + 1])
        assert sorted(listed[own]) == sorted(plain[own])


def test_neighbours_of_few_edges_come_first():
    offsets, listed = incidence_in("degree", EDGES, CONTRACT, 7)
    for v in range(EDGES.n):
        own = listed[offsets[v] : offsets[v + 1]]
        others = EDGES.tails[own] + EDGES.heads[own] - v
        keys = [(EDGES.degrees[u], u) for u in others]
        assert keys == sorted(keys)


def test_plans_by_an_order_keep_the_contract():
    path = {
        order: split(EDGES, 5, method="spac-path", order=order) for order in ("auto", "neighbour")
    }
    ring = split(EDGES, 5, method="spac-ring", order="degree")
    assert all(plan.holds.all() for plan in (*path.values(), ring))
    found = [plan.partition.part.tolist() for plan in path.values()]
    assert found[0] == found[1]
    assert ("order" in path["auto"].options, ring.options["order"]) == (False, "degree")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ({"method": "spac", "order": "degree"}, "method spac does not take an order of clones"),
        ({"method": "spac-path", "order": "size"}, "order"),
        ({"method": "spac-path", "order": "coordinate"}, "needs coordinates"),
    ],
)
def test_orders_that_cannot_be_are_refused(words, reason):
    with pytest.raises(UsageError, match=reason):
        split(EdgeList(EDGES.n, EDGES.tails, EDGES.heads), 2, **words)

"""The edge partition of any tool judged by a contract; plans that misstate theirs are refused."""

from dataclasses import replace

import numpy as np
import pytest

from evener.errors import InfeasibleError, InputError
from evener.graphs.edge_list import EdgeList
from evener.graphs.generating.grid import grid
from evener.io.edges import as_edges
from evener.planning.split import evaluate_edges, refuse_forged_edges, split
from evener.plans.edge_partition import EdgePartition

EDGES = EdgeList.of_graph(grid((8, 8)))
HALVES = (np.arange(EDGES.m) >= EDGES.m // 2).astype(int)


def test_halves_keep_the_contract_of_halves_alone():
    assert evaluate_edges(EDGES, HALVES, 2).holds.all()
    judged = evaluate_edges(EDGES, HALVES, [1, 3], epsilon=0.1)
    assert judged.holds.tolist() == [False, False]
    assert judged.relative_loads == pytest.approx([2, 2 / 3])
    made = split(EDGES, [1, 3])
    again = evaluate_edges(EDGES, made.partition, [1, 3], made.contract)
    assert again.metrics.copies == made.metrics.copies
    assert again.verdict() == made.verdict()


@pytest.mark.parametrize(
    ("blocks", "k", "error", "reason"),
    [
        (HALVES[:-1], 2, InputError, "111 entries, but there are 112 edges"),
        (HALVES + 1, 2, InputError, "is in block 2, but there are 2 blocks"),
        (EdgePartition(HALVES, 3), 2, InputError, "3 blocks, but there are 2 devices"),
        (HALVES, 200, InfeasibleError, "200 devices but only 112 edges"),
    ],
)
def test_what_does_not_fit_is_refused(blocks, k, error, reason):
    with pytest.raises(error, match=reason):
        evaluate_edges(EDGES, blocks, k)


def test_forged_figures_are_refused():
    plan, reading = split(EDGES, 2), as_edges(EDGES)
    refuse_forged_edges(plan, reading, "x.plan")
    fewer = replace(plan, metrics=replace(plan.metrics, copies=plan.metrics.copies - 1))
    with pytest.raises(InputError, match="copies"):
        refuse_forged_edges(fewer, reading, "x.plan")
    with pytest.raises(InputError, match=r"graph\.edges|edges"):
        refuse_forged_edges(replace(plan, graph={**plan.graph, "edges": 3}), reading, "x.plan")

"""Many vertices moved at once: how much goes where, and in which order."""

import numpy as np
import pytest

from evener.graphs.generating.grid import grid
from evener.graphs.generating.random_graphs import rmat
from evener.graphs.graph import Graph
from evener.partitioning.enforce import enforce
from evener.partitioning.levels.csr_kernels import CSRGraph
from evener.partitioning.repair import bulk_kernels as kernels
from evener.plans.partition import Contract, Partition


def moved(graph, part, border, flows, floor=0.0):
    """What the kernel moves; flows: (from, to, weight) each."""
    part = np.array(part, np.int32)
    block, other, flow = (np.array(column) for column in zip(*flows, strict=True))
    weights = np.asarray(graph.weights(), np.float64)
    weight = np.bincount(part, weights, 3)
    csr = CSRGraph(graph.xadj, graph.adjncy, np.empty(0), weights)
    lists = kernels.empty_lists(graph.n, graph.adjncy.dtype)
    flows = kernels.PairFlows(block, other, flow.astype(np.float64))
    listed = np.array(border, graph.adjncy.dtype)
    count = kernels.move_in_bulk(
        csr, part, np.empty(0, np.bool_), listed, flows, weight, np.full(3, floor), 1.0, lists
    )
    assert (lists.place == kernels.NOWHERE).all()
    assert np.array_equal(weight, np.bincount(part, weights, 3))
    return part.tolist(), count


def path(weights):
    n = len(weights)
    return Graph.from_edges(n, np.arange(n - 1), np.arange(1, n), vwgt=np.array(weights))


def test_weight_moves_on_from_the_border():
    assert moved(path([1] * 6), [0, 0, 0, 0, 1, 1], [3, 4], [(0, 1, 2.0)]) == (
        [0, 0, 1, 1, 1, 1],
        2,
    )


def test_a_block_gives_before_it_receives():
    found, _ = moved(path([1] * 6), [0, 0, 0, 1, 2, 2], [2, 3, 4], [(1, 2, 1.0), (0, 1, 1.0)])
    assert found == [0, 0, 0, 2, 2, 2]  # no vertex of block 1 is left for block 0 to touch


def test_heavy_vertices_stay_and_floors_hold():
    assert moved(path([1, 1, 9, 1]), [0, 0, 0, 1], [2, 3], [(0, 1, 5.0)])[1] == 0
    assert moved(path([1] * 6), [0] * 5 + [1], [4, 5], [(0, 1, 5.0)], floor=3.0)[1] == 2


def test_what_costs_least_cut_moves_first():
    # Vertices 0 to 2 are a triangle; 3 hangs on 2; both 1 and 3 touch block 1, that is 4.
    graph = Graph.from_edges(5, np.array([0, 0, 1, 2, 1, 3]), np.array([1, 2, 2, 3, 4, 4]))
    assert moved(graph, [0, 0, 0, 0, 1], [1, 3, 4], [(0, 1, 1.0)])[0] == [0, 0, 0, 1, 1]


@pytest.mark.parametrize(("graph", "most"), [(grid((60, 60)), 1.15), (rmat(10, 5, 8), 1.15)])
def test_limits_are_kept_as_without(graph, most):
    part = Partition((np.arange(graph.n) * 4 // graph.n).astype(np.int32), 4)
    loads = np.array([1.0, 1.0, 3.0, 1.0]) / 6 * graph.n
    contract = Contract(loads, 0.99 * loads, 1.01 * loads)
    found = [enforce(graph, part, contract, quickly=quickly) for quickly in (False, True, True)]
    assert np.array_equal(found[1].partition.part, found[2].partition.part)
    sizes = np.bincount(found[1].partition.part, minlength=4)
    assert (np.abs(sizes - loads) <= 0.01 * loads + 1).all()
    cut = [cut_of(graph, one.partition.part) for one in found]
    assert cut[1] <= most * cut[0]
    assert found[1].moved <= 1.3 * found[0].moved


def cut_of(graph, part):
    tails = np.repeat(np.arange(graph.n), graph.degrees)
    return np.count_nonzero(part[tails] != part[graph.adjncy])

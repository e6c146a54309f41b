"""Clusters of uneven graphs: light enough, in one block, and hubs' leaves among them."""

import numpy as np

from evener.graphs.generating.random_graphs import barabasi_albert
from evener.partitioning.label_propagation import cycles
from evener.partitioning.label_propagation.cycles import (
    STRIDES,
    Work,
    blocks_by_clusters,
    cost_of,
    in_strides,
    shrink_to_clusters,
)
from evener.partitioning.levels.levels import finest
from tests.partitioning.by_hand import UNIT, sparse, star, unit_contract


def level_of(graph, weights=UNIT):
    return finest(graph, np.arange(graph.n), graph.weights(), weights, 1)


def test_clusters_are_light_and_in_one_block():
    rng = np.random.default_rng(3)
    for graph in (sparse(400, vwgt=rng.random(400) + 0.2), barabasi_albert(400, 3)):
        level, part = level_of(graph), rng.integers(0, 3, 400).astype(np.int32)
        shrunk = shrink_to_clusters(level, part, 5.0, rng)
        assert shrunk.level.n < 300
        assert shrunk.level.vwgt.max() <= 5
        assert shrunk.level.vwgt.sum() == np.float64(level.vwgt.sum())
        np.testing.assert_array_equal(shrunk.part[shrunk.coarse_of], part)


def test_leaves_that_want_the_same_hub_join():
    """A hub takes 9 leaves of 99; the others join among themselves, ten at most."""
    shrunk = shrink_to_clusters(
        level_of(star(100)), np.zeros(100, np.int32), 10.0, np.random.default_rng(1)
    )
    assert shrunk.level.n == 10
    assert shrunk.level.vwgt.max() == 10


def test_edges_of_no_weight_join_nothing():
    graph = star(30)
    level = level_of(graph, np.zeros(graph.adjncy.size, np.int32))
    shrunk = shrink_to_clusters(level, np.zeros(30, np.int32), 10.0, np.random.default_rng(1))
    assert shrunk.level.n == 30


def test_vertices_without_weight_do_not_divide_by_zero():
    level = level_of(star(30, vwgt=np.zeros(30)))
    shrunk = shrink_to_clusters(level, np.zeros(30, np.int32), 0.0, np.random.default_rng(1))
    assert shrunk.level.vwgt.sum() == 0


def test_a_bisection_among_the_starts_and_further_cycles():
    graph = barabasi_albert(3000, 2)
    contract = unit_contract(graph.n, [8, 4, 1, 1, 1, 1], 0.03)
    for work in (Work(2, cycles=1, splits=0, fills=1), Work(2, cycles=2, splits=1, fills=2)):
        rng = np.random.default_rng(5)
        part = blocks_by_clusters(level_of(graph), contract, 0.0, work, rng)
        weight = np.bincount(part, minlength=6)
        assert ((weight >= contract.low) & (weight <= contract.high)).all()


def test_orders_in_strides_have_each_vertex_once():
    for n in (1, 7, STRIDES - 1, STRIDES, 3 * STRIDES + 5):
        order = in_strides(n, np.random.default_rng(n))
        assert (np.sort(order) == np.arange(n)).all()
        same = np.diff(order) == STRIDES  # each stride goes on until it leaves the graph
        assert (order[1:][~same] < STRIDES).all()


def test_partitions_are_combined_inside_the_blocks_of_both(monkeypatch):
    """The third cycle starts from the better partition, and no cluster crosses a border."""
    graph, contract, inside = barabasi_albert(3000, 2), unit_contract(3000, [4, 2, 1, 1], 0.03), []
    shrink_all = cycles._shrink_all

    def shrink_and_record(level, part, *rest):
        inside.append(part)
        return shrink_all(level, part, *rest)

    monkeypatch.setattr(cycles, "_shrink_all", shrink_and_record)
    made, cycle = [], cycles.cycle

    def cycle_and_record(*args):
        made.append(cycle(*args))
        return made[-1]

    monkeypatch.setattr(cycles, "cycle", cycle_and_record)
    level, rng = level_of(graph), np.random.default_rng(5)
    part = blocks_by_clusters(level, contract, 0.0, Work(2, 2, 1, 1), rng)
    assert [len(np.unique(sets)) > 1 for sets in inside] == [False, False, True]
    pairs = made[0] * 4 + made[1]
    assert len(np.unique(inside[2])) == len(np.unique(pairs))
    assert len(np.unique(inside[2] * 16 + pairs)) == len(np.unique(pairs))
    assert cost_of(level, part, contract) == min(cost_of(level, x, contract) for x in made)

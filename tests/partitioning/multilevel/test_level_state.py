"""Where blocks start: distance or edges, whichever borders are shorter."""

import numpy as np
import pytest

from evener.graphs.generating.delaunay import delaunay
from evener.graphs.generating.random_graphs import rgg
from evener.graphs.graph import Graph
from evener.partitioning.initial.bisection import cut_of
from evener.partitioning.initial.kmeans import unit_box
from evener.partitioning.levels.levels import finest, shrink_freely, shrink_inside
from evener.partitioning.multilevel import level_state as starts
from evener.partitioning.multilevel import multilevel
from evener.partitioning.multilevel.level_state import MultilevelTask, eased
from evener.partitioning.multilevel.multilevel import edge_weights, multilevel_blocks, vertex_order
from evener.partitioning.multilevel.presets import PRESETS
from evener.plans.partition import Contract
from tests.assertions import grid
from tests.partitioning.by_hand import cut


def contract_for(graph, k):
    targets = np.full(k, graph.total_weight / k)
    return Contract(targets, np.floor(0.97 * targets), np.ceil(1.03 * targets))


def stretched(rows, columns, ratio):
    """A grid whose cells are `ratio` times as long as high: distance says little about edges."""
    graph = grid(rows, columns)
    return Graph(graph.xadj, graph.adjncy, coords=graph.coords * np.array([ratio, 1.0]))


@pytest.mark.parametrize("large", [False, True])
def test_stretched_cells_are_divided_as_well_as_without_coordinates(monkeypatch, large):
    graph = stretched(90, 90, 60.0)
    contract = contract_for(graph, 24)
    if large:
        monkeypatch.setattr(multilevel, "MOST_PLACED", 100)
    found = cut(graph, multilevel_blocks(graph, contract).part)
    without = Graph(graph.xadj, graph.adjncy)
    assert found <= 1.08 * cut(graph, multilevel_blocks(without, contract).part)


def coarse_problem(graph, k):
    order = vertex_order(graph)
    level = finest(graph, order, None, edge_weights(graph), 1)
    contract = contract_for(graph, k)
    hierarchy = shrink_freely(level, contract.targets, 45, 8.0, 1)
    points = hierarchy.coarse_points(unit_box(graph.coords, order, 1))
    return hierarchy, points, MultilevelTask(contract, PRESETS["default"], 7, 1)


def test_the_best_start_comes_first_and_the_rest_is_close():
    hierarchy, points, task = coarse_problem(delaunay(6000, seed=5), 16)
    found = starts.starting_blocks(hierarchy.coarsest, points, task, len(hierarchy.above))
    cuts = [cut_of(blocks.level, blocks.part) for blocks in found]
    assert cuts == sorted(cuts)
    assert cuts[-1] <= starts.CLOSE * cuts[0]
    for blocks in found:
        weight = np.bincount(blocks.part, blocks.level.vwgt, 16)
        assert blocks.weight == pytest.approx(weight)


@pytest.mark.parametrize(("objective", "better"), [("cut", 0), ("max_volume", 1)])
def test_the_objective_decides_which_partition_is_followed(objective, better):
    graph = grid(6, 6)
    order = vertex_order(graph)
    level = finest(graph, order, None, edge_weights(graph), 1)
    row, column = np.divmod(np.arange(36), 6)
    right = column >= 3
    parts = [
        right + 1 * ((row == 0) & (column == 5)),  # cuts 6 + 2 edges, 8 of the second block
        right * (1 + (row >= 3)),  # cuts 6 + 3, of which 6 of each block
    ]
    contract = Contract(np.full(3, 12.0), np.zeros(3), np.full(3, 36.0))
    task = MultilevelTask(contract, PRESETS["default"], 7, 1, objective)
    rivals = [starts.placed(level, part[order].astype(np.int32), task, 0) for part in parts]
    assert starts.worth_following(rivals, task) == [rivals[better]]


def test_middles_of_clusters_are_weighted_means():
    graph = delaunay(3000, seed=6)
    hierarchy, points, _ = coarse_problem(graph, 4)
    of = np.arange(graph.n)
    for _, shrunk in hierarchy.above:
        of = shrunk.coarse_of[of]
    box = unit_box(graph.coords, vertex_order(graph), 1)
    for c in range(0, hierarchy.coarsest.n, 17):
        assert points[:, c] == pytest.approx(box[:, of == c].mean(axis=1), abs=1e-5)


def test_shrinking_inside_blocks_crosses_no_border():
    graph = delaunay(3000, seed=7)
    level = finest(graph, vertex_order(graph), None, edge_weights(graph), 1)
    part = (np.arange(graph.n) * 5 // graph.n).astype(np.int32)
    hierarchy = shrink_inside(level, part, np.full(5, 600.0), 20, 8.0, 1)
    of = np.arange(graph.n)
    for _, shrunk in hierarchy.above:
        of = shrunk.coarse_of[of]
    assert (hierarchy.part[of] == part).all()
    assert hierarchy.coarsest.vwgt.sum() == graph.n


def test_coarse_limits_leave_room_for_a_vertex_but_empty_no_block():
    hierarchy, _, task = coarse_problem(delaunay(6000, seed=5), 16)
    contract = task.contract
    room = eased(contract, hierarchy.coarsest, 2)
    assert (room.low <= contract.low).all()
    assert (room.high >= contract.high).all()
    assert (room.low >= (1 - 1 / 8) * contract.targets).all()
    whole = eased(contract, hierarchy.coarsest, 0)
    assert (whole.low == contract.low).all() and (whole.high == contract.high).all()


@pytest.mark.parametrize("large", [False, True])
def test_what_refinement_begins_with_is_told(monkeypatch, large):
    if large:
        monkeypatch.setattr(multilevel, "MOST_PLACED", 100)
    graph = delaunay(5000, seed=3)
    found = multilevel_blocks(graph, contract_for(graph, 8))
    part, start = found.part, found.start
    assert start.shape == (graph.n,)
    assert set(start) == set(range(8))
    assert cut(graph, part) < cut(graph, start)


@pytest.mark.parametrize(("ratio", "bisected"), [(1.0, False), (80.0, True)])
def test_distance_is_trusted_until_rounding_shows_that_it_misled(monkeypatch, ratio, bisected):
    calls = []
    whole = starts.recursive_bisection
    monkeypatch.setattr(
        starts, "recursive_bisection", lambda *given: calls.append(given) or whole(*given)
    )
    monkeypatch.setattr(multilevel, "MOST_PLACED", 100)
    graph = rgg(12_000, dim=3, degree=12, seed=8)
    graph = graph.with_(coords=graph.coords * np.array([1.0, 1.0, ratio]))
    multilevel_blocks(graph, contract_for(graph, 24))
    assert bool(calls) == bisected


def test_blocks_by_distance_are_not_trusted_if_a_bisection_cuts_less(monkeypatch):
    hierarchy, _, task = coarse_problem(delaunay(6000, seed=5), 40)
    level, depth = hierarchy.coarsest, len(hierarchy.above)
    dealt = starts.placed(level, (np.arange(level.n) % 40).astype(np.int32), task, depth)
    monkeypatch.setattr(starts, "_by_distance", lambda *_: ([dealt], True))
    best = starts.starting_blocks(level, None, task, depth, trusting=True)[0]
    assert cut_of(level, best.part) < cut_of(level, dealt.part) / 2

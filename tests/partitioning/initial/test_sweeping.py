"""Swept blocks: the fronts are those that a slow search finds; places are as they are named."""

import numpy as np
import pytest

from evener.graphs.generating.grid import grid as generated
from evener.partitioning.initial.bisection import DEALS, cut_of, halving_tree
from evener.partitioning.initial.sweeping import (
    FAR,
    best_directions,
    best_sweep,
    directions_of_hops,
    directions_of_points,
    far_vertices,
    rows_of_hops,
    swept_blocks,
)
from evener.partitioning.initial.sweeping_kernels import fronts_of
from tests.assertions import grid
from tests.partitioning.by_hand import level_of

SLACK = 0.02


def cuts_of_fronts(graph, place, share, slack):
    """Cuts of all fronts across one direction that keep the weights, from either side."""
    count = fronts_of(graph.n)
    low, high = place.min(), place.max()
    bucket = np.minimum((place - low) * (count / (high - low)), count - 1).astype(int)
    ends = np.repeat(np.arange(graph.n), graph.degrees)
    weights, found = graph.weights(), []
    total = weights.sum()
    for front in range(count):
        before = bucket <= front
        weight = weights[before].sum()
        for wanted in (share * total, (1 - share) * total):
            if abs(weight - wanted) <= slack * min(wanted, total - wanted):
                across = before[ends] != before[graph.adjncy]
                found.append(int(across.sum()) // 2)
    return found


@pytest.mark.parametrize("share", [0.5, 0.25, 0.7])
@pytest.mark.parametrize("seed", range(4))
def test_the_front_is_the_best_of_all(seed, share):
    rng = np.random.default_rng(seed)
    graph = grid(30, 20, vwgt=rng.integers(1, 4, 600))
    level = level_of(graph)
    places = rng.random((3, 600)).astype(np.float32)
    places[1] += np.arange(600) / 60  # one direction that follows the graph
    targets = np.array([share, 1 - share]) * graph.total_weight
    tree = halving_tree(targets, None, "count")
    part = swept_blocks(level, places, tree, SLACK)
    # Side 0 is the heavier block.
    found = [cuts_of_fronts(graph, place, max(share, 1 - share), SLACK) for place in places]
    assert cut_of(level, part) == min(min(one) for one in found if one)
    weight = np.bincount(part, weights=graph.weights(), minlength=2)
    assert (abs(weight - targets) <= SLACK * targets.min() + 1e-9).all()


@pytest.mark.parametrize(
    ("shape", "speeds", "least"),
    [
        ((42, 42), [2, 1], 42),
        ((60, 20), [1, 1, 1], 40),
        ((60, 20), [1, 1, 4], 40),
        ((32, 32), [1, 1, 1, 1], 64),
        ((16, 16, 8), [1, 1], 128),
        ((12, 12, 12), [3, 1, 1, 1], 144 + 2 * 72),
    ],
)
def test_grids_are_cut_along_their_lines(shape, speeds, least):
    graph = generated(shape)
    targets = graph.n * np.array(speeds) / sum(speeds)
    rows = np.asarray(graph.coords, np.float32).T
    sweep = best_sweep(level_of(graph), rows, targets, SLACK)
    part = swept_blocks(level_of(graph), rows, sweep.tree, SLACK)
    assert part.tolist() == sweep.part.tolist()
    assert sweep.cut == cut_of(level_of(graph), part) <= least
    assert (abs(np.bincount(part, minlength=len(speeds)) - targets) <= 0.03 * targets + 1).all()


def test_a_heavy_place_is_divided_inside():
    graph = grid(1, 100)
    rows = np.zeros((1, 100), np.float32)
    rows[0, 80:] = 1  # four fifths in one place
    part = swept_blocks(
        level_of(graph), rows, halving_tree(np.array([50.0, 50.0]), None, "count"), SLACK
    )
    assert np.bincount(part).tolist() == [50, 50]


def test_vertices_all_in_one_place_are_divided_too():
    graph = grid(1, 30)
    for deal in DEALS:
        tree = halving_tree(np.array([5.0, 20.0, 5.0]), None, deal)
        part = swept_blocks(level_of(graph), np.zeros((2, 30), np.float32), tree, SLACK)
        assert np.bincount(part).tolist() == [5, 20, 5]


def test_corners_and_diagonals_are_directions():
    points = np.array([[0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 0.5, 0.5]], np.float32)
    found = [direction(points).tolist() for direction in directions_of_points(2)]
    assert [0.0, 1.0, 0.5, 1.5] in found
    assert [0.0, 1.0, -0.5, 0.5] in found
    assert [0.0, 1.0, 0.5, 1.0] in found  # the square from the corner at the origin
    assert [1.0, 0.5, 1.0, 0.0] in found  # that from the opposite corner
    assert len(directions_of_points(3)) == 3 * 6 + 3


def test_a_corner_is_cut_off_where_that_is_shorter():
    graph = generated([40, 40])
    rows = np.asarray(graph.coords, np.float32).T
    tree = halving_tree(np.array([1500.0, 100.0]), None, "count")
    chosen, others = best_directions(level_of(graph), rows, tree, directions_of_points(2), SLACK)
    places = np.stack([*rows, *(direction(rows) for direction in chosen)])
    part = swept_blocks(level_of(graph), places, tree, SLACK)
    assert part.tolist() == others.tolist()
    assert cut_of(level_of(graph), part) == 20  # a square of 10 x 10; a line cuts 40


def test_hops_from_opposite_corners_find_the_lines_of_a_grid():
    """The differences of hops from the corners are its coordinates."""
    level, corners = level_of(grid(20, 30)), np.array([0, 29, 570, 599])
    assert set(far_vertices(level)[:2].tolist()) == {0, 599}
    rows = rows_of_hops(level, corners, np.arange(600))
    assert rows.shape == (FAR + 1, 600)
    across, along = np.divmod(np.arange(600), 30)
    differences = [direction(rows).tolist() for direction in directions_of_hops()]
    assert (2 * along - 29).tolist() in differences
    assert (2 * across - 19).tolist() in differences


def test_pieces_that_no_path_reaches_lie_before_all_others():
    rows = rows_of_hops(
        level_of(grid(1, 3).with_(adjncy=np.array([1, 0]), xadj=np.array([0, 1, 2, 2]))),
        np.zeros(FAR, np.int64),
        np.arange(3),
    )
    assert rows[0].tolist() == [0, 1, -1]

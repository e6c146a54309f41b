"""Multi-jagged cuts: exact sizes, rectangles, RCB where two sections are asked."""

import numpy as np
import pytest

from evener.errors import InfeasibleError, InputError, UsageError
from evener.partitioning.initial.geometric import rcb_blocks
from evener.partitioning.initial.multijagged import _groups, mj_blocks


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("k", [2, 5, 8, 24, 97])
def test_blocks_are_within_a_vertex_of_any_targets(d, k):
    rng = np.random.default_rng([d, k])
    points, targets = rng.random((3000, d)), rng.random(k) ** 3 + 0.05
    weights = rng.integers(1, 5, 3000).astype(float)
    for given in (None, weights):
        part = mj_blocks(points, given, targets)
        found = np.bincount(part, given, k)
        total = 3000 if given is None else weights.sum()
        heaviest = 1 if given is None else 4
        assert np.abs(found - targets / targets.sum() * total).max() <= heaviest


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("k", [2, 16, 64])
def test_two_sections_a_level_are_recursive_bisection(d, k):
    points = np.random.default_rng([7, d]).random((2048, d))
    assert (mj_blocks(points, None, np.ones(k), sections=2) == rcb_blocks(points, None, np.ones(k))
            ).all()  # fmt: skip


def test_sixteen_blocks_of_a_wide_grid_by_hand():
    # 4 sections across the longer side, 4 in each across the other.
    y, x = np.divmod(np.arange(8 * 16), 16)
    part = mj_blocks(np.column_stack([2 * x, y]), None, np.ones(16))
    assert (part == 4 * (x // 4) + y // 2).all()


def test_blocks_are_boxes_that_do_not_overlap():
    points = np.random.default_rng(3).random((2000, 2))
    part = mj_blocks(points, None, np.r_[np.ones(20), np.full(4, 9.0)])
    boxes = [(points[part == b].min(axis=0), points[part == b].max(axis=0)) for b in range(24)]
    for b, (low, high) in enumerate(boxes):
        inside = ((points >= low) & (points <= high)).all(axis=1)
        assert (part[inside] == b).all()


def test_groups_weigh_about_the_same_and_none_is_empty():
    ideal = np.cumsum(np.r_[0.0, 8, 1, 1, 1, 1, 1, 1, 1, 1])
    assert _groups(ideal, 0, 9, 2).tolist() == [0, 1, 9]
    assert _groups(ideal, 0, 9, 4).tolist() == [0, 1, 2, 5, 9]
    assert _groups(np.array([0.0, 0, 0, 9]), 0, 3, 3).tolist() == [0, 1, 2, 3]


def test_points_in_one_place_and_no_points_are_divided():
    assert np.bincount(mj_blocks(np.zeros((10, 2)), None, np.ones(5))).tolist() == [2] * 5
    assert mj_blocks(np.zeros((0, 2)), None, np.ones(3)).size == 0
    part = mj_blocks(np.random.default_rng(1).random((3, 2)), None, np.r_[1.0, 0, 0, 2])
    assert np.bincount(part, minlength=4).tolist() == [1, 0, 0, 2]


def test_refusals():
    with pytest.raises(UsageError, match="at least 2 sections, not 1"):
        mj_blocks(np.zeros((4, 2)), None, np.ones(2), sections=1)
    with pytest.raises(InfeasibleError, match="no target is above zero"):
        mj_blocks(np.zeros((4, 2)), None, np.zeros(2))
    with pytest.raises(InputError, match="not be negative"):
        mj_blocks(np.zeros((4, 2)), [-1, 1, 1, 1], np.ones(2))

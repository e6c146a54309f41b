"""Clouds of points: as many as asked for, where they count, as far apart as wanted."""

import numpy as np
import pytest

from evener.graphs.generating.delaunay import quadtree_cloud


def everywhere(function):
    return lambda centres, sides: (function(centres), np.ones(sides.size, bool))


@pytest.mark.parametrize("n", [1, 2, 5, 1000])
def test_gives_as_many_points_as_asked_for(n):
    cloud = quadtree_cloud(
        n, (2.0, -1.0), 3.0, everywhere(lambda c: np.ones(len(c))), np.random.default_rng(40037)
    )
    points, spacing = cloud
    assert points.shape == (n, 2)
    assert spacing.shape == (n,)
    assert (points >= [2, -1]).all()
    assert (points <= [5, 2]).all()
    assert len(np.unique(points, axis=0)) == n


def test_spacing_follows_what_is_wanted_without_steps():
    # Wanted: in proportion to x + 0.1. In strips of like wishes, the distance between points,
    # the root of the area of each, must be in one proportion to the wish; octaves alone, cells
    # halved where the wish has halved, would put it off by up to a root of two either way.
    points, _ = quadtree_cloud(
        40_000, (0.0, 0.0), 1.0, everywhere(lambda c: c[:, 0] + 0.1), np.random.default_rng(60101)
    )
    ends = np.geomspace(0.1, 1.1, 17)
    count = np.histogram(points[:, 0] + 0.1, ends)[0]
    apart = np.sqrt(np.diff(ends) / count)
    ratio = apart / np.sqrt(ends[:-1] * ends[1:])
    assert ratio.max() < 1.15 * ratio.min()


def test_only_cells_that_count_give_points():
    def left_half(centres, sides):
        left = centres[:, 0] < 0.5
        return np.where(left | (sides > 0.9), 1.0, np.inf), left

    points, spacing = quadtree_cloud(300, (0.0, 0.0), 1.0, left_half, np.random.default_rng(7079))
    assert points[:, 0].max() <= 0.5
    assert spacing.max() < 0.1

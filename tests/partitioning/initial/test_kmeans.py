"""Balanced k-means: nearest centres against all centres, balance, and points that do not spread."""

import numpy as np
import pytest

from evener.errors import InfeasibleError, InputError
from evener.graphs.generating.adaptive import trace_dual
from evener.graphs.hilbert import hilbert_order
from evener.partitioning.initial import kmeans, kmeans_kernels
from evener.partitioning.initial.kmeans import (
    kmeans_blocks,
    large_blocks,
    start_at_rim,
    unit_box,
)


def assigned(points, weights, places, influence, threads=1):
    """Blocks, their weights and weighted sums, as the kernel finds them."""
    cloud = kmeans._cloud(points, weights)
    rounds = kmeans._Rounds(np.ones(len(places)), 0.01, threads)
    part = np.full(points.shape[1], -1, np.int32)
    centres = kmeans.Centres(places, influence)
    mass, moment = rounds._assign(cloud, centres, part)
    return part, mass, moment


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("n", [1, 31, 33, 5000, 20000])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_point_goes_to_its_nearest_centre(d, n, weighted):
    rng = np.random.default_rng(n + d)
    points = rng.random((d, n)).astype(np.float32)
    # Leaves that are long and thin.
    points = np.ascontiguousarray(points[:, np.argsort(points[0])])
    weights = rng.random(n) if weighted else np.empty(0)
    for k in (1, 2, 17, 60):
        places = rng.random((k, d)).astype(np.float32)
        influence = rng.uniform(0.5, 2, k)
        part, mass, moment = assigned(points, weights, places, influence)
        apart = ((points.T[:, None, :].astype(float) - places) ** 2).sum(axis=2) / influence**2
        own = apart[np.arange(n), part]
        # Distances are compared in single precision.
        assert (own <= apart.min(axis=1) * (1 + 1e-5) + 1e-6).all()
        each = weights if weighted else np.ones(n)
        assert mass == pytest.approx(np.bincount(part, each, k), rel=1e-9, abs=1e-12)
        for j in range(d):
            expected = np.bincount(part, each * points[j], k)
            assert moment[:, j] == pytest.approx(expected, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_all_rounds_in_one_call_do_what_round_after_round_does(monkeypatch, d, weighted):
    rng = np.random.default_rng(d)
    points = rng.random((3000, d))
    weights = rng.integers(1, 4, 3000) if weighted else None
    targets = np.r_[np.full(3, 16.0), np.full(20, 1.0)]
    once = kmeans_blocks(points, weights, targets)
    monkeypatch.setattr(kmeans, "_is_small", lambda _: False)
    slowly = kmeans_blocks(points, weights, targets)
    assert (once == slowly).mean() > 0.999  # powers may differ in their last digits


def test_leaves_hold_their_points():
    rng = np.random.default_rng(3)
    points, weights = rng.random((2, 77)).astype(np.float32), rng.random(77)
    cloud = kmeans._cloud(points, weights)
    for leaf in range(3):
        own = slice(leaf * kmeans_kernels.LEAF, (leaf + 1) * kmeans_kernels.LEAF)
        assert (cloud.leaf_low[leaf] == points[:, own].min(axis=1)).all()
        assert (cloud.leaf_high[leaf] == points[:, own].max(axis=1)).all()
        assert cloud.leaf_mass[leaf] == pytest.approx(weights[own].sum())
        assert cloud.leaf_moment[leaf] == pytest.approx((points[:, own] * weights[own]).sum(axis=1))
    assert kmeans._total(cloud) == pytest.approx(weights.sum())


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "targets", [np.ones(12), np.r_[np.ones(10), [5, 9]], [1.0], np.geomspace(1, 30, 20)]
)
def test_blocks_weigh_their_targets(d, weighted, targets):
    rng = np.random.default_rng(d)
    points = rng.random((12000, d))
    weights = rng.integers(1, 4, 12000) if weighted else None
    targets = np.asarray(targets, float)
    part = kmeans_blocks(points, weights, targets, tolerance=0.02)
    found = np.bincount(part, weights, targets.size)
    assert found / found.sum() == pytest.approx(targets / targets.sum(), rel=0.025)


def test_many_blocks_of_few_points():
    points = np.random.default_rng(8).random((30_000, 2))
    targets = np.r_[np.full(80, 160.0), np.full(860, 20.0)]
    part = kmeans_blocks(points, None, targets)
    found = np.bincount(part, minlength=targets.size)
    assert np.abs(found - targets).max() <= 8
    assert np.abs(found - targets).mean() <= 1.5


def test_weight_that_the_sample_misses():
    points = np.random.default_rng(9).random((2**14 + 1, 2))
    weights = np.zeros(len(points))
    weights[np.lexsort(points.T)[0]] = 1.0
    part = kmeans_blocks(points, weights, np.ones(3))
    assert part.min() >= 0
    assert part.max() < 3


@pytest.mark.parametrize("threads", [2, 4])
def test_threads_change_nothing(threads):
    rng = np.random.default_rng(5)
    points, weights, targets = rng.random((40000, 2)), rng.random(40000), rng.random(30) + 0.1
    once = kmeans_blocks(points, weights, targets)
    assert (kmeans_blocks(points, weights, targets, threads=threads) == once).all()


@pytest.mark.parametrize(
    "points",
    [
        np.zeros((500, 2)),
        np.ones((500, 3)),
        np.column_stack([np.arange(500.0), np.zeros(500)]),
        np.random.default_rng(0).integers(0, 2, (500, 2)).astype(float),
        np.random.default_rng(1).uniform(-1, 1, (500, 2)) * 1.7e308,
        np.random.default_rng(2).random((500, 2)) * 1e-310,
        np.zeros((1, 2)),
    ],
    ids=["equal", "equal3d", "collinear", "few", "huge", "tiny", "one"],
)
def test_any_finite_points_get_blocks(points):
    part = kmeans_blocks(points, None, np.array([1.0, 2, 3]))
    assert part.shape == (len(points),)
    assert part.min() >= 0
    assert part.max() < 3


def test_collinear_points_are_balanced():
    points = np.column_stack([np.arange(3000.0), np.zeros(3000)])
    found = np.bincount(kmeans_blocks(points, None, np.array([1.0, 2, 3])))
    assert found / 500 == pytest.approx([1, 2, 3], rel=0.02)


@pytest.mark.parametrize("least", [1e-30, 1e-100, 1e-300])
def test_targets_that_round_to_nothing(least):
    points = np.random.default_rng(0).random((300, 2))
    part = kmeans_blocks(points, None, np.array([least, least, 1, 1]))
    assert np.bincount(part, minlength=4)[2:] == pytest.approx([150, 150], abs=4)
    part = kmeans_blocks(points, None, 2.0 ** -np.arange(200))
    assert part.min() >= 0
    assert part.max() < 200


def test_what_weighs_nothing_is_refused():
    points = np.random.default_rng(0).random((30, 2))
    with pytest.raises(InfeasibleError, match="zero"):
        kmeans_blocks(points, np.zeros(30), np.ones(3))
    with pytest.raises(InfeasibleError, match="zero"):
        kmeans_blocks(points, None, np.array([1.0, 0.0]))
    with pytest.raises(InputError):
        kmeans_blocks(np.array([[0.0, np.nan]]), None, np.ones(1))


def test_unit_boxes_keep_proportions():
    box = unit_box(np.array([[2.0, 10], [4, 10], [2, 11]]))
    assert box.T.tolist() == [[0, 0], [1, 0], [0, 0.5]]
    assert box.dtype == np.float32


def test_only_large_blocks_get_the_rim():
    assert not large_blocks(np.ones(10), 2).any()
    assert large_blocks(np.r_[np.ones(30), 4.0, 5.0], 2).tolist() == [False] * 30 + [True] * 2


@pytest.mark.parametrize("d, large", [(2, 4), (3, 8)])
def test_large_blocks_start_in_the_corners_first(d, large):
    points = np.random.default_rng(5).random((20_000, d))
    points = points[hilbert_order(points)].T.astype(np.float32)
    targets = np.r_[np.full(large, 16.0), np.ones(60)]
    places = start_at_rim(points, np.empty(0), targets).places[:large]
    corners = {tuple(place > 0.5) for place in places}
    assert len(corners) == 2**d
    assert np.abs(places - 0.5).min() > 0.3  # in no direction near the middle


def test_blocks_far_off_are_balanced_on(monkeypatch):
    # Cells a hundred times as dense along a curve, blocks of 9:1: 40 rounds do not suffice.
    points = trace_dual(10_000, 11).coords
    targets = np.r_[np.full(8, 9.47), np.ones(88)]
    ideal = targets / targets.sum() * len(points)

    def off():
        found = np.bincount(kmeans_blocks(points, None, targets), minlength=96)
        return np.abs(found / ideal - 1).max()

    assert off() < 0.03
    monkeypatch.setattr(kmeans, "FAR_OFF", np.inf)
    assert off() > 0.25

"""Every method divides every matrix, and each keeps what it promises."""

import itertools

import numpy as np
import pytest

from evener.errors import InfeasibleError, InputError, UsageError
from evener.plans.tiling import half_perimeter_bound
from evener.platforms.models.fitting import Constant
from evener.sizing.tiling.cuts import (
    FEW,
    Cut,
    best_columns,
    best_cuts,
    columns_half_perimeter,
    good_cuts,
    grid_columns,
    ordered_columns,
)
from evener.sizing.tiling.methods import METHODS, tile
from evener.sizing.tiling.whole import proportional, whole_columns

AREA_METHODS = ("kl", "br", "1.5d", "fpm-kl", "guillotine", "hierarchical")


def set_partitions(items):
    """All ways to put items into columns."""
    if not items:
        yield []
        return
    first, *rest = items
    for smaller in set_partitions(rest):
        yield [[first], *smaller]
        for i, column in enumerate(smaller):
            yield [*smaller[:i], [first, *column], *smaller[i + 1 :]]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("method", ["auto", "kl", "br", "1.5d", "fpm-kl", "guillotine"])
def test_speeds_whose_sum_is_infinite(method):
    fast = tile([1e308, 1e308, 1e308, 1.25], (64, 64), block=16, method=method)
    same = tile([1e8, 1e8, 1e8, 1.25e-300], (64, 64), block=16, method=method)
    assert fast.tiling.areas.tolist() == same.tiling.areas.tolist()


def test_columns_by_hand():
    # Areas 1/2, 1/4, 1/4 of a square: a column of 1 and one of 2 give 2 + 1/2 + 2 * 1/2.
    areas = np.array([1.0, 2.0, 1.0])
    columns = best_columns(areas, (1, 1))
    assert [c.tolist() for c in columns] == [[1], [0, 2]]
    assert columns_half_perimeter(areas, columns, (1, 1)) == pytest.approx(3.5)


@pytest.mark.parametrize("p", [1, 2, 3, 5, 7, 8])
def test_no_columns_are_better(p):
    rng = np.random.default_rng(8100 + p)
    for shape in [(1.0, 1.0), (1.0, 3.5)]:
        areas = rng.lognormal(0, 1, p)
        least = min(
            columns_half_perimeter(areas, [np.array(c) for c in way], shape)
            for way in set_partitions(list(range(p)))
        )
        best = columns_half_perimeter(areas, best_columns(areas, shape), shape)
        assert best == pytest.approx(least)


def compositions(p):
    """All ways to write p as a sum of whole numbers above zero, in order."""
    for cuts in itertools.product((False, True), repeat=p - 1):
        ends = [0, *(i + 1 for i, cut in enumerate(cuts) if cut), p]
        yield [b - a for a, b in itertools.pairwise(ends)]


@pytest.mark.parametrize("p", [1, 2, 5, 7, 9])
def test_no_numbers_of_devices_in_kl_columns_are_better(p):
    rng = np.random.default_rng(8150 + p)
    for shape in [(1.0, 1.0), (1.0, 3.5), (2.0, 0.5)]:
        areas = rng.lognormal(0, 1.5, p)
        found = {}
        for counts in compositions(p):
            cost = columns_half_perimeter(areas, grid_columns(p, counts), shape)
            found.setdefault(len(counts), []).append(cost)
        for number, costs in [*found.items(), (None, [*itertools.chain(*found.values())])]:
            columns = ordered_columns(areas, shape, number)
            assert np.concatenate(columns).tolist() == list(range(p))
            assert number in (None, len(columns))
            assert columns_half_perimeter(areas, columns, shape) == pytest.approx(min(costs))
            # BR may choose the order as well.
            assert columns_half_perimeter(areas, best_columns(areas, shape), shape) <= min(
                found.get(number, costs)
            ) * (1 + 1e-9)


def test_kl_has_the_numbers_of_devices_asked_for():
    speeds = [6, 6, 6, 5, 5, 5, 5, 3, 3, 3, 2, 2, 2]
    given = tile(speeds, (840, 840), method="kl", n_columns=[3, 4, 4, 2]).tiling
    assert [int((given.left == left).sum()) for left in np.unique(given.left)] == [3, 4, 4, 2]
    assert given.n_columns == 4
    widths = np.unique(given.left, return_inverse=True)[1]
    shares = np.bincount(widths, speeds) / sum(speeds) * 840
    assert np.abs(np.bincount(widths, given.areas) / 840 - shares).max() <= 1
    assert tile(speeds, (840, 840), method="kl", n_columns=3).tiling.n_columns == 3
    free = tile(speeds, (840, 840), method="kl").tiling
    assert free.volume <= given.volume
    assert tile(speeds, (840, 840), method="br").tiling.volume <= free.volume + 0.01


def slow_cuts(areas, height, width):
    """Guillotine cuts of runs of sorted areas, all tried."""
    if len(areas) == 1:
        return height + width
    best = np.inf
    for m in range(1, len(areas)):
        x = sum(areas[:m]) / sum(areas)
        for one, other in (
            ((height, width * x), (height, width * (1 - x))),
            ((height * x, width), (height * (1 - x), width)),
        ):
            best = min(best, slow_cuts(areas[:m], *one) + slow_cuts(areas[m:], *other))
    return best


@pytest.mark.parametrize("p", [1, 2, 4, 6, 12, 16])
def test_cuts_are_the_best_and_never_worse_than_columns(p):
    rng = np.random.default_rng(8200 + p)
    for _ in range(4):
        areas = rng.lognormal(0, 1.2, p)
        _, value = best_cuts(areas, (2.0, 1.5), np.arange(p))
        columns = best_columns(areas, (2.0, 1.5))
        own = areas * (3 / areas.sum())
        assert value <= columns_half_perimeter(areas, columns, (2.0, 1.5)) * (1 + 1e-9)
        assert value >= half_perimeter_bound(own) * (1 - 1e-9)
        if p <= 6:
            assert value == pytest.approx(slow_cuts(sorted(areas, reverse=True), 2.0, 1.5))


def laid_out(tree, areas, height, width):
    """Devices of a tree with their boxes, as its cuts say."""
    if not isinstance(tree, Cut):
        assert height * width == pytest.approx(areas[tree])
        return {tree: (height, width)}
    first = sum(areas[i] for i in devices_in(tree.first)) / (height * width)
    boxes = [(height, width * share) if tree.beside else (height * share, width)
             for share in (first, 1 - first)]  # fmt: skip
    return laid_out(tree.first, areas, *boxes[0]) | laid_out(tree.second, areas, *boxes[1])


def devices_in(tree):
    return devices_in(tree.first) + devices_in(tree.second) if isinstance(tree, Cut) else [tree]


@pytest.mark.parametrize("p", [FEW + 1, 30, 70])
def test_cuts_of_many_are_cuts_and_never_worse_than_columns(p):
    rng = np.random.default_rng(p)
    for areas in (rng.lognormal(0, 1, p), 1 - rng.random(p), np.ones(p)):
        own = areas * (2.0 * 1.5 / areas.sum())
        tree, value = good_cuts(areas, (2.0, 1.5), np.arange(p))
        boxes = laid_out(tree, own, 2.0, 1.5)
        assert sorted(boxes) == list(range(p))
        assert sum(map(sum, boxes.values())) == pytest.approx(value)
        columns = columns_half_perimeter(areas, best_columns(areas, (2.0, 1.5)), (2.0, 1.5))
        assert 2 * np.sqrt(own).sum() <= value <= columns * (1 + 1e-9)


@pytest.mark.parametrize("method", AREA_METHODS)
@pytest.mark.parametrize("p", [1, 2, 3, 7, 12])
def test_every_matrix_is_divided(method, p):
    rng = np.random.default_rng(8300 + p)
    for shape, block in [((1, 1), 1), ((7, 5), 1), ((1000, 3), 8), ((640, 640), 16), ((1, 50), 1)]:
        speeds = rng.lognormal(0, 1, p)
        places = [(f"n{i % 2}", f"s{i % 3}")[: i % 4] for i in range(p)]
        tiled = tile(speeds, shape, method=method, block=block, places=places)
        rows, columns = -(-shape[0] // block), -(-shape[1] // block)
        assert tiled.tiling.shape == (rows, columns)
        assert tiled.tiling.areas.sum() == rows * columns
        assert tiled.tiling.spans(shape)[:, 1::2].max(axis=0).tolist() == list(shape)
        assert tiled.targets.sum() == pytest.approx(rows * columns)
        assert tiled.seconds == pytest.approx(tiled.tiling.areas / speeds)


def test_whole_columns_have_the_least_largest_load():
    rng = np.random.default_rng(8400)
    rows, width = 5, 6
    for _ in range(20):
        targets = rng.lognormal(0, 1, 5)
        targets *= rows * width / targets.sum()
        columns = [np.array([0, 1]), np.array([2, 3, 4])]
        least = np.inf
        for w in range(width + 1):
            worst = 0.0
            for column, wide in zip(columns, (w, width - w), strict=True):
                ways = itertools.product(range(rows + 1), repeat=column.size)
                own = [np.array(h) * wide / targets[column] for h in ways if sum(h) == rows]
                worst = max(worst, min(loads.max() for loads in own))
            least = min(least, worst)
        tiling = whole_columns(columns, targets, proportional(targets), (rows, width))
        assert (tiling.areas / targets).max() == pytest.approx(least, rel=2e-6)


def test_areas_approach_the_targets_with_many_blocks():
    speeds = np.random.default_rng(8500).uniform(0.1, 1, 1000)
    tiled = tile(speeds, (2**20, 2**20), method="br")
    assert tiled.imbalance < 1e-3
    assert tiled.ratio < 1.001
    assert tile(speeds[:12], (4096, 4096), method="guillotine").imbalance < 0.02


def test_kl_grid_of_fourteen_nodes_and_columns_of_fewer_volume():
    # Figure 5.5 of the thesis in kind: 14 nodes of four sorts, 840 elements.
    speeds = [6, 6, 6, 5, 5, 5, 5, 3, 3, 3, 2, 2, 2, 2]
    grid = tile(speeds, (840, 840), method="fpm-kl").tiling
    assert grid.volume == pytest.approx(2 + 7)
    assert tile(speeds, (840, 840), method="br").tiling.volume < 7.5
    assert [c.size for c in grid_columns(12)] == [4, 4, 4]
    assert len(grid_columns(13)) == 1


def test_devices_of_one_node_share_a_rectangle():
    speeds = np.random.default_rng(8600).uniform(0.5, 2, 12)
    places = [(f"n{i % 3}", f"s{i // 6}") for i in range(12)]
    for slices in (False, True):
        tiling = tile(
            speeds, (480, 480), method="hierarchical", places=places, slices=slices
        ).tiling
        for depth in (1, 2):
            for place in {p[:depth] for p in places}:
                own = [i for i in range(12) if places[i][:depth] == place]
                box = [
                    f(side[own])
                    for f, side in (
                        (np.min, tiling.top),
                        (np.max, tiling.top + tiling.height),
                        (np.min, tiling.left),
                        (np.max, tiling.left + tiling.width),
                    )
                ]
                assert tiling.areas[own].sum() == (box[1] - box[0]) * (box[3] - box[2])


def test_caps_are_kept_or_refused():
    models = [Constant(10.0, capacity=30), Constant(1.0), Constant(1.0)]
    with pytest.raises(InfeasibleError, match="hold 80 units"):
        tile([Constant(1.0, capacity=40), Constant(1.0, capacity=40)], (10, 10), method="br")
    tiled = tile(models, (10, 10), method="br")
    assert tiled.tiling.areas[0] <= 30
    assert np.isfinite(tiled.seconds).all()


@pytest.mark.parametrize(
    ("devices", "options", "error"),
    [
        ([1, 2], {"method": "squares"}, UsageError),
        ([1, 2, 3], {"method": "fpm-kl", "n_columns": 2}, UsageError),
        ([1, 2, 3], {"method": "kl", "n_columns": 4}, UsageError),
        ([1, 2, 3], {"method": "kl", "n_columns": 0}, UsageError),
        ([1, 2, 3], {"method": "kl", "n_columns": [2, 2]}, UsageError),
        ([1, 2, 3], {"method": "kl", "n_columns": [3, 0]}, UsageError),
        ([1, 2, 3], {"method": "br", "sizes": "gpa"}, UsageError),
        ([1, 2, 3], {"method": "1.5d", "sizes": "cpm"}, UsageError),
        (np.ones(257), {"method": "guillotine"}, UsageError),
        ([1, np.nan], {}, InputError),
        ([1, 0], {}, InputError),
        ([], {}, InputError),
        ([Constant(1.0), 2.0], {}, InputError),
        ([1], {"block": 0}, InputError),
    ],
)
def test_what_cannot_be_done_is_refused(devices, options, error):
    with pytest.raises(error):
        tile(devices, (10, 10), **options)


def test_all_methods_are_tried_here_or_beside():
    assert set(METHODS) == set(AREA_METHODS)


def test_what_taking_part_costs():
    tiled = tile([1.0, 1.0], (10, 10), fixed_seconds=[20.0, 0.0])
    assert tiled.tiling.areas.tolist() == [40, 60]
    assert tiled.seconds.tolist() == [60.0, 60.0]
    # One that would still be at its start when all is done gets nothing.
    alone = tile([1.0, 1.0], (10, 10), fixed_seconds=[200.0, 0.0])
    assert (alone.tiling.areas.tolist(), alone.seconds.tolist()) == ([0, 100], [0.0, 100.0])


def test_columns_of_no_device_are_refused():
    with pytest.raises(InfeasibleError, match="no device's share is a whole block"):
        whole_columns([], np.ones(2), proportional(np.ones(2)), (4, 4))

"""INPA and IDPA with the tiling inside: shapes that are measured, balance, memory that ends."""

import numpy as np
import pytest

from evener.errors import InfeasibleError, InputError
from evener.platforms.models.examples import curve_set
from evener.platforms.models.fitting import Constant, SpeedSurface
from evener.sizing.dynamic import Dynamic
from evener.sizing.nested import nested_tiling, slice_times
from evener.sizing.solving import solve_sizes

BLOCK = 16


def watched(measure):
    """Return a measure that keeps what it was asked for."""
    asked = []

    def watching(devices, rows, columns):
        asked.append((tuple(devices.tolist()), rows, columns.tolist()))
        return measure(devices, rows, columns)

    return watching, asked


def test_equal_nodes_by_hand():
    measure, asked = watched(slice_times([Constant(1.0), Constant(3.0)] * 2, BLOCK))
    found = nested_tiling([[0, 1], [2, 3]], (128, 64), BLOCK, measure)
    assert found.converged
    assert found.nodes.areas.tolist() == [16, 16]
    assert [one.columns.tolist() for one in found.slices] == [[16, 48]] * 2
    assert found.makespan == 4.0
    # Of each node: a block in even slices and on the way to 4 and 12 columns, before its half.
    small, half = BLOCK, 64
    steps = [((0, 1), small, [1, 1]), ((0, 1), small, [8, 8]), ((0, 1), small, [4, 12])]
    assert asked[:3] == steps
    assert ((0, 1), half, [1, 1]) in asked
    assert asked[-1] == ((2, 3), half, [16, 48])
    assert found.measurements == len(asked)


def test_each_round_covers_the_matrix_with_the_shapes_that_were_measured():
    models = [curve.model for curve in curve_set("hybrid")]
    nodes, n = [[0, 1, 2, 3], [4, 5], [6, 7, 8, 9, 10], [11]], 128 * 300
    measure, asked = watched(slice_times(models, 128))
    found = nested_tiling(nodes, (n, n), 128, measure, epsilon=0.03)
    assert found.makespan <= 1.05 * solve_sizes(models, 300 * 300).makespan
    assert found.makespan == min(one.makespan for one in found.rounds)
    for one in found.rounds:
        spans = one.nodes.spans((n, n))
        for own, (top, end, left, right), slices in zip(nodes, spans, one.slices, strict=True):
            assert slices.columns.sum() == right - left
            assert (tuple(own), end - top, slices.columns.tolist()) in asked
            times = slice_times(models, 128)(np.array(own), int(end - top), slices.columns)
            np.testing.assert_array_equal(times, slices.seconds)
    spans = found.spans((n, n))
    assert ((spans[:, 1] - spans[:, 0]) * (spans[:, 3] - spans[:, 2])).sum() == n * n


def test_the_shape_counts_and_not_the_area_alone():
    # Device 1 is four times slower on slices of 4 rows of blocks than on those of 64.
    tall = SpeedSurface([4.0, 64.0], [1.0], [[0.5], [2.0]])
    measure = slice_times([Constant(4.0), tall], BLOCK)
    for rows, share in ((64, 2 / 6), (4, 0.5 / 4.5)):
        shape = rows * BLOCK, 4096 // rows * BLOCK
        found = nested_tiling([[0, 1]], shape, BLOCK, measure)
        assert found.converged
        assert found.slices[0].columns[1] / shape[1] == pytest.approx(share, rel=0.05)


def test_devices_whose_memory_ends():
    models = [Constant(9.0, capacity=40.0), Constant(1.0), Constant(1.0), Constant(2.0, 0.5)]
    found = nested_tiling([[0, 1], [2, 3]], (256, 256), BLOCK, slice_times(models, BLOCK))
    rows = (found.nodes.spans((256, 256)) @ [[-1, 0], [1, 0], [0, -1], [0, 1]])[:, 0]
    areas = [one.columns * r / BLOCK**2 for one, r in zip(found.slices, rows, strict=True)]
    assert areas[0][0] <= 40
    assert areas[1][1] <= 0.5
    assert np.isfinite(found.makespan)
    with pytest.raises(InfeasibleError):
        nested_tiling([[0], [1]], (256, 256), BLOCK, slice_times([models[0]] * 2, BLOCK))


def test_one_speed_a_device_and_fixed_seconds():
    measure = slice_times([Constant(2.0), Constant(2.0)], BLOCK, [0.0, 8.0])
    found = nested_tiling([[0, 1]], (256, 256), BLOCK, measure, method="gpa")
    assert found.slices[0].columns.tolist() == pytest.approx([128 + 8, 128 - 8], abs=2)
    once = nested_tiling([[0, 1]], (256, 256), BLOCK, measure, method="constant", max_steps=1)
    assert once.slices[0].columns.tolist() == [128, 128]


@pytest.mark.parametrize(
    ("nodes", "shape", "block"), [([[]], (4, 4), 1), ([[0]], (0, 4), 1), ([[0]], (4, 4), 0)]
)
def test_refused(nodes, shape, block):
    with pytest.raises(InputError):
        nested_tiling(nodes, shape, block, slice_times([Constant(1.0)], 1))


def test_sizes_that_differ_from_those_asked_for():
    search = Dynamic(100, 2)
    # 50 and 50 are best, and were asked for in vain: half the way to them is tried.
    assert search.observe([60.0, 40.0], done=[60, 40]).tolist() == [55, 45]
    assert search.best.sizes.tolist() == [60, 40]
    for wrong in ([6, 5], [11, -1], [10]):
        with pytest.raises(InputError, match="measured sizes must be"):
            Dynamic(10, 2).observe([1.0, 1.0], done=wrong)

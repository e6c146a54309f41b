"""Strips of a matrix that is too large for a device, and how long they take by stated costs."""

import numpy as np
import pytest

from evener.errors import InfeasibleError, InputError
from evener.measuring.streamed import StreamedDevice, bytes_in_core, bytes_of_strips, strips_of


@pytest.mark.parametrize("rows", [1, 7, 100, 1000])
@pytest.mark.parametrize("room", [5_000.0, 40_000.0, 300_000.0])
def test_strips_fit_and_are_as_few_as_can_be(rows, room):
    strips = strips_of(rows, 30, 4, room)
    heights = np.diff(strips.edges)
    assert heights.sum() == rows
    assert heights.min() >= 1
    assert strips.in_core == (bytes_in_core(rows, 30, 4) <= room)
    if strips.in_core:
        assert len(heights) == 1
    else:
        assert bytes_of_strips(strips.height, 30, 4) <= room
        fewer = -(-rows // max(len(heights) - 1, 1))
        assert len(heights) == 1 or bytes_of_strips(fewer, 30, 4) > room


def test_room_for_not_even_a_row():
    with pytest.raises(InfeasibleError, match="a strip of 30 columns, which needs 1,5"):
        strips_of(100, 30, 4, 1_000.0)


def device(**changes):
    """A device that copies 8 MB/s, a million entries a second, and computes 2 Mflop/s."""
    usual = {"flops": 2e6, "GB_per_s": 8e-3, "alpha": 0.0, "memory": 8 * 200.0}
    return StreamedDevice(**usual | changes)


def test_by_hand():
    # 40 x 20 in blocks of 1: strips of 4 rows (2 slots of 84 entries, the row of 20), 10 of them.
    up, compute, down, row = 84e-6, 80e-6, 80e-6, 20e-6
    assert strips_of(40, 20, 1, 1600.0).edges == list(range(0, 41, 4))
    # Both ways: each buffer is busy with its five strips, the second one begins a copy later.
    assert device().seconds(40, 20, 1) == pytest.approx(row + up + 5 * (up + compute + down))
    # Three buffers, 20 strips: copies there are the slowest and hide all but the last strip's rest.
    three = device(slots=3).seconds(40, 20, 1)
    assert three == pytest.approx(row + (20 * up + compute + down) / 2)
    # One way at a time: the engine that copies is never idle but for the first and last product.
    one_way = device(both_ways=False).seconds(40, 20, 1)
    assert one_way == pytest.approx(row + 10 * up + 10 * down, abs=2 * compute)
    # Without double buffering nothing overlaps; strips are twice as high.
    single = device(slots=1).seconds(40, 20, 1)
    assert single == pytest.approx(row + 10 * (up + compute + down), rel=1e-12)
    assert strips_of(40, 20, 1, 1600.0, slots=1).height == 8
    # In core only the column and the row are sent; alpha is of each copy.
    assert device(memory=8e4, alpha=1.0).seconds(40, 20, 1) == pytest.approx(2 + 60e-6 + 800e-6)


def test_never_faster_than_its_slowest_engine_nor_slower_than_one_after_the_other():
    rng = np.random.default_rng(46368)
    for _ in range(100):
        rows, columns, block = (int(x) for x in rng.integers([5, 5, 1], [400, 60, 9]))
        own = device(
            flops=10 ** rng.uniform(5, 8), memory=8.0 * columns * block + 50 * columns * 8,
            alpha=float(rng.choice([0, 1e-5])), both_ways=bool(rng.integers(2)),
        )  # fmt: skip
        strips = strips_of(rows, columns, block, own.memory)
        if strips.in_core:
            continue
        count, entries = len(strips.edges) - 1, rows * columns
        up = 2 * count * own.alpha + (entries + rows * block) * 1e-6
        down = count * own.alpha + entries * 1e-6
        compute = 2 * entries * block / own.flops
        row = own.alpha + block * columns * 1e-6
        least = max(up, down, compute) if own.both_ways else max(up + down, compute)
        assert row + least <= own.seconds(rows, columns, block) * (1 + 1e-9)
        assert own.seconds(rows, columns, block) <= (row + up + down + compute) * (1 + 1e-9)


@pytest.mark.parametrize("wrong", [{"flops": 0}, {"alpha": -1}, {"memory": np.nan}, {"slots": 0}])
def test_costs_that_are_none(wrong):
    with pytest.raises(InputError):
        device(**wrong)

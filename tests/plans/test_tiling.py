"""A tiling covers every block once, or is refused."""

import numpy as np
import pytest

from evener.errors import InputError
from evener.plans.tiling import Tiling


def painted(tiling):
    """How often each block is covered, painted one rectangle at a time."""
    board = np.zeros(tiling.shape, int)
    for t, x, h, w in zip(tiling.top, tiling.left, tiling.height, tiling.width, strict=True):
        board[t : t + h, x : x + w] += 1
    return board


def pinwheel():
    # Five rectangles that no straight cut divides.
    return Tiling((3, 3), [0, 0, 2, 1, 1], [0, 2, 1, 0, 1], [1, 2, 1, 2, 1], [2, 1, 2, 1, 1])


def test_a_tiling_by_hand():
    # 4 x 6 blocks: a column of width 2 (heights 1, 3), a column of width 4 (height 4).
    tiling = Tiling((4, 6), [0, 1, 0, 0], [0, 0, 2, 0], [1, 3, 4, 0], [2, 2, 4, 3], block=8)
    assert tiling.areas.tolist() == [2, 6, 16, 0]
    assert tiling.half_perimeters.tolist() == [3, 5, 8, 0]
    assert tiling.volume == pytest.approx(1 / 4 + 3 / 4 + 1 + (2 + 2 + 4) / 6)
    assert tiling.n_columns == 2
    assert tiling.bound() == pytest.approx(2 * (2**0.5 + 6**0.5 + 4))
    # 30 x 45 elements: the last row of blocks holds 6 rows, the last column 5 columns.
    assert tiling.spans((30, 45)).tolist()[:3] == [[0, 8, 0, 16], [8, 30, 0, 16], [0, 30, 16, 45]]
    with pytest.raises(InputError, match="do not match 4 blocks of 8"):
        tiling.spans((33, 45))


def test_a_pinwheel_is_a_tiling_without_columns():
    assert (painted(pinwheel()) == 1).all()
    assert pinwheel().n_columns == 0
    assert pinwheel().transposed().areas.sum() == 9


def test_groups_share_rows_and_columns():
    # Of the pinwheel: the bar on top and the one on the right; the rest.
    tiling = pinwheel()
    assert tiling.group_half_perimeters([0, 0, 1, 1, 1]).tolist() == [2 + 3, 2 + 3]
    assert tiling.group_half_perimeters(range(5)).tolist() == tiling.half_perimeters.tolist()
    with pytest.raises(InputError, match="rectangles need 5 groups"):
        tiling.group_half_perimeters([0])


def test_exactly_the_covers_are_accepted():
    rng = np.random.default_rng(7013)
    whole = pinwheel()
    accepted = 0
    for _ in range(2000):
        fields = [np.array(getattr(whole, f)) for f in ("top", "left", "height", "width")]
        for _ in range(rng.integers(0, 3)):
            fields[rng.integers(4)][rng.integers(5)] += rng.integers(-1, 2)
        order = rng.permutation(5)
        board = np.zeros((5, 5), int)
        for t, x, h, w in zip(*(f[order] for f in fields), strict=True):
            board[max(t, 0) : t + h, max(x, 0) : x + w] += 1
        inside = all((f >= 0).all() for f in fields) and not board[3:].any() | board[:, 3:].any()
        fine = inside and (board[:3, :3] == 1).all()
        try:
            Tiling((3, 3), *(f[order] for f in fields))
        except InputError:
            assert not fine
        else:
            assert fine
            accepted += 1
    assert accepted > 100


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (((2, 2), [0], [0], [2], [3]), "leaves the matrix of 2 x 2"),
        (((2, 2), [0], [0], [2], [1]), "overlap or leave a gap"),
        (((2, 2), [0, 0], [0, 0], [2, 2], [2, 2]), "overlap or leave a gap"),
        (((2, 2), [], [], [], []), "overlap or leave a gap"),
        (((2, 2), [0], [0], [2.5], [2]), "whole numbers"),
        (((2, 2), [0], [0], [2], [2, 0]), "differ in length"),
        (((0, 2), [0], [0], [0], [2]), "cannot be divided"),
        (((2**32, 2), [0], [0], [2**32], [2]), "cannot be divided"),
    ],
)
def test_what_is_no_tiling_is_refused(fields, said):
    with pytest.raises(InputError, match=said):
        Tiling(*fields)

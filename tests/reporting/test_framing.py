"""Small blocks get an enlarged picture in which they are large."""

import numpy as np
import pytest

from evener.reporting.framing import LEGIBLE, MAX_PICTURES, frame_around, with_insets


def scattered(boxes, n=60):
    """n places in each box (x, y, width, height), and the box of each."""
    rng = np.random.default_rng(9)
    places = [[x, y] + rng.random((n, 2)) * [w, h] for x, y, w, h in boxes]
    return np.concatenate(places), np.repeat(np.arange(len(boxes)), n)


def assert_insets_nest(insets):
    """Every inset lies within the picture it enlarges a part of, which comes before it."""
    for i, inset in enumerate(insets[1:], start=1):
        assert 0 <= inset.parent < i
        outer, inner = insets[inset.parent].frame, inset.frame
        middle_x, middle_y = (inner.x0 + inner.x1) / 2, (inner.y0 + inner.y1) / 2
        assert outer.x0 <= middle_x <= outer.x1
        assert outer.y0 <= middle_y <= outer.y1
        assert inner.scale > 2 * outer.scale


def test_blocks_of_one_size_need_none():
    boxes = [(x, y, 1, 1) for x in range(5) for y in range(5)]
    places, part = scattered(boxes)
    whole = frame_around(places, 1000)
    assert [inset.frame for inset in with_insets(whole, places, part, 25)] == [whole]


def test_two_far_groups_get_a_picture_each_where_every_block_is_large():
    small = [(10 + i % 2 * 4, 10 + i // 2 * 4, 3.5, 3.5) for i in range(4)]
    other = [(80 + i % 2 * 4, 50 + i // 2 * 4, 3.5, 3.5) for i in range(6)]
    places, part = scattered([(0, 0, 100, 70), *small, *other])
    insets = with_insets(frame_around(places, 1000), places, part, 11)
    assert len(insets) == 3
    assert_insets_nest(insets)
    larger, smaller = insets[1], insets[2]
    assert (larger.gained, smaller.gained) == (6, 4)  # the larger group comes first
    for inset, (x, y) in ((larger, (84, 56)), (smaller, (14, 14))):
        frame = inset.frame
        assert frame.x0 < x < frame.x1
        assert frame.y0 < y < frame.y1
        assert 3.5 / (frame.x1 - frame.x0) > LEGIBLE


@pytest.mark.parametrize("shrink", [1e-2, 1e-3, 1e-5])
def test_the_way_to_tiny_blocks_goes_in_steps(shrink):
    tiny = [(50 + i * shrink, 30, shrink, shrink) for i in range(3)]
    places, part = scattered([(0, 0, 100, 60), *tiny])
    insets = with_insets(frame_around(places, 1000), places, part, 4)
    assert_insets_nest(insets)
    assert 3 * shrink > 0.3 * (insets[-1].frame.x1 - insets[-1].frame.x0)
    for inset in insets[1:]:
        assert inset.frame.scale < 20 * insets[inset.parent].frame.scale


def test_pictures_are_not_without_number():
    boxes = [(x, y, 0.1, 0.1) for x in range(0, 90, 15) for y in range(0, 60, 15)]
    pairs = [(x + dx, y, w, h) for x, y, w, h in boxes for dx in (0, 0.2)]
    places, part = scattered([(0, 0, 100, 60), *pairs])
    insets = with_insets(frame_around(places, 1000), places, part, 1 + len(pairs))
    assert 1 < len(insets) <= MAX_PICTURES
    assert_insets_nest(insets)


def test_a_block_of_far_flung_pieces_does_not_hide_the_others():
    tiny = [(10 + 3 * i, 10, 2.5, 2.5) for i in range(4)]
    places, part = scattered([(0, 0, 100, 60), *tiny])
    flung = part == 1
    places[flung] = np.where(np.arange(flung.sum())[:, None] % 2, [10.5, 10.5], [90.0, 10.5])
    insets = with_insets(frame_around(places, 1000), places, part, 5)
    assert insets[1].gained == 3


def test_groups_too_small_to_matter_are_left():
    tiny = [(10 + 3 * i, 10, 2.5, 2.5) for i in range(3)]
    places, part = scattered([(0, 0, 100, 60), *tiny])
    whole = frame_around(places, 1000)
    assert len(with_insets(whole, places, part, 4, least=3)) > 1
    assert len(with_insets(whole, places, part, 4, least=4)) == 1


def test_one_block_and_empty_blocks():
    places, part = scattered([(0, 0, 1, 1)])
    whole = frame_around(places, 100)
    assert len(with_insets(whole, places, part, 1)) == 1
    assert len(with_insets(whole, places, part, 3)) == 1

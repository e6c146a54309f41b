"""Colours of neighbouring blocks differ, are used evenly, and can be told apart by the eye."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.reporting.marks import PALETTE, USUAL, block_colours, pairs_side_by_side
from tests.examples import with_examples


def both_ways(pairs):
    pairs = np.array(sorted({(min(p), max(p)) for p in pairs if p[0] != p[1]}), int).reshape(-1, 2)
    return np.r_[pairs[:, 0], pairs[:, 1]], np.r_[pairs[:, 1], pairs[:, 0]]


def assert_proper(colour, sender, receiver):
    assert (colour[sender] != colour[receiver]).all()


def test_few_blocks_have_a_colour_each():
    colour = block_colours(16, *both_ways([(0, 1)]))
    assert len(set(colour.tolist())) == 16


@pytest.mark.parametrize(("a", "b"), [(3, 12), (6, 9), (1, 13), (4, 7), (10, 14)])
def test_like_colours_are_not_neighbours(a, b):
    """Two greens, two oranges: the blocks that would have them touch."""
    colour = block_colours(16, *both_ways([(a, b)]))
    assert sorted(colour.tolist()) == list(range(16))
    tones = np.array(PALETTE, float)[colour[[a, b]]]
    assert np.abs(tones[0] - tones[1]).sum() > 130
    assert (colour != np.arange(16)).sum() == 2  # all others have theirs still


@with_examples(60)
@given(st.integers(17, 60), st.data())
def test_neighbours_differ_wherever_degrees_allow(k, data):
    blocks = st.integers(0, k - 1)
    pairs = data.draw(st.lists(st.tuples(blocks, blocks), max_size=3 * k))
    sender, receiver = both_ways(pairs)
    colour = block_colours(k, sender, receiver)
    # Greedy colouring needs at most one colour more than the largest degree.
    if np.bincount(sender, minlength=k).max(initial=0) < len(PALETTE):
        assert_proper(colour, sender, receiver)


def test_a_plane_map_of_many_blocks_takes_the_distinct_colours_evenly():
    number = np.arange(400).reshape(20, 20)
    pairs = [*zip(number[:, :-1].ravel(), number[:, 1:].ravel(), strict=True),
             *zip(number[:-1].ravel(), number[1:].ravel(), strict=True)]  # fmt: skip
    sender, receiver = both_ways(pairs)
    colour = block_colours(400, sender, receiver)
    assert_proper(colour, sender, receiver)
    used = np.bincount(colour)
    assert used.size == USUAL
    assert used.min() > 0.5 * used.max()


def test_more_blocks_than_colours_all_touching_still_get_colours():
    pairs = [(a, b) for a in range(20) for b in range(a)]
    colour = block_colours(20, *both_ways(pairs))
    assert np.bincount(colour, minlength=len(PALETTE)).max() == 2


def test_blocks_side_by_side():
    coords = np.array([[x, y] for y in (0.0, 10.0) for x in range(8)])
    part = np.array([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2])
    a, b = pairs_side_by_side(coords, part)
    assert {(0, 1), (1, 0)} <= set(zip(a.tolist(), b.tolist(), strict=True))
    assert sorted(zip(a.tolist(), b.tolist(), strict=True)) == sorted(
        zip(b.tolist(), a.tolist(), strict=True)
    )
    alone = pairs_side_by_side(np.zeros((1, 2)), np.array([0]))
    assert alone[0].size == alone[1].size == 0


def luminance(rgb):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
              for c in (channel / 255 for channel in rgb)]  # fmt: skip
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("rgb", PALETTE)
def test_dark_labels_are_read_on_every_colour(rgb):
    text = luminance((20, 24, 29))
    # WCAG asks for 3 to 1 for large or bold text.
    assert (luminance(rgb) + 0.05) / (text + 0.05) > 3


def deuteranope(rgb):
    """Viénot, Brettel and Mollon (1999): what is seen without the medium-wave cones."""
    r, g, b = (channel**2.2 for channel in rgb)
    red = 0.29275 * r + 0.70725 * g
    blue = -0.02234 * r + 0.02234 * g + b
    return np.maximum([red, red, blue], 0) ** (1 / 2.2)


def test_the_usual_colours_differ_to_the_colour_blind():
    seen = [deuteranope(rgb) for rgb in PALETTE[:USUAL]]
    apart = [np.linalg.norm(a - b) for i, a in enumerate(seen) for b in seen[:i]]
    assert min(apart) > 20

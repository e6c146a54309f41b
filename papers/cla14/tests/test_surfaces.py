"""Emulated surfaces: their models agree with them, short sides are slow, full memories page."""

import numpy as np
import pytest

from papers.cla14.rectangles import LILLE_NODES, THESIS_MOST
from papers.cla14.surfaces import BYTES, PIVOT, surfaces_of_lille

KINDS = surfaces_of_lille()


@pytest.mark.parametrize("node", KINDS, ids=lambda node: node.name)
def test_models_of_slices_and_of_squares_agree_with_the_surface(node):
    full = node.memory / PIVOT**2
    rng = np.random.default_rng(1)
    for area in [*rng.uniform(50, 0.99 * full, 8), full * 1.001, full * 1.02]:
        side = area**0.5
        assert node.of_squares.time(area) == pytest.approx(node.time(side, side), rel=0.03)
        assert node.at_width(side).time(side) == pytest.approx(node.time(side, side), rel=0.03)


def test_short_sides_are_slow_and_near_squares_alike():
    node = KINDS[0]
    square = node.time(400, 400)
    assert node.time(200, 800) == pytest.approx(square, rel=0.05)
    assert node.time(2, 80000) > 1.3 * square
    assert node.time(80000, 2) > node.time(2, 80000)


def test_a_full_memory_pages():
    for node in KINDS:
        side = (node.memory / PIVOT**2) ** 0.5
        assert node.time(1.05 * side, side) > 20 * node.time(0.99 * side, side)


def test_all_memories_hold_the_theses_largest_matrices_and_little_more():
    total = sum(n * node.memory for n, node in zip(LILLE_NODES, KINDS, strict=True))
    assert 0.97 < THESIS_MOST**2 / total < 1
    assert BYTES == 24

"""Emulated surfaces are those of the thesis's hardware; messages of a product by hand."""

import numpy as np
import pytest

from evener.plans.tiling import Tiling
from papers.cla14.rectangles import LILLE_NODES, THESIS_MOST
from papers.cla14.surfaces import BYTES, ELEMENT, LATENCY, PIVOT, sent_seconds, surfaces_of_lille

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


def test_messages_by_hand():
    """Two columns: of A each sends its part to the other; of B two ranks need one round."""
    tiling = Tiling((4, 4), *np.array([[0, 0, 1], [0, 2, 2], [4, 1, 3], [2, 2, 2]]))
    block = 16 * 16 * ELEMENT / 1e9
    across = 2 * (4 * block + 2 * LATENCY) + 2 * (3 * block + LATENCY)
    down = 4 * (2 * block + LATENCY)
    assert sent_seconds(tiling, 1e9, 16) == pytest.approx(across + down)
    assert sent_seconds(tiling.transposed(), 1e9, 16) == pytest.approx(across + down)


def test_one_node_sends_nothing():
    assert sent_seconds(Tiling((4, 4), *np.array([[0], [0], [4], [4]])), 1e9, 16) == 0.0

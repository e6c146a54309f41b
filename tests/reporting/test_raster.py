"""Pixels: every centre decided as by a slow, obvious rule; no gaps, no overlaps."""

import base64
import io

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import image as readers

from evener.reporting import raster
from tests.examples import with_examples

WIDTH, HEIGHT = 9, 7


def covers(triangle, x, y):
    """Whether a point lies inside, by the signs of the three areas; None on the very border."""
    a, b, c = triangle
    areas = [(q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0])
             for p, q in ((a, b), (b, c), (c, a))]  # fmt: skip
    if min(map(abs, areas)) < 1e-9:
        return None
    return all(area > 0 for area in areas) or all(area < 0 for area in areas)


places = st.floats(-3, 12).map(lambda x: round(x, 2))
triangles = st.lists(st.tuples(*[st.tuples(places, places)] * 3), min_size=1, max_size=4)


@with_examples(80)
@given(triangles)
def test_fill_agrees_with_the_slow_rule(corners):
    image = raster.fill(np.array(corners), np.arange(len(corners)), WIDTH, HEIGHT)
    for y in range(HEIGHT):
        for x in range(WIDTH):
            inside = [covers(t, x + 0.5, y + 0.5) for t in corners]
            if None in inside:
                continue  # which side a border belongs to is another test's question
            owners = [i for i, is_inside in enumerate(inside) if is_inside]
            assert image[y, x] == (owners[-1] if owners else raster.NOTHING)


def test_triangles_of_a_fan_share_every_pixel_out():
    """Pixels on shared edges, whole numbers and halves included, belong to exactly one."""
    rng = np.random.default_rng(5)
    for middle in [(4.5, 3.5), (4.0, 3.0), *(rng.uniform(1, 6, (20, 2)))]:
        ring = np.array([[0, 0], [WIDTH, 0], [WIDTH, HEIGHT], [0, HEIGHT]], float)
        fan = np.array([[middle, ring[i], ring[(i + 1) % 4]] for i in range(4)])
        count = sum(
            (raster.fill(fan[i : i + 1], np.zeros(1, np.int32), WIDTH, HEIGHT) >= 0).astype(int)
            for i in range(4)
        )
        assert (count == 1).all()


def test_the_nearest_triangle_is_seen_whatever_the_order():
    low = [[0, 0, 0.0], [20, 0, 0.0], [0, 20, 0.0]]
    high = [[0, 0, 1.0], [20, 0, 1.0], [0, 20, 1.0]]
    tilted = [[0, 0, -1.0], [20, 0, 3.0], [0, 20, -1.0]]  # z = x / 5 - 1: above 1 from x = 10
    for order in ([0, 1, 2], [2, 1, 0], [1, 2, 0]):
        corners = np.array([low, high, tilted])[order]
        owner = np.arange(3)[order]
        image, triangle = raster.fill_nearest(corners, owner, 16, 3)
        assert (image[0] == np.where(np.arange(16) + 0.5 > 10, 2, 1)).all()
        assert (owner[triangle[0]] == image[0]).all()


def test_near_discs_hide_far_ones():
    centres = np.array([[5.5, 3.5, 0.0], [6.5, 3.5, 2.0]])
    image = raster.stamp_nearest(centres, np.array([2.0, 1.0]), 12, 8)
    assert image[3, 6] == 1
    assert image[3, 4] == 0
    assert image[0, 0] == raster.NOTHING
    again = raster.stamp_nearest(centres[::-1], np.array([1.0, 2.0]), 12, 8)
    assert (again == np.where(image >= 0, 1 - image, -1)).all()


def test_edges_and_outlines():
    ids = np.array([[0, 0, 1], [0, 0, 1], [-1, -1, 1]], np.int32)
    assert raster.edges_of(ids).tolist() == [
        [False, True, False], [True, True, False], [False, False, False]
    ]  # fmt: skip
    outlines = raster.outlines_of(ids)
    assert outlines.tolist() == [[False, True, True], [True, True, True], [False, False, True]]


def test_inside_a_box():
    """A cube from 2 to 6 across the picture's plane, as twelve triangles."""
    corner = np.array([[x, y, z] for x in (2, 6) for y in (1, 5) for z in (-1, 1)], float)
    quads = [(0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5)]
    faces = [corner[list(t)] for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
    within = raster.inside(np.array(faces), WIDTH, HEIGHT)
    expected = np.zeros((HEIGHT, WIDTH), bool)
    expected[1:5, 2:6] = True
    assert (within == expected).all()


def test_a_picture_is_read_back_by_another_reader():
    rng = np.random.default_rng(11)
    colours = rng.integers(0, 256, (7, 4)).astype(np.uint8)
    image = rng.integers(0, 7, (5, 9)).astype(np.uint8)
    uri = raster.data_uri(image, colours)
    assert uri.startswith("data:image/png;base64,")
    found = readers.imread(io.BytesIO(base64.b64decode(uri.split(",", 1)[1])))
    assert np.array_equal(np.round(found * 255).astype(np.uint8), colours[image])

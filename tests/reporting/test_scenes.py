"""Scenes: every block in its colour, at its place, under its name."""

import base64
import io
from dataclasses import replace

import numpy as np
import pytest
from matplotlib import image as readers

from evener.graphs.generating.grid import grid as cube
from evener.graphs.graph import Graph
from evener.graphs.mesh import TETRA, Mesh
from evener.reporting.marks import CHARACTER, OUTLINE, PALETTE, place_callouts, place_labels
from evener.reporting.scenes import _cutting_plane, draw
from tests.assertions import grid
from tests.reporting.conftest import machine, plan_of, quads, stripes, tetrahedra


def pixels(picture):
    """(h, w, 4) what the picture shows."""
    data = base64.b64decode(picture.uri.split(",", 1)[1])
    return np.round(readers.imread(io.BytesIO(data)) * 255).astype(int)


def colours_in(image):
    return {tuple(c[:3]) for c in np.unique(image[image[..., 3] > 0].reshape(-1, 4), axis=0)}


def at(image, picture, x, y):
    """Colour at a place given in shares of width and height."""
    return tuple(image[int(y * picture.height), int(x * picture.width), :3])


@pytest.mark.slow
def test_a_mesh_in_the_plane():
    mesh = quads(10, 30)
    plan = plan_of(mesh.dual_graph(), stripes(10, 30, 3), machine(3))
    (picture,) = draw(plan, mesh.dual_graph(), mesh).pictures
    image = pixels(picture)
    assert image.shape[:2] == (picture.height, picture.width)
    for b, x in enumerate((0.17, 0.5, 0.83)):
        # Cell outlines are a little darker: most of the block is of its colour.
        around = image[:, int((x - 0.1) * picture.width) : int((x + 0.1) * picture.width)]
        values, count = np.unique(around.reshape(-1, 4), axis=0, return_counts=True)
        assert tuple(values[count.argmax()][:3]) == PALETTE[b]
    assert OUTLINE in colours_in(image)
    assert image[0, 0, 3] == 0  # nothing around the mesh
    assert {label.text for label in picture.labels} == {"dev0", "dev1", "dev2"}
    for label in picture.labels:
        share = (label.x / picture.width - 0.01) / 0.98
        assert label.block == int(share * 3)


def test_a_mesh_divided_by_its_points():
    mesh = quads(10, 30)
    graph = mesh.nodal_graph()
    part = (mesh.points[:, 0] > 15).astype(int)
    (picture,) = draw(plan_of(graph, part, machine(2)), graph, mesh).pictures
    image = pixels(picture)
    assert at(image, picture, 0.26, 0.53) == PALETTE[0]
    assert at(image, picture, 0.73, 0.53) == PALETTE[1]
    border = np.flatnonzero((image[picture.height // 2, :, :3] == OUTLINE).all(axis=1))
    between = [x for x in border if 0.3 < x / picture.width < 0.7]
    # Half way between the points at 15 and 16.
    assert np.mean(between) / picture.width == pytest.approx(0.01 + 0.98 * 15.5 / 30, abs=0.004)


def test_a_graph_with_places():
    graph = grid(12, 40)
    (picture,) = draw(plan_of(graph, stripes(12, 40, 4), machine(4)), graph, None).pictures
    image = pixels(picture)
    found = [at(image, picture, x, 0.52) for x in (0.14, 0.38, 0.63, 0.87)]
    assert [min(range(4), key=lambda b: np.abs(np.subtract(PALETTE[b], c)).sum())
            for c in found] == [0, 1, 2, 3]  # fmt: skip


def test_a_line_of_places_is_drawn():
    graph = replace(grid(1, 30), coords=np.column_stack([np.arange(30.0), np.zeros(30)]))
    (picture,) = draw(plan_of(graph, stripes(1, 30, 2), machine(2)), graph, None).pictures
    assert colours_in(pixels(picture)) & {PALETTE[0], OUTLINE}


@pytest.mark.slow
def test_a_body_shows_its_surface_and_a_slice():
    mesh = tetrahedra(6)
    graph = mesh.dual_graph()
    part = np.repeat([0, 1], 15)
    plan = plan_of(graph, part, machine(2), epsilon=0.5)
    scene = draw(plan, graph, mesh)
    assert [p.title for p in scene.pictures] == [
        "Surface from the front", "Surface from the back", "Slice at the middle of z"
    ]  # fmt: skip
    image = pixels(scene.pictures[2])
    assert at(image, scene.pictures[2], 0.3, 0.45) == PALETTE[0]
    assert at(image, scene.pictures[2], 0.7, 0.45) == PALETTE[1]
    front = pixels(scene.pictures[0])
    shown = (front[..., 3] > 0).mean()
    assert 0.2 < shown < 1


@pytest.mark.slow
def test_a_cloud_in_space():
    rng = np.random.default_rng(21)
    graph = replace(grid(10, 30), coords=rng.random((300, 3)) * [3, 2, 1])
    scene = draw(plan_of(graph, stripes(10, 30, 3), machine(3)), graph, None)
    assert len(scene.pictures) == 3
    assert all((pixels(p)[..., 3] > 0).any() for p in scene.pictures)


BOX = cube((16, 8, 8))
X, Y, Z = np.mgrid[:16, :8, :8].reshape(3, -1)


def test_the_slice_meets_all_blocks_where_it_can():
    """Four blocks at the lower middle of a wind tunnel, the fifth around them and outside."""
    inside = (abs(Y - 3.5) < 2) & (Z < 3) & (X > 3) & (X < 12)
    part = np.where(inside, (X - 4) // 2, 4)
    graph = replace(BOX, coords=np.column_stack([X, Y, Z]).astype(float))
    *_, picture = draw(plan_of(graph, part, machine(5), epsilon=0.9), graph, None).pictures
    assert picture.title == "Slice at z = 1"
    image = pixels(picture)
    for block in range(5):
        assert (image[..., :3] == PALETTE[block]).all(axis=-1).mean() > 0.01, block
    assert (image[..., 3] == 0).mean() < 0.1  # the space between vertices is filled


@pytest.mark.parametrize(
    ("part", "title"),
    [
        (X // 4, "Slice at the middle of z"),
        (Z // 2, "Slice at the middle of y"),
        (np.where(Z < 1, X // 4, 4), "Slice at the middle of y"),
        (np.where((Z < 3) & (Y < 3), X // 4, 4), "Slice at z = 1"),
    ],
)
def test_where_the_slice_is(part, title):
    coords = np.column_stack([X, Y, Z]).astype(float)
    axes, height, found = _cutting_plane(coords, coords, part)
    assert found == title
    assert sorted(axes) == [0, 1, 2]
    assert height == (1.0 if "=" in title else 3.5)


def test_without_places_there_is_no_picture():
    graph = replace(grid(5, 6), coords=None)
    plan = plan_of(graph, stripes(5, 6, 2), machine(2))
    assert draw(plan, graph, None) is None
    assert draw(plan, None, None) is None


def test_zones_without_a_common_edge_differ_where_they_lie_side_by_side():
    """Two strips of twenty blocks each, one below the other, no edge between the strips."""
    whole = grid(12, 80)
    u = np.repeat(np.arange(whole.n), whole.degrees)
    kept = (u // 480 == whole.adjncy // 480) & (u < whole.adjncy)
    graph = Graph.from_edges(whole.n, u[kept], whole.adjncy[kept], coords=whole.coords)
    column = np.tile(np.arange(80), 6)
    for shift in range(8):
        part = np.r_[column // 4, 20 + (column + 2 + 4 * shift) // 4 % 20]
        plan = plan_of(graph, part, machine(40))
        (picture,) = draw(plan, graph, None, shrink=0.3).pictures
        image = pixels(picture)
        for x in np.linspace(0.05, 0.95, 91):
            assert at(image, picture, x, 0.46) != at(image, picture, x, 0.54)


@pytest.mark.slow
def test_a_slice_enlarges_only_what_it_shows():
    """Tiny blocks far above the slice, in a body whose lower part alone is cut."""
    bar, stub = tetrahedra(20), tetrahedra(1)
    points = np.concatenate([bar.points * [1, 2, 1], stub.points * 0.05 + [3, 0.5, 1.5]])
    mesh = Mesh(
        points, np.arange(0, 4 * 105 + 1, 4), np.r_[bar.corners, stub.corners + bar.n_points],
        np.full(105, TETRA),
    )  # fmt: skip
    part = np.r_[np.zeros(100, int), 1 + np.arange(5)]
    plan = plan_of(mesh.dual_graph(), part, machine(6), epsilon=0.5)
    assert len(draw(plan, mesh.dual_graph(), mesh).pictures) == 3


def test_scraps_are_not_drowned_in_outlines():
    rng = np.random.default_rng(2)
    graph = grid(300, 300)
    part = rng.integers(0, 6, graph.n)
    (picture,) = draw(plan_of(graph, part, machine(6)), graph, None, shrink=0.2).pictures
    image = pixels(picture)
    dark = (image[..., :3] == OUTLINE).all(axis=2)[image[..., 3] > 0]
    assert dark.mean() < 0.6


def test_labels_go_where_they_fit():
    blocks = np.zeros((120, 300), np.int32)
    blocks[:, 200:] = 1
    blocks[:12, :12] = 2
    labels = place_labels(blocks, ["left", "a name far too long", "tiny"], 20)
    placed = {label.block: label for label in labels}
    assert placed[0].text == "left"
    assert placed[1].text == "1"
    assert 2 not in placed
    assert blocks[placed[0].y, placed[0].x] == 0
    assert blocks[placed[1].y, placed[1].x] == 1


def test_a_label_covers_its_block_alone():
    blocks = np.zeros((150, 300), np.int32)
    blocks[60:90, 100:] = 1  # as high as a label, and beside it the other block
    (first, second) = place_labels(blocks, ["a", "wide name"], 20)
    assert (second.block, second.text) == (1, "wide name")
    half = CHARACTER * 20 * len(second.text) / 2
    assert second.x - half >= 95
    assert second.x + half <= 305
    assert abs(second.y - 75) <= 5
    assert first.block == 0


def test_labels_stay_out_of_what_is_enlarged():
    blocks = np.zeros((150, 300), np.int32)
    (label,) = place_labels(blocks, ["name"], 20, [(60, 40, 180, 60)])
    assert not (60 - 30 < label.x < 240 + 30 and 40 - 20 < label.y < 100 + 20)


def test_blocks_without_room_are_named_beside():
    blocks = np.full((300, 600), -1, np.int32)
    blocks[100:] = 0
    blocks[100:112, 280:320] = 1
    labels = place_labels(blocks, ["large", "small"], 20)
    (callout,) = place_callouts(blocks, ["large", "small"], 20, labels)
    assert (callout.block, callout.text) == (1, "small")
    assert blocks[callout.from_y, callout.from_x] == 1
    top, left = callout.y - callout.height // 2, callout.x - callout.width // 2
    under = blocks[top : top + callout.height, left : left + callout.width]
    assert len(np.unique(under)) == 1
    assert under[0, 0] != 1
    assert place_callouts(np.arange(9).repeat(90).reshape(9, 90), ["x"] * 9, 20, []) == ()


@pytest.mark.slow
def test_a_whole_of_one_colour_is_not_shown():
    """Eight small blocks in the middle of one that covers all else."""
    mesh = quads(160, 160)
    y, x = np.divmod(np.arange(160 * 160), 160)
    inner = (abs(x - 80) < 8) & (abs(y - 80) < 8)
    part = np.where(inner, 1 + (x - 72) // 4 + 4 * ((y - 72) // 8), 0)
    graph = mesh.dual_graph()
    plan = plan_of(graph, part, machine(9), epsilon=0.9)
    (picture,) = draw(plan, graph, mesh).pictures
    assert picture.title.endswith("where blocks meet. Everything around is on dev0")
    named = {label.block for label in (*picture.labels, *picture.callouts)}
    assert named == set(range(9))
    spread = plan_of(graph, x // 40 + 4 * inner, machine(8), epsilon=0.9)
    assert draw(spread, graph, mesh).pictures[0].title == "The whole"

"""The mesh or graph in space, coloured by device: flat, as a surface, as points, as a slice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray
from evener.graphs import Graph
from evener.meshes import Mesh, PolyMesh
from evener.plans import Plan
from evener.reporting import framing, png, raster
from evener.reporting.colours import OUTLINE, PALETTE, block_colours, pairs_side_by_side
from evener.reporting.framing import Frame
from evener.reporting.insets import with_insets
from evener.reporting.labels import Label, place_labels
from evener.reporting.numbers import count, plural
from evener.reporting.shapes import Triangles, visible_triangles

WIDE, HALF = 1800, 880  # pixels of a picture as wide as the page, and of one beside another
MAX_SITES = 2_000_000  # points beyond this are thinned: a picture has no more pixels
# Twelve shades of each colour: ten for the light on a surface, and the last two for lines on it.
SHADES = tuple(1.0 - 0.04 * step for step in range(12))
LIT = 9
CROWD, CROWDED = 15, 0.7  # [pixels] of a neighbourhood, and its share of outlines
FLAT = 0.25  # height / width below which a picture needs the whole width of the page
LETTERS = " ABCDEFGH"
MANY = 5  # blocks that become legible in it make a picture worth the whole width
THIRD = 0.311  # of the page's width, gaps taken off
LINED = (60, 250)  # [pixels] cells larger than this show their outline, faintly or plainly
PAGE = 1080  # [CSS px] width of the page's content on a wide screen
SMALL_SCREEN = 330  # [CSS px] width of a picture on a phone
DESKTOP, PHONE = 13.0, 10.0  # [CSS px] height of labels


class Region(NamedTuple):
    """A box of a picture [pixels] that another one enlarges, and the letter it goes by."""

    x: float
    y: float
    width: float
    height: float
    letter: str


@dataclass(frozen=True)
class Picture:
    """One image: data: URI, size in pixels, heading, labels for wide and narrow screens.

    css_width: its width on a wide screen [CSS px].

    regions: what other pictures enlarge.
    """

    uri: str
    width: int
    height: int
    title: str
    labels: tuple[Label, ...]
    few_labels: tuple[Label, ...]
    font: float
    large_font: float
    css_width: int
    regions: tuple[Region, ...] = ()


@dataclass(frozen=True)
class Scene:
    """Pictures of one mesh or graph and the sentence that goes with them."""

    pictures: tuple[Picture, ...]
    caption: str


@dataclass(frozen=True)
class _Blocks:
    """What colours a picture: part (n,), colour (k,) and name of each block; how wide it is.

    differ: whether the colours of blocks that exchange anything do.
    wide, half [pixels]: of a picture as wide as the page, and of one beside another.
    """

    part: npt.NDArray[np.int32]
    colour: npt.NDArray[np.uint8]
    names: list[str]
    differ: bool
    wide: int
    half: int

    @property
    def density(self) -> float:
        """Pixels in a CSS pixel of a wide screen."""
        return self.wide / PAGE


def draw(
    plan: Plan, graph: Graph | None, mesh: Mesh | PolyMesh | None, *, shrink: float = 1.0
) -> Scene | None:
    """Return pictures of mesh or graph with every block in colour; None without coordinates.

    shrink: size of the images relative to the usual.
    """
    triangles = None if mesh is None else visible_triangles(mesh, plan.partition.n)
    coords = graph.coords if graph is not None else None
    if coords is None and mesh is not None and mesh.has_coordinates:
        coords = mesh.centres() if plan.partition.n == mesh.n_cells else mesh.points
    blocks = _blocks(plan, graph, coords, shrink)
    if triangles is not None and triangles.corners.shape[2] == 2:
        return _draw_plane(triangles, blocks)
    if triangles is not None:
        return _draw_body(triangles, coords, blocks, solid=mesh is not None and mesh.dim == 3)
    if graph is None or coords is None or graph.n == 0:
        return None
    if coords.shape[1] == 3 and np.ptp(coords[:, 2]) > 0:
        return _draw_cloud(graph, coords, blocks)
    return _draw_sites(graph, coords[:, :2], blocks)


def _blocks(plan: Plan, graph: Graph | None, coords: FloatArray | None, shrink: float) -> _Blocks:
    sender, receiver = plan.evaluation.exchange.sender, plan.evaluation.exchange.receiver
    touching = sender, receiver
    if graph is not None and coords is not None and graph.components()[0] > 1:
        # Zones that exchange nothing lie side by side all the same.
        beside = pairs_side_by_side(coords, plan.partition.part)
        pairs = np.unique(np.stack([np.r_[sender, beside[0]], np.r_[receiver, beside[1]]]), axis=1)
        touching = pairs[0], pairs[1]
    colour = block_colours(plan.platform.k, *touching)
    return _Blocks(
        plan.partition.part,
        colour,
        plan.platform.names,
        differ=bool((colour[sender] != colour[receiver]).all()),
        wide=round(WIDE * shrink),
        half=round(HALF * shrink),
    )


def _draw_plane(triangles: Triangles, blocks: _Blocks) -> Scene:
    centres = triangles.corners.mean(axis=1)
    whole = framing.frame_around(triangles.corners.reshape(-1, 2), blocks.wide)

    def cells(frame: Frame) -> raster.Ids:
        corners = frame.pixels(triangles.corners)
        seen = (corners.max(axis=1) >= 0).all(axis=1)
        seen &= (corners.min(axis=1) <= [frame.width, frame.height]).all(axis=1)
        return raster.fill(corners[seen], triangles.owner[seen], frame.width, frame.height)

    pictures = _with_insets(cells, whole, (centres, triangles.owner), blocks)
    what = "Every cell has the colour of its device"
    return Scene(pictures, _caption(what, pictures, blocks))


def _draw_sites(graph: Graph, coords: FloatArray, blocks: _Blocks) -> Scene:
    """Colour each pixel by the nearest vertex, up to about an edge's length from it."""
    from scipy.spatial import cKDTree

    step = -(-graph.n // MAX_SITES)
    sites = coords[::step]
    reach = framing.local_reach(graph.xadj, graph.adjncy, coords)[::step] * step**0.5
    tree = cKDTree(sites)
    whole = framing.frame_around(coords, blocks.wide, margin=0.02)
    hull = _hull_of(coords)

    def cells(frame: Frame) -> raster.Ids:
        distance, nearest = tree.query(frame.centres())
        reached = (distance <= reach[nearest]) & hull(frame).ravel()
        reached |= distance <= 0.75 / frame.scale
        ids = np.where(reached, nearest * step, raster.NOTHING)
        return np.asarray(ids.reshape(frame.height, frame.width), np.int32)

    pictures = _with_insets(cells, whole, (coords, np.arange(graph.n)), blocks)
    what = "Every vertex, with the space nearest to it, has the colour of its device"
    return Scene(pictures, _caption(what, pictures, blocks))


def _draw_body(
    triangles: Triangles, coords: FloatArray | None, blocks: _Blocks, *, solid: bool
) -> Scene:
    pictures = []
    for view in framing.VIEW_ANGLES:
        corners = framing.turned(triangles.corners, view)
        frame = framing.frame_around(corners[..., :2].reshape(-1, 2), blocks.half, margin=0.02)
        cells, seen = raster.fill_nearest(
            frame.pixels(corners), triangles.owner, frame.width, frame.height
        )
        shade = _shading(corners)[seen]
        pictures.append(_picture(f"Surface from the {view}", cells, blocks, shade=shade))
    if solid and coords is not None:
        pictures += _cut_through(triangles, coords, blocks)
    what = "The surface has the colour of the device that holds the cell beneath"
    return Scene(tuple(pictures), _caption(what, tuple(pictures), blocks))


def _cut_through(triangles: Triangles, coords: FloatArray, blocks: _Blocks) -> tuple[Picture, ...]:
    """Cut a body across its shortest axis: each pixel inside shows the nearest vertex."""
    from scipy.spatial import cKDTree

    order, height = _cutting_plane(triangles.corners.reshape(-1, 3))
    corners = triangles.corners[..., order] - [0, 0, height]
    tree = cKDTree(coords[:, order])

    def cells(frame: Frame) -> raster.Ids:
        within = raster.inside(frame.pixels(corners), frame.width, frame.height)
        places = frame.centres()[within.ravel()]
        _, nearest = tree.query(np.column_stack([places, np.full(len(places), height)]))
        ids = np.full(within.shape, raster.NOTHING, np.int32)
        ids[within] = nearest
        return ids

    whole = framing.frame_around(corners[..., :2].reshape(-1, 2), blocks.half, margin=0.02)
    if whole.height < whole.width * FLAT:
        whole = whole.fitted(blocks.wide)
    name = f"Slice at the middle of {'xyz'[order[2]]}"
    seen = cells(whole).ravel()
    sites = whole.centres()[seen >= 0], seen[seen >= 0]
    return _with_insets(cells, whole, sites, blocks, name=name)


def _draw_cloud(graph: Graph, coords: FloatArray, blocks: _Blocks) -> Scene:
    """Vertices in space as discs, near ones before far ones, and a slice through the middle."""
    pictures = []
    step = -(-graph.n // MAX_SITES)
    reach = framing.local_reach(graph.xadj, graph.adjncy, coords)
    spacing = reach[::step] * step ** (1 / 3)
    for view in framing.VIEW_ANGLES:
        sites = framing.turned(coords[::step], view)
        frame = framing.frame_around(sites[:, :2], blocks.half, margin=0.03)
        radius = np.clip(0.4 * spacing * frame.scale, 1.0, 14.0)
        cells = raster.stamp_nearest(frame.pixels(sites), radius, frame.width, frame.height)
        z = sites[:, 2]
        away = (z.max() - z) / (np.ptp(z) or 1.0)
        shade = (away * LIT).astype(np.int64)[cells]
        cells = np.where(cells >= 0, cells * step, raster.NOTHING).astype(np.int32)
        pictures.append(_picture(f"From the {view}", cells, blocks, shade=shade, lined=False))
    pictures.append(_slice(coords, reach, blocks))
    what = "Every vertex is a disc in the colour of its device, the farther the darker"
    return Scene(tuple(pictures), _caption(what, tuple(pictures), blocks))


def _slice(coords: FloatArray, reach: FloatArray, blocks: _Blocks) -> Picture:
    """Cut a cloud across its shortest axis: each pixel shows the nearest vertex within reach."""
    from scipy.spatial import cKDTree

    order, height = _cutting_plane(coords)
    frame = framing.frame_around(coords[:, order[:2]], blocks.half, margin=0.02)
    places = np.column_stack([frame.centres(), np.full(frame.width * frame.height, height)])
    distance, nearest = cKDTree(coords[:, order]).query(places)
    cells = np.where(distance <= reach[nearest], nearest, raster.NOTHING)
    image = cells.reshape(frame.height, frame.width).astype(np.int32)
    return _picture(f"Slice at the middle of {'xyz'[order[2]]}", image, blocks)


def _cutting_plane(points: FloatArray) -> tuple[npt.NDArray[np.int64], float]:
    """Return the axes by extent, longest first, and the middle of the last."""
    order = np.argsort(-np.ptp(points, axis=0), kind="stable")
    depth = points[:, order[2]]
    return order, float(depth.min() + depth.max()) / 2


def _hull_of(coords: FloatArray) -> Callable[[Frame], npt.NDArray[np.bool_]]:
    """Return what says of each pixel of a frame whether it lies in the convex hull of coords."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        ring = coords[ConvexHull(coords).vertices]
    except QhullError:
        # All on one line: they have no inside.
        return lambda frame: np.zeros((frame.height, frame.width), np.bool_)
    fan = np.stack([np.broadcast_to(ring[0], ring[2:].shape), ring[1:-1], ring[2:]], axis=1)
    owner = np.zeros(len(fan), np.int32)
    return lambda frame: raster.fill(frame.pixels(fan), owner, frame.width, frame.height) == 0


def _with_insets(
    cells: Callable[[Frame], raster.Ids],
    whole: Frame,
    sites: tuple[FloatArray, IntArray],
    blocks: _Blocks,
    name: str = "The whole",
) -> tuple[Picture, ...]:
    """Draw the whole and what is too small in it; sites: places (t, 2) and the vertex of each."""
    places, vertex = sites
    insets = with_insets(whole, places, blocks.part[vertex], len(blocks.names))
    parents = [inset.parent for inset in insets]
    widths = _widths([inset.gained for inset in insets], whole, blocks)
    frames = [inset.frame.fitted(w) for inset, w in zip(insets, widths, strict=True)]
    pictures = []
    for i, frame in enumerate(frames):
        title = name if i == 0 else f"{LETTERS[i]}, enlarged {_times(frames[0], frame)}"
        regions = [_region(frame, frames[j], LETTERS[j]) for j, at in enumerate(parents) if at == i]
        pictures.append(_picture(title, cells(frame), blocks, regions=tuple(regions)))
    return tuple(pictures)


def _widths(gained: list[int], whole: Frame, blocks: _Blocks) -> list[int]:
    """Widths [pixels] of pictures: large where most blocks become legible, else small."""
    if len(gained) == 1 or whole.height < whole.width * FLAT:
        return [whole.width] * len(gained)
    if len(gained) == 2:
        return [blocks.half, blocks.half]
    widths = [round(blocks.wide * THIRD) if len(gained) > 3 else blocks.half] * len(gained)
    if max(gained) >= MANY:
        widths[gained.index(max(gained))] = blocks.wide
    return widths


def _times(whole: Frame, frame: Frame) -> str:
    times = (whole.x1 - whole.x0) / (frame.x1 - frame.x0)
    return f"{count(round(times))}x"


def _region(frame: Frame, part: Frame, letter: str) -> Region:
    x, y = (part.x0 - frame.x0) * frame.scale, (frame.y1 - part.y1) * frame.scale
    w, h = (part.x1 - part.x0) * frame.scale, (part.y1 - part.y0) * frame.scale
    least = frame.width / 60  # a region smaller than a mark could not be seen
    grow_x, grow_y = max(0.0, least - w) / 2, max(0.0, least - h) / 2
    left, top = max(x - grow_x, 1.0), max(y - grow_y, 1.0)
    right, bottom = min(x + w + grow_x, frame.width - 1.0), min(y + h + grow_y, frame.height - 1.0)
    return Region(
        round(left, 1), round(top, 1), round(right - left, 1), round(bottom - top, 1), letter
    )


def _picture(
    title: str,
    cells: raster.Ids,
    blocks: _Blocks,
    *,
    shade: npt.NDArray[np.int64] | None = None,
    regions: tuple[Region, ...] = (),
    lined: bool = True,
) -> Picture:
    """Colour an image of vertex numbers, outline its blocks, find places for their names."""
    part = np.where(cells >= 0, blocks.part[cells], -1).astype(np.int32)
    height, width = cells.shape
    level = np.zeros(cells.shape, np.int64) if shade is None else shade
    if lined:
        level = level + _cell_lines(cells)
    image = 2 + blocks.colour[part].astype(np.int64) * len(SHADES) + level
    image[part < 0] = 0
    image[_drawn(raster.outlines_of(part))] = 1
    font, large_font = blocks.density * DESKTOP, width / SMALL_SCREEN * PHONE
    return Picture(
        png.data_uri(image.astype(np.uint8), _colour_table()), width, height, title,
        labels=place_labels(part, blocks.names, font),
        few_labels=place_labels(part, blocks.names, large_font),
        font=round(font, 1), large_font=round(large_font, 1),
        css_width=round(width / blocks.density), regions=regions,
    )  # fmt: skip


def _drawn(outlines: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Leave out outlines so dense that nothing but them would be seen."""
    from scipy import ndimage

    crowd = ndimage.uniform_filter(outlines.astype(np.float32), CROWD)
    return np.asarray(outlines & (crowd < CROWDED))


def _cell_lines(cells: raster.Ids) -> npt.NDArray[np.int64]:
    """How many shades darker each pixel is for lying on the outline of a large cell."""
    area = np.bincount(cells[cells >= 0], minlength=1)[cells]
    steps = (area > LINED[0]).astype(np.int64) + (area > LINED[1])
    return np.where(raster.edges_of(cells), steps, 0)


def _colour_table() -> npt.NDArray[np.uint8]:
    rows = [(0, 0, 0, 0), (*OUTLINE, 255)]
    for r, g, b in PALETTE:
        rows += [(round(r * s), round(g * s), round(b * s), 255) for s in SHADES]
    return np.array(rows, np.uint8)


def _shading(corners: FloatArray) -> npt.NDArray[np.int64]:
    """(t,) shade of each triangle under a light from the upper left, whichever side is seen."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.sqrt((normal**2).sum(axis=1))
    light = np.array([-0.35, 0.55, 0.76])
    bright = np.abs(normal @ light) / np.where(length > 0, length, 1.0)
    return np.asarray(((1 - np.minimum(bright, 1.0)) * LIT).astype(np.int64))


def _caption(what: str, pictures: tuple[Picture, ...], blocks: _Blocks) -> str:
    k = len(blocks.names)
    labelled = {label.block for picture in pictures for label in picture.labels}
    told = "" if k <= len(PALETTE) else "colours repeat"
    if told and blocks.differ:
        told = "colours repeat, but not between blocks that exchange anything"
    named = "every block carries its device's name or number"
    if len(labelled) < k:
        named = f"{plural(len(labelled), 'block')} of {count(k)} have room for a name or number"
    return f"{what}; dark lines part the blocks; {'; '.join(t for t in (told, named) if t)}."

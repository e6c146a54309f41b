"""Draw the mesh or graph, coloured by device: in the plane, as a surface, points or a slice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray
from evener.graphs.graph import Graph
from evener.graphs.mesh import Mesh
from evener.graphs.polymesh import PolyMesh
from evener.plans.plan import Plan
from evener.reporting import framing, raster
from evener.reporting.framing import Frame
from evener.reporting.marks import PALETTE, block_colours, in_css, pairs_side_by_side
from evener.reporting.pictures import (
    DOMINANT,
    FLAT,
    LIT,
    THIRD,
    TRIAL,
    Blocks,
    Picture,
    draw_blocks,
    draw_with_insets,
)
from evener.wording import number

WIDE, HALF = 1800, 880  # [pixels] width of a picture over the page, and of one of two in a row
SQUARE = 1.05  # max. height / width of one of three pictures in a row
MIN_IN_SLICE = 3  # blocks that a slice must show to be drawn
MAX_HEIGHTS = 1000  # of planes that are tried on an axis
MAX_SITES = 2_000_000  # points that are drawn, about the pixels of a picture


@dataclass(frozen=True)
class Scene:
    """Pictures of one mesh or graph, and the caption.

    colours (k,): of the blocks, in CSS notation. key: number and device of each block that some
    picture labels by its number, for lack of space.
    """

    pictures: tuple[Picture, ...]
    caption: str
    colours: list[str]
    key: list[tuple[int, str]]


def draw(
    plan: Plan, graph: Graph | None, mesh: Mesh | PolyMesh | None, *, shrink: float = 1.0
) -> Scene | None:
    """Return pictures of mesh or graph with every block in colour; None without coordinates.

    shrink: size of the images relative to the default.
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


def _blocks(plan: Plan, graph: Graph | None, coords: FloatArray | None, shrink: float) -> Blocks:
    sender, receiver = plan.evaluation.exchange.sender, plan.evaluation.exchange.receiver
    touching = sender, receiver
    if graph is not None and coords is not None and graph.components()[0] > 1:
        # Blocks may lie side by side without an exchange.
        beside = pairs_side_by_side(coords, plan.partition.part)
        pairs = np.unique(np.stack([np.r_[sender, beside[0]], np.r_[receiver, beside[1]]]), axis=1)
        touching = pairs[0], pairs[1]
    colour = block_colours(plan.platform.k, *touching)
    return Blocks(
        plan.partition.part,
        colour,
        plan.platform.names,
        differ=bool((colour[sender] != colour[receiver]).all()),
        wide=round(WIDE * shrink),
        half=round(HALF * shrink),
    )


def _draw_plane(triangles: Triangles, blocks: Blocks) -> Scene:
    centres = triangles.corners.mean(axis=1)
    whole = framing.frame_around(triangles.corners.reshape(-1, 2), blocks.wide)

    def cells(frame: Frame) -> raster.Ids:
        corners = frame.pixels(triangles.corners)
        seen = (corners.max(axis=1) >= 0).all(axis=1)
        seen &= (corners.min(axis=1) <= [frame.width, frame.height]).all(axis=1)
        return raster.fill(corners[seen], triangles.owner[seen], frame.width, frame.height)

    pictures = draw_with_insets(cells, whole, (centres, triangles.owner), blocks)
    what = "Every cell has the colour of its device"
    return _scene(what, pictures, blocks)


def _draw_sites(graph: Graph, coords: FloatArray, blocks: Blocks) -> Scene:
    """Draw a plane graph: pixels have the colour of the nearest vertex within an edge's length."""
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

    pictures = draw_with_insets(cells, whole, (coords, np.arange(graph.n)), blocks)
    what = "Every vertex, with the space nearest to it, has the colour of its device"
    return _scene(what, pictures, blocks)


def _draw_body(
    triangles: Triangles, coords: FloatArray | None, blocks: Blocks, *, solid: bool
) -> Scene:
    views = []
    for view in framing.VIEW_ANGLES:
        corners = framing.turned(triangles.corners, view)
        frame = _one_of_three(corners[..., :2].reshape(-1, 2), blocks)
        cells, seen = raster.fill_nearest(
            frame.pixels(corners), triangles.owner, frame.width, frame.height
        )
        views.append(
            OutsideView(f"Surface from the {view}", cells, _shading(corners)[seen], lined=True)
        )
    what = "The surface has the colour of the device that holds the cell beneath"
    if not solid or coords is None:
        return _scene(what, tuple(_drawn(view, blocks) for view in views), blocks)
    return _with_slice(views, _cut_through(triangles, coords, blocks), what, blocks)


class OutsideView(NamedTuple):
    """A body or point cloud from outside: title, vertex (h, w) and shade (h, w) of each pixel."""

    title: str
    cells: raster.Ids
    shade: npt.NDArray[np.int64]
    lined: bool


class CutPlane(NamedTuple):
    """A slice through a body or point cloud.

    cells: function that returns the vertex of each pixel of a frame. points (p, 2): of the whole,
    projected onto the plane.
    """

    title: str
    cells: Callable[[Frame], raster.Ids]
    points: FloatArray


def _drawn(view: OutsideView, blocks: Blocks) -> Picture:
    return draw_blocks(view.title, view.cells, blocks, shade=view.shade, lined=view.lined)


def _with_slice(views: list[OutsideView], cut: CutPlane, what: str, blocks: Blocks) -> Scene:
    """Return the views and the slice.

    A view that shows little more than one block is left out if the slice shows all its blocks.
    """
    whole = framing.frame_around(cut.points, blocks.wide, margin=0.02)
    met = blocks.part[_seen(cut.cells(whole.fitted(TRIAL)))]
    kept = [view for view in views if not _shows_less(blocks.part[_seen(view.cells)], met)]
    if kept:
        whole = _one_of_three(cut.points, blocks)
        if whole.height < whole.width * FLAT:
            whole = whole.fitted(blocks.wide)
    ids = cut.cells(whole).ravel()
    sites = whole.centres()[ids >= 0], ids[ids >= 0]
    own = replace(blocks, beside=not kept)
    slices = draw_with_insets(cut.cells, whole, sites, own, name=cut.title, least=MIN_IN_SLICE)
    if not kept:
        what = "Every point of the slice has the colour of the device that holds it"
    return _scene(what, (*(_drawn(view, blocks) for view in kept), *slices), blocks)


def _seen(cells: raster.Ids) -> IntArray:
    """Return the vertices of all non-empty pixels."""
    return cells[cells >= 0]


def _shows_less(seen: IntArray, met: IntArray) -> bool:
    """Return whether blocks `seen` are mostly one block, and `met` contains all of them."""
    areas = np.bincount(seen, minlength=1)
    others = np.flatnonzero(np.bincount(met, minlength=areas.size))
    is_part = np.isin(np.flatnonzero(areas), others).all()
    return bool(areas.max() > DOMINANT * areas.sum() and is_part and others.size > 1)


def _cut_through(triangles: Triangles, coords: FloatArray, blocks: Blocks) -> CutPlane:
    """Return a slice of a body; each point has the colour of the nearest vertex."""
    from scipy.spatial import cKDTree

    order, height, title = _cutting_plane(triangles.corners.reshape(-1, 3), coords, blocks.part)
    corners = triangles.corners[..., order] - [0, 0, height]
    tree = cKDTree(coords[:, order])

    def cells(frame: Frame) -> raster.Ids:
        within = raster.inside(frame.pixels(corners), frame.width, frame.height)
        places = frame.centres()[within.ravel()]
        _, nearest = tree.query(np.column_stack([places, np.full(len(places), height)]))
        ids = np.full(within.shape, raster.NOTHING, np.int32)
        ids[within] = nearest
        return ids

    return CutPlane(title, cells, corners[..., :2].reshape(-1, 2))


def _draw_cloud(graph: Graph, coords: FloatArray, blocks: Blocks) -> Scene:
    """Draw the vertices as discs, near ones in front, and add a slice."""
    views = []
    step = -(-graph.n // MAX_SITES)
    spacing = framing.local_reach(graph.xadj, graph.adjncy, coords)[::step] * step ** (1 / 3)
    for view in framing.VIEW_ANGLES:
        sites = framing.turned(coords[::step], view)
        frame = _one_of_three(sites[:, :2], blocks)
        radius = np.clip(0.4 * spacing * frame.scale, 1.0, 14.0)
        cells = raster.stamp_nearest(frame.pixels(sites), radius, frame.width, frame.height)
        z = sites[:, 2]
        away = (z.max() - z) / (np.ptp(z) or 1.0)
        shade = (away * LIT).astype(np.int64)[cells]
        cells = np.where(cells >= 0, cells * step, raster.NOTHING).astype(np.int32)
        views.append(OutsideView(f"From the {view}", cells, shade, lined=False))
    what = "Every vertex is a disc in the colour of its device, darker if farther away"
    return _with_slice(views, _slice(graph, coords, blocks), what, blocks)


def _slice(graph: Graph, coords: FloatArray, blocks: Blocks) -> CutPlane:
    """Return a slice of a point cloud.

    A point has the colour of the nearest vertex, if it is within that vertex's longest edge.
    """
    from scipy.spatial import cKDTree

    order, height, title = _cutting_plane(coords, coords, blocks.part)
    reach = framing.longest_edges(graph.xadj, graph.adjncy, coords)
    tree = cKDTree(coords[:, order])

    def cells(frame: Frame) -> raster.Ids:
        places = np.column_stack([frame.centres(), np.full(frame.width * frame.height, height)])
        distance, nearest = tree.query(places)
        ids = np.where(distance <= reach[nearest], nearest, raster.NOTHING)
        return ids.reshape(frame.height, frame.width).astype(np.int32)

    return CutPlane(title, cells, coords[:, order[:2]])


def _one_of_three(points: FloatArray, blocks: Blocks) -> Frame:
    """Return the frame around points (n, 2) for one of three pictures in a row."""
    frame = framing.frame_around(points, blocks.wide, margin=0.02)
    return frame.fitted(round(blocks.wide * THIRD), SQUARE)


def _cutting_plane(
    points: FloatArray, sites: FloatArray, part: IntArray
) -> tuple[npt.NDArray[np.int64], float, str]:
    """Return a cutting plane: axes with its normal last, position on the normal, and a title.

    The plane intersects as many blocks as possible; of several such planes, that across the
    shortest axis and nearest to the middle. points (p, 3): of the whole; sites (n, 3): of the
    vertices.
    """
    axes = np.argsort(-np.ptp(points, axis=0), kind="stable")
    best: tuple[int, int, float] | None = None
    for rank, axis in enumerate(axes.tolist()):
        low, high = _extents(sites[:, axis], part)
        middle = float(points[:, axis].min() + points[:, axis].max()) / 2
        tried = np.append((low + high)[:MAX_HEIGHTS] / 2, middle)
        meets = ((low <= tried[:, None]) & (tried[:, None] <= high)).sum(axis=1)
        at = int(np.lexsort((np.abs(tried - middle), -meets))[0])
        found = int(meets[at]), rank, float(tried[at])
        if best is None or found[:2] > best[:2]:
            best, title = found, f"Slice at {'xyz'[axis]} = {number(found[2])}"
            if tried[at] == middle:
                title = f"Slice at the middle of {'xyz'[axis]}"
    assert best is not None
    normal = axes[best[1]]
    return np.append(axes[axes != normal], normal), best[2], title


def _extents(along: FloatArray, part: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the range on an axis (b,) that each non-empty block covers.

    A tenth of a block's vertices at each end is ignored; half a typical vertex spacing is added.
    """
    order = np.lexsort((along, part))
    sizes = np.bincount(part)
    sizes = sizes[sizes > 0]
    first = np.cumsum(sizes) - sizes
    tail = sizes // 10
    space = np.ptp(along) / max(along.size, 1) ** (1 / 3) / 2
    return along[order[first + tail]] - space, along[order[first + sizes - 1 - tail]] + space


def _hull_of(coords: FloatArray) -> Callable[[Frame], npt.NDArray[np.bool_]]:
    """Return a function: frame -> whether each pixel lies in the convex hull of coords."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        ring = coords[ConvexHull(coords).vertices]
    except QhullError:
        # Points on a line have no inside.
        return lambda frame: np.zeros((frame.height, frame.width), np.bool_)
    fan = np.stack([np.broadcast_to(ring[0], ring[2:].shape), ring[1:-1], ring[2:]], axis=1)
    owner = np.zeros(len(fan), np.int32)
    return lambda frame: raster.fill(frame.pixels(fan), owner, frame.width, frame.height) == 0


def _shading(corners: FloatArray) -> npt.NDArray[np.int64]:
    """Return the shade of each triangle (t,), lit equally on both sides."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.sqrt((normal**2).sum(axis=1))
    light = np.array([-0.35, 0.55, 0.76])
    bright = np.abs(normal @ light) / np.where(length > 0, length, 1.0)
    return np.asarray(((1 - np.minimum(bright, 1.0)) * LIT).astype(np.int64))


def _scene(what: str, pictures: tuple[Picture, ...], blocks: Blocks) -> Scene:
    texts = set().union(*(picture.texts for picture in pictures))
    key = sorted({(b, blocks.names[b]) for b, text in texts if text != blocks.names[b]})
    return Scene(pictures, _caption(what, pictures, blocks), in_css(blocks.colour), key)


def _caption(what: str, pictures: tuple[Picture, ...], blocks: Blocks) -> str:
    k = len(blocks.names)
    labelled = {one.block for p in pictures for one in p.labels}
    labelled |= {one.block for p in pictures for one in p.callouts}
    repeated = "" if k <= len(PALETTE) else "colours repeat"
    if repeated and blocks.differ:
        repeated = "colours repeat, but not between blocks that exchange anything"
    some = np.unique(blocks.part).size
    named = "" if len(labelled) == some else f"{len(labelled):,} of {some:,} blocks are labelled"
    return f"{'; '.join(text for text in (what, repeated, named) if text)}."


class Triangles(NamedTuple):
    """Triangles: corners (t, 3, d); owner (t,): the graph's vertex to which each belongs."""

    corners: FloatArray
    owner: IntArray


def visible_triangles(mesh: Mesh | PolyMesh, n: int) -> Triangles | None:
    """Return the visible triangles of `mesh`: cells in 2-D, boundary faces in 3-D.

    n: number of the graph's vertices. These are the mesh's cells or, if n does not match, its
    points; then cells are divided among their points. None if the mesh cannot be drawn: no
    coordinates, lines, or cells of unknown shape.
    """
    if not mesh.has_coordinates or mesh.dim == 1:
        return None
    if mesh.dim == 3:
        faces = mesh.boundary_faces()
        offsets, corners, cell = faces.offsets, faces.corners, faces.owner
    else:
        assert isinstance(mesh, Mesh)
        shaped = _outlines(mesh)
        if shaped is None:
            return None
        offsets, corners = shaped
        cell = np.arange(mesh.n_cells, dtype=np.int32)
    if offsets.size < 2:
        return None
    if n == mesh.n_cells:
        a, b, c, polygon = _fan(offsets, corners)
        return Triangles(_flat(mesh.points[np.stack([a, b, c], axis=1)]), cell[polygon])
    return _around_points(_flat(mesh.points), offsets, corners)


def _outlines(mesh: Mesh) -> tuple[IntArray, IntArray] | None:
    """Return offsets and corners of the cells' outlines, without mid-edge points."""
    from evener.graphs import cell_kernels as cells

    base = cells.BASE[mesh.kinds]
    if (base == cells.POINT_SET).any():
        return None
    sizes = np.diff(mesh.offsets)
    keep = np.where(base == cells.POLYGON, sizes, cells.CORNERS[base])
    offsets = np.concatenate([[0], np.cumsum(keep)])
    place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], keep)
    # VTK numbers the corners of a pixel row by row, not around it.
    crossed = np.repeat(base == cells.PIXEL, keep) & (place >= 2)
    place = np.where(crossed, 5 - place, place)
    return offsets, mesh.corners[np.repeat(mesh.offsets[:-1], keep) + place]


def _fan(offsets: IntArray, corners: IntArray) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return a fan of triangles for each polygon, and the polygon of each triangle."""
    n_triangles = np.maximum(np.diff(offsets) - 2, 0)
    polygon = np.repeat(np.arange(n_triangles.size), n_triangles)
    number = np.arange(polygon.size) - np.repeat(np.cumsum(n_triangles) - n_triangles, n_triangles)
    first = offsets[:-1][polygon]
    return corners[first], corners[first + number + 1], corners[first + number + 2], polygon


def _around_points(points: FloatArray, offsets: IntArray, corners: IntArray) -> Triangles:
    """Return a quadrilateral for each corner of each polygon: corner, middles of sides, centre."""
    sizes = np.diff(offsets)
    polygon = np.repeat(np.arange(sizes.size), sizes)
    place = np.arange(polygon.size)
    following = np.where(place + 1 == offsets[1:][polygon], offsets[:-1][polygon], place + 1)
    before = np.empty_like(following)
    before[following] = place
    here = points[corners]
    centre = np.zeros((sizes.size, points.shape[1]))
    np.add.at(centre, polygon, here)
    centre = (centre / np.maximum(sizes, 1)[:, None])[polygon]
    ahead, behind = (here + here[following]) / 2, (here + here[before]) / 2
    kites = [np.stack([here, ahead, centre], axis=1), np.stack([here, centre, behind], axis=1)]
    return Triangles(np.concatenate(kites), np.tile(corners, 2))


def _flat(points: FloatArray) -> FloatArray:
    """Return the points without z if all have the same z."""
    if points.shape[-1] == 3:
        z = points[..., 2]
        span = max(float(np.ptp(points[..., 0])), float(np.ptp(points[..., 1])))
        if float(np.ptp(z)) <= 1e-9 * span:
            return points[..., :2]
    return points

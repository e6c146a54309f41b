"""Choose the content of a picture: a box of the plane, a view of a body, enlarged parts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray

TALLEST, FLATTEST = 0.72, 0.12  # height / width of a picture
VIEW_ANGLES = {"front": 0.45, "back": 0.45 + np.pi}  # [rad] around the upright axis
ELEVATION = 0.42  # [rad]


@dataclass(frozen=True)
class Frame:
    """A box of the plane, x0 to x1 and y0 to y1, drawn `width` pixels wide."""

    x0: float
    x1: float
    y0: float
    y1: float
    width: int

    @property
    def scale(self) -> float:
        """Pixels per unit of length."""
        return self.width / (self.x1 - self.x0)

    @property
    def height(self) -> int:
        """Height of the picture in pixels."""
        return max(1, round((self.y1 - self.y0) * self.scale))

    @property
    def area(self) -> float:
        """Area of the box."""
        return (self.x1 - self.x0) * (self.y1 - self.y0)

    def fitted(self, width: int, tallest: float = TALLEST) -> Frame:
        """Return the same box, `width` wide, or narrower if it would be too tall for a screen.

        tallest: maximum of height / `width`.
        """
        tall = (self.y1 - self.y0) / (self.x1 - self.x0) / tallest
        return replace(self, width=round(width / max(tall, 1.0)))

    def heightened(self, ratio: float) -> Frame:
        """Return the frame with the same centre whose height / width is at least `ratio`."""
        lacking = max(ratio * (self.x1 - self.x0) - (self.y1 - self.y0), 0.0) / 2
        return replace(self, y0=self.y0 - lacking, y1=self.y1 + lacking)

    def pixels(self, points: FloatArray) -> FloatArray:
        """Map (..., 2) to pixels, y downwards; a third column is scaled in the same way."""
        out = points * self.scale
        out[..., 0] = (points[..., 0] - self.x0) * self.scale
        out[..., 1] = (self.y1 - points[..., 1]) * self.scale
        return out

    def centres(self) -> FloatArray:
        """Return the position of each pixel's centre, (height * width, 2)."""
        x = self.x0 + (np.arange(self.width) + 0.5) / self.scale
        y = self.y1 - (np.arange(self.height) + 0.5) / self.scale
        return np.stack(np.broadcast_arrays(x[None, :], y[:, None]), axis=-1).reshape(-1, 2)


def frame_around(points: FloatArray, width: int, margin: float = 0.01) -> Frame:
    """Return the frame of all `points` (n, 2), with a margin.

    A box much taller than wide is drawn narrower; a box that is almost a line is widened.
    """
    low, high = points.min(axis=0), points.max(axis=0)
    return framed((low + high) / 2, (high - low) * (1 + 2 * margin), width)


def turned(points: FloatArray, view: str) -> FloatArray:
    """Return points (..., 3) as seen from "front" or "back": x to the right, y up, z to the viewer.

    The longest extent lies across, the shortest in depth, turned a little and seen from above.
    """
    flat = points.reshape(-1, 3)
    across = np.argsort(-np.ptp(flat, axis=0), kind="stable")
    axes = np.eye(3)[across]
    axes[2] *= np.linalg.det(axes)  # a turn, never a mirror image
    angle = VIEW_ANGLES[view]
    about_y = np.array(
        [[np.cos(angle), 0, -np.sin(angle)], [0, 1, 0], [np.sin(angle), 0, np.cos(angle)]]
    )
    c, s = np.cos(ELEVATION), np.sin(ELEVATION)
    about_x = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    return np.asarray((points - flat.mean(axis=0)) @ (about_x @ about_y @ axes).T)


def local_reach(xadj: IntArray, adjncy: IntArray, coords: FloatArray) -> FloatArray:
    """Return the radius (n,) of the area that each vertex colours: longer than its typical edge.

    The typical edge is the harmonic mean of edge lengths, so that long edges along a convex hull
    hardly count, averaged over neighbours; for a vertex without edges, the typical spacing of all
    vertices.
    """
    degree = np.diff(xadj)
    source = np.repeat(np.arange(degree.size), degree)
    length = np.sqrt(((coords[source] - coords[adjncy]) ** 2).sum(axis=1))
    usual = float(np.median(length)) if length.size else 0.0
    usual = usual or _typical_spacing(coords)
    inverse = np.bincount(source, 1 / np.maximum(length, 1e-3 * usual), degree.size)
    mean = np.where(degree > 0, degree / np.where(degree > 0, inverse, 1.0), usual)
    around = np.bincount(source, mean[adjncy], degree.size)
    return np.asarray(1.4 * (mean + around) / (degree + 1))


def longest_edges(xadj: IntArray, adjncy: IntArray, coords: FloatArray) -> FloatArray:
    """Return the length of each vertex's longest edge, (n,).

    For a vertex without edges, the typical spacing of all vertices.
    """
    source = np.repeat(np.arange(xadj.size - 1), np.diff(xadj))
    longest = np.zeros(xadj.size - 1)
    np.maximum.at(longest, source, np.sqrt(((coords[source] - coords[adjncy]) ** 2).sum(axis=1)))
    return np.where(longest > 0, longest, _typical_spacing(coords))


def _typical_spacing(coords: FloatArray) -> float:
    extent = np.ptp(coords, axis=0)
    extent = extent[extent > 0]
    if extent.size == 0:
        return 1.0
    return float((extent.prod() / len(coords)) ** (1 / extent.size))


def framed(middle: FloatArray, size: FloatArray, width: int) -> Frame:
    """Return a frame with centre `middle` (2,) and size `size` (2,), enlarged where too thin."""
    w, h = float(size[0]), float(size[1])
    w, h = max(w, h / 4, 1e-300), max(h, w * FLATTEST)
    if w <= 1e-300:
        w = h = 1.0
    x, y = float(middle[0]), float(middle[1])
    return Frame(x - w / 2, x + w / 2, y - h / 2, y + h / 2, width).fitted(width)


# Enlarged parts, around groups of blocks that are too small in the picture.

LEGIBLE = 0.055  # min. size of a block with a name, over the picture's width
GAP = 0.12  # distance between two groups, over the picture's width
WORTH = 0.3  # max. size of a group that is enlarged, over the picture's width or height
STRIDE = 14.0  # max. factor by which one picture enlarges another
MAX_PICTURES = 7
MAX_BLOCKS = 5000


@dataclass(frozen=True)
class Inset:
    """A frame, the index of the frame of which it enlarges a part (-1: none), and its gain.

    gained: number of blocks that become large enough for a name.
    """

    frame: Frame
    parent: int
    gained: int = 0


def with_insets(
    whole: Frame, centres: FloatArray, part: IntArray, k: int, least: int = 2
) -> list[Inset]:
    """Return the whole frame, and frames around groups of blocks that are too small in others.

    centres (n, 2) of the vertices, part (n,) their blocks; empty blocks are ignored. least: minimum
    number of blocks in a group.
    """
    insets = [Inset(whole, -1)]
    if k > MAX_BLOCKS or k < 2:
        return insets
    middle, size = _extents(centres, part, k)
    seen = np.bincount(part, minlength=k) > 0
    waiting: list[tuple[int, IntArray]] = [(0, np.flatnonzero(seen & _is_small(size, whole)))]
    while waiting:
        number, small = waiting.pop(0)
        within = insets[number].frame
        for group in _groups(middle, small, within):
            if group.size < least:
                continue
            frame = _around(middle[group], size[group], within)
            way = [] if frame is None else _way(within, frame)
            if frame is None or len(insets) + len(way) > MAX_PICTURES:
                continue
            left = group[_is_small(size[group], frame)]
            parents = [number, *range(len(insets), len(insets) + len(way) - 1)]
            gains = [0] * (len(way) - 1) + [int(group.size - left.size)]
            insets += [Inset(*each) for each in zip(way, parents, gains, strict=True)]
            waiting.append((len(insets) - 1, left))
    return insets


def _extents(centres: FloatArray, part: IntArray, k: int) -> tuple[FloatArray, FloatArray]:
    """Return centre and size (k, 2) of each block: mean and four standard deviations."""
    count = np.maximum(np.bincount(part, minlength=k), 1)[:, None]
    mean = np.stack([np.bincount(part, x, k) for x in centres.T], axis=1) / count
    offset = (centres - mean[part]) ** 2
    variance = np.stack([np.bincount(part, x, k) for x in offset.T], axis=1) / count
    return mean, 4 * np.sqrt(variance)


def _is_small(size: FloatArray, frame: Frame) -> npt.NDArray[np.bool_]:
    return np.asarray(np.sqrt(size.prod(axis=1)) < LEGIBLE * (frame.x1 - frame.x0))


def _groups(middle: FloatArray, small: IntArray, frame: Frame) -> list[IntArray]:
    """Return groups of blocks that lie near each other, the largest first."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    if small.size < 2:
        return []
    reach = GAP * (frame.x1 - frame.x0)
    pairs = cKDTree(middle[small]).query_pairs(reach, output_type="ndarray")
    joined = coo_array((np.ones(len(pairs)), pairs.T), shape=(small.size, small.size))
    n_groups, label = connected_components(joined, directed=False)
    groups: list[IntArray] = [small[label == g] for g in range(n_groups)]
    return sorted(groups, key=lambda g: -g.size)


def _around(middle: FloatArray, size: FloatArray, within: Frame) -> Frame | None:
    """Return a frame around blocks that enlarges them enough, or None.

    Blocks with distant pieces have large extents: the largest blocks are left out until the frame
    enlarges enough.
    """
    order = np.argsort(size.max(axis=1), kind="stable")
    low = np.minimum.accumulate((middle - size / 2)[order])
    high = np.maximum.accumulate((middle + size / 2)[order])
    for last in range(order.size - 1, 0, -1):
        extent = (high[last] - low[last]) * 1.1
        frame = framed((low[last] + high[last]) / 2, extent, within.width)
        # A tall frame is drawn less wide; the enlargement counts.
        if within.scale < WORTH * frame.scale:
            return frame
    return None


def _way(whole: Frame, part: Frame) -> list[Frame]:
    """Return `part`, preceded by intermediate frames if it is a very small part of the whole."""
    n_steps = max(1, int(np.ceil(np.log(part.scale / whole.scale) / np.log(STRIDE))))
    ways = [step / n_steps for step in range(1, n_steps)]
    return [*(_between(whole, part, way) for way in ways), part]


def _between(whole: Frame, part: Frame, way: float) -> Frame:
    """Return a frame around `part` of intermediate size; way: 0 to 1 on a logarithmic scale."""
    sizes = [(f.x1 - f.x0, f.y1 - f.y0) for f in (whole, part)]
    size = np.array([a ** (1 - way) * b**way for a, b in zip(*sizes, strict=True)])
    middle = np.array([part.x0 + part.x1, part.y0 + part.y1]) / 2
    return framed(middle, size, whole.width)

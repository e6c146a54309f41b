"""What a picture shows of the plane, and the view of a body in space."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

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
        """Return the same box, `width` wide, or less where it would be too tall for a screen.

        tallest: height / `width`, at most.
        """
        tall = (self.y1 - self.y0) / (self.x1 - self.x0) / tallest
        return replace(self, width=round(width / max(tall, 1.0)))

    def heightened(self, ratio: float) -> Frame:
        """Return the frame around the same middle, height / width at least `ratio`."""
        lacking = max(ratio * (self.x1 - self.x0) - (self.y1 - self.y0), 0.0) / 2
        return replace(self, y0=self.y0 - lacking, y1=self.y1 + lacking)

    def pixels(self, points: FloatArray) -> FloatArray:
        """Map (..., 2) to pixels, y downwards; a third column is scaled alike."""
        out = points * self.scale
        out[..., 0] = (points[..., 0] - self.x0) * self.scale
        out[..., 1] = (self.y1 - points[..., 1]) * self.scale
        return out

    def centres(self) -> FloatArray:
        """(height * width, 2) place of each pixel's centre."""
        x = self.x0 + (np.arange(self.width) + 0.5) / self.scale
        y = self.y1 - (np.arange(self.height) + 0.5) / self.scale
        return np.stack(np.broadcast_arrays(x[None, :], y[:, None]), axis=-1).reshape(-1, 2)


def frame_around(points: FloatArray, width: int, margin: float = 0.01) -> Frame:
    """Return the frame that shows all of `points` (n, 2), a little air around them.

    A box much taller than wide is drawn less wide; one that is almost a line gets air.
    """
    low, high = points.min(axis=0), points.max(axis=0)
    return framed((low + high) / 2, (high - low) * (1 + 2 * margin), width)


def turned(points: FloatArray, view: str) -> FloatArray:
    """(..., 3) as seen from "front" or "back": x to the right, y up, z towards the eye.

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
    """(n,) how far the space around each vertex reaches: somewhat more than its usual edge.

    Edges count by harmonic mean, so that the long ones along a convex hull do not, and the
    neighbours' means are averaged. The typical spacing of all where a vertex has no edge.
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


def _typical_spacing(coords: FloatArray) -> float:
    extent = np.ptp(coords, axis=0)
    extent = extent[extent > 0]
    if extent.size == 0:
        return 1.0
    return float((extent.prod() / len(coords)) ** (1 / extent.size))


def framed(middle: FloatArray, size: FloatArray, width: int) -> Frame:
    """Return a frame around `middle` (2,) of `size` (2,), or more where that is a line."""
    w, h = float(size[0]), float(size[1])
    w, h = max(w, h / 4, 1e-300), max(h, w * FLATTEST)
    if w <= 1e-300:
        w = h = 1.0
    x, y = float(middle[0]), float(middle[1])
    return Frame(x - w / 2, x + w / 2, y - h / 2, y + h / 2, width).fitted(width)

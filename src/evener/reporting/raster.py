"""Rasterise triangles and points: a pixel gets the number of the triangle or point visible there.

A pixel belongs to the triangle that covers its centre; the two triangles of an edge compute this in
the same way, so that even tiny triangles neither overlap nor leave gaps.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray

Ids = npt.NDArray[np.int32]
NOTHING = -1
_CHUNK = 1 << 18  # triangles rasterised at a time: keeps memory below a few hundred MB


def fill(corners: FloatArray, owner: IntArray, width: int, height: int) -> Ids:
    """Return the owner of the triangle that covers each pixel's centre, (height, width); -1: none.

    corners (t, 3, 2) in pixels, y downwards; owner (t,).
    """
    image = np.full(width * height, NOTHING, np.int32)
    for pixel, triangle in _fragments(corners, width, height):
        image[pixel] = owner[triangle]
    return image.reshape(height, width)


def fill_nearest(corners: FloatArray, owner: IntArray, width: int, height: int) -> tuple[Ids, Ids]:
    """Rasterise triangles with depth, corners (t, 3, 3), z towards the viewer: nearest wins.

    Returns the owner and the triangle at each pixel, -1 if there is none.
    """
    pixels, triangles, depths = [], [], []
    for pixel, triangle in _fragments(corners[:, :, :2], width, height):
        pixels.append(pixel)
        triangles.append(triangle)
        depths.append(_depth(corners[triangle], pixel, width))
    seen = np.full(width * height, NOTHING, np.int32)
    if pixels:
        pixel, triangle = np.concatenate(pixels), np.concatenate(triangles)
        order = np.argsort(np.concatenate(depths), kind="stable")
        seen[pixel[order]] = triangle[order]  # the last assignment, the nearest, stays
    image = np.where(seen < 0, NOTHING, owner[seen])
    return image.reshape(height, width), seen.reshape(height, width)


def stamp_nearest(centres: FloatArray, radius: FloatArray, width: int, height: int) -> Ids:
    """Return the number of the disc visible at each pixel, (height, width); -1: none.

    centres (n, 3) in pixels, z towards the viewer; radius (n,) [pixels]; a disc has at least one
    pixel.
    """
    image = np.full(width * height, NOTHING, np.int32)
    order = np.argsort(centres[:, 2], kind="stable")
    x = np.floor(centres[order, 0]).astype(np.int64)
    y = np.floor(centres[order, 1]).astype(np.int64)
    reach = np.maximum(np.ceil(radius[order]).astype(np.int64), 0)
    # Far to near, in slices of similar depth; within one, all discs are drawn offset by offset.
    for part in np.array_split(np.arange(order.size), min(64, max(1, order.size))):
        largest = int(reach[part].max()) if part.size else 0
        for dy in range(-largest, largest + 1):
            for dx in range(-largest, largest + 1):
                within = (dx * dx + dy * dy) <= np.maximum(radius[order[part]], 0.5) ** 2
                px, py = x[part] + dx, y[part] + dy
                within &= (px >= 0) & (px < width) & (py >= 0) & (py < height)
                image[py[within] * width + px[within]] = order[part[within]]
    return image.reshape(height, width)


def edges_of(ids: Ids) -> npt.NDArray[np.bool_]:
    """Return whether a pixel differs from its right or lower neighbour, (h, w).

    False for empty pixels.
    """
    different = np.zeros(ids.shape, np.bool_)
    different[:, :-1] |= ids[:, :-1] != ids[:, 1:]
    different[:-1] |= ids[:-1] != ids[1:]
    return np.asarray(different & (ids >= 0))


def outlines_of(ids: Ids) -> npt.NDArray[np.bool_]:
    """Return whether a pixel differs from any of its four neighbours, (h, w).

    This gives lines that are two pixels wide.
    """
    different = np.zeros(ids.shape, np.bool_)
    across, down = ids[:, :-1] != ids[:, 1:], ids[:-1] != ids[1:]
    different[:, :-1] |= across
    different[:, 1:] |= across
    different[:-1] |= down
    different[1:] |= down
    return np.asarray(different & (ids >= 0))


def inside(corners: FloatArray, width: int, height: int) -> npt.NDArray[np.bool_]:
    """Return whether each pixel's centre, at depth 0, is inside a closed surface, (height, width).

    corners (t, 3, 3) of its triangles, z towards the viewer: a line from inside to the viewer
    crosses the surface an odd number of times.
    """
    crossings = np.zeros(width * height, np.int64)
    for pixel, triangle in _fragments(corners[:, :, :2], width, height):
        above = _depth(corners[triangle], pixel, width) > 0
        crossings += np.bincount(pixel[above], minlength=crossings.size)
    return np.asarray((crossings % 2 == 1).reshape(height, width))


def _fragments(
    corners: FloatArray, width: int, height: int
) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """Yield (pixel, triangle) for all pixel centres inside each triangle, in chunks."""
    for start in range(0, len(corners), _CHUNK):
        part = corners[start : start + _CHUNK]
        triangle, row = _rows(part[:, :, 1], height)
        left, right = _span(part, triangle, row)
        first = np.clip(np.ceil(left - 0.5), 0, width).astype(np.int64)
        last = np.clip(np.ceil(right - 0.5), 0, width).astype(np.int64)
        length = np.maximum(last - first, 0)
        spans = np.repeat(np.arange(length.size), length)
        offset = np.arange(spans.size) - np.repeat(np.cumsum(length) - length, length)
        yield row[spans] * width + first[spans] + offset, triangle[spans] + start


def _rows(y: FloatArray, height: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return pairs (triangle, row) where a triangle crosses the centre line of a row."""
    first = np.clip(np.ceil(y.min(axis=1) - 0.5), 0, height).astype(np.int64)
    last = np.clip(np.ceil(y.max(axis=1) - 0.5), 0, height).astype(np.int64)
    n_rows = np.maximum(last - first, 0)
    triangle = np.repeat(np.arange(n_rows.size), n_rows)
    offset = np.arange(triangle.size) - np.repeat(np.cumsum(n_rows) - n_rows, n_rows)
    return triangle, first[triangle] + offset


def _span(
    corners: FloatArray, triangle: npt.NDArray[np.int64], row: npt.NDArray[np.int64]
) -> tuple[FloatArray, FloatArray]:
    """Return where each triangle enters and leaves its row's centre line."""
    y = row + 0.5
    left, right = np.full(y.size, np.inf), np.full(y.size, -np.inf)
    for i in range(3):
        a, b = corners[:, i], corners[:, (i + 1) % 3]
        # From the upper end to the lower, so that both triangles of an edge round equally.
        swap = (a[:, 1] > b[:, 1])[:, None]
        upper, lower = np.where(swap, b, a)[triangle], np.where(swap, a, b)[triangle]
        crosses = (upper[:, 1] <= y) & (y < lower[:, 1])
        rise = np.where(crosses, lower[:, 1] - upper[:, 1], 1.0)
        x = upper[:, 0] + (y - upper[:, 1]) / rise * (lower[:, 0] - upper[:, 0])
        left = np.where(crosses, np.minimum(left, x), left)
        right = np.where(crosses, np.maximum(right, x), right)
    empty = left > right
    return np.where(empty, 0.0, left), np.where(empty, 0.0, right)


def _depth(corners: FloatArray, pixel: npt.NDArray[np.int64], width: int) -> FloatArray:
    """Return the height above the screen of each triangle's plane at a pixel's centre."""
    a, u, v = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    area = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    flat = np.abs(area) < 1e-12
    area = np.where(flat, 1.0, area)
    x, y = pixel % width + 0.5 - a[:, 0], pixel // width + 0.5 - a[:, 1]
    s = (x * v[:, 1] - y * v[:, 0]) / area
    t = (u[:, 0] * y - u[:, 1] * x) / area
    inside = a[:, 2] + s * u[:, 2] + t * v[:, 2]
    return np.where(flat, corners[:, :, 2].max(axis=1), inside)


def data_uri(image: npt.NDArray[np.uint8], colours: npt.NDArray[np.uint8]) -> str:
    """Return `image` (h, w), indices of `colours` (c <= 256, 4) RGBA, as a PNG in a data: URI."""
    from PIL import Image

    picture = Image.fromarray(image)
    picture.putpalette(np.ascontiguousarray(colours[:, :3]).tobytes())
    content = io.BytesIO()
    opacity = np.ascontiguousarray(colours[:, 3]).tobytes()
    picture.save(content, "PNG", transparency=opacity, compress_level=9)
    return "data:image/png;base64," + base64.b64encode(content.getvalue()).decode()

"""How pictures distinguish blocks: by colours, and by names inside or next to blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray

STEP = 3  # [pixels] between the places that are tried
MIN_CALLED_OUT = 6  # positions a block must have for a label next to it
MAX_CALLOUTS = 6
COVERED = 0.97  # share of a label's box that its block must cover
REACH = 0.16  # longest line to a label, over the width of the picture
CHARACTER = 0.66  # width over size of a character of bold sans-serif fonts


class Label(NamedTuple):
    """Text for a block, centred at (x, y) [pixels]."""

    x: int
    y: int
    text: str
    block: int


class Callout(NamedTuple):
    """Text in a box centred at (x, y) [pixels], with a line to its block at (from_x, from_y)."""

    x: int
    y: int
    text: str
    block: int
    from_x: int
    from_y: int
    width: int
    height: int


def place_labels(
    blocks: npt.NDArray[np.int32],
    names: list[str],
    font: float,
    boxes: Sequence[tuple[float, float, float, float]] = (),
) -> tuple[Label, ...]:
    """Return a label for every block of the map that has space for it at this font size.

    blocks (h, w): block of each pixel, -1: none. The text is the device's name, or its number if
    the name is too wide. boxes: x, y, width, height [pixels] of regions that another picture
    enlarges; labels avoid them and their letters.
    """
    from scipy import ndimage

    if boxes:
        blocks = blocks.copy()
        for x, y, width, height in boxes:
            air = 1.2 * font
            top, left = max(int(y - air), 0), max(int(x), 0)
            blocks[top : int(y + height + air), left : int(x + width)] = -1
    small = np.pad(blocks[::STEP, ::STEP], 1, constant_values=-1)
    inner = small >= 0
    inner[1:-1, 1:-1] &= (
        (small[1:-1, 1:-1] == small[1:-1, 2:]) & (small[1:-1, 1:-1] == small[1:-1, :-2])
        & (small[1:-1, 1:-1] == small[2:, 1:-1]) & (small[1:-1, 1:-1] == small[:-2, 1:-1])
    )  # fmt: skip
    depth = ndimage.distance_transform_edt(inner)
    found = []
    for b, box in enumerate(ndimage.find_objects(small + 1)):
        if box is None:
            continue
        own = (small[box] == b).astype(np.float32)
        for text in dict.fromkeys((names[b], str(b))):
            place = _place(own, depth[box], len(text) * CHARACTER * font / STEP, font / STEP)
            if place is not None:
                row, column = place[0] + box[0].start - 1, place[1] + box[1].start - 1
                found.append(Label(column * STEP, row * STEP, text, b))
                break
    return tuple(found)


def _place(
    own: npt.NDArray[np.float32], depth: npt.NDArray[np.float64], width: float, height: float
) -> tuple[int, int] | None:
    """Return row and column of the box farthest inside a block; None if no box fits.

    own, depth (h, w): whether a pixel belongs to the block, and its distance from the border.
    """
    from scipy import ndimage

    size = (int(height) + 1, int(width) + 1)
    if own.shape[0] < size[0] or own.shape[1] < size[1]:
        return None
    covered = ndimage.uniform_filter(own, size, mode="constant")
    suited = np.where((covered > COVERED) & (own > 0), depth, 0.0)
    row, column = np.unravel_index(int(suited.argmax()), suited.shape)
    return (int(row), int(column)) if suited[row, column] > 0 else None


def place_callouts(
    blocks: npt.NDArray[np.int32],
    names: list[str],
    font: float,
    labels: Sequence[Label],
    boxes: Sequence[tuple[float, float, float, float]] = (),
) -> tuple[Callout, ...]:
    """Return labels, each with a line to its block, for blocks that are too small for a label.

    There are none if more than MAX_CALLOUTS blocks have no label, because lines would cross.
    labels: those already placed. A callout lies within one other block or the background, and
    covers no label and no box.
    """
    small = blocks[::STEP, ::STEP]
    size = np.bincount(small[small >= 0], minlength=len(names))
    size[[label.block for label in labels]] = 0
    missing = np.flatnonzero(size >= MIN_CALLED_OUT)
    if missing.size > MAX_CALLOUTS:
        return ()
    taken = np.zeros(small.shape, np.bool_)
    for label in labels:
        _take(taken, label.x, label.y, _width(label.text, font), font)
    for x, y, width, height in boxes:
        _take(taken, int(x + width / 2), int(y + height / 2), width + font, height + 3 * font)
    found = []
    for b in missing.tolist():
        if place := _beside(small, taken, b, names[b], font):
            found.append(place)
            _take(taken, place.x, place.y, place.width, place.height)
    return tuple(found)


def _beside(
    blocks: npt.NDArray[np.int32], taken: npt.NDArray[np.bool_], b: int, name: str, font: float
) -> Callout | None:
    """Return the nearest free position for a callout; None if there is none within reach."""
    rows, columns = np.nonzero(blocks == b)
    middle = np.array([np.median(rows), np.median(columns)])
    at = int(np.argmin((rows - middle[0]) ** 2 + (columns - middle[1]) ** 2))
    row, column = int(rows[at]), int(columns[at])
    width, height = _width(name, font), 1.5 * font
    half_w, half_h = int(width / STEP / 2) + 1, int(height / STEP / 2) + 1
    reach = int(REACH * blocks.shape[1])
    y, x = np.mgrid[-reach : reach + 1 : 2, -reach : reach + 1 : 2]
    order = np.argsort((x**2 + y**2).ravel(), kind="stable")
    for dy, dx in zip(y.ravel()[order].tolist(), x.ravel()[order].tolist(), strict=True):
        top, bottom = row + dy - half_h, row + dy + half_h + 1
        left, right = column + dx - half_w, column + dx + half_w + 1
        if min(top, left) < 0 or bottom > blocks.shape[0] or right > blocks.shape[1]:
            continue
        under = blocks[top:bottom, left:right]
        if under[0, 0] == b or taken[top:bottom, left:right].any():
            continue
        if (under == under[0, 0]).all():
            return Callout((column + dx) * STEP, (row + dy) * STEP, name, b, column * STEP,
                           row * STEP, round(width), round(height))  # fmt: skip
    return None


def _take(taken: npt.NDArray[np.bool_], x: int, y: int, width: float, height: float) -> None:
    """Mark a box around (x, y) [pixels] as occupied."""
    top, left = max(int((y - height / 2) / STEP), 0), max(int((x - width / 2) / STEP), 0)
    taken[top : int((y + height / 2) / STEP) + 1, left : int((x + width / 2) / STEP) + 1] = True


def _width(text: str, font: float) -> float:
    return (CHARACTER * len(text) + 0.8) * font


# Paul Tol's "light" scheme, for areas with black labels, safe for colour-blind readers; and
# darker variants for graphs that need more than nine.
PALETTE: tuple[tuple[int, int, int], ...] = (
    (119, 170, 221), (238, 136, 102), (238, 221, 136), (68, 187, 153), (255, 170, 187),
    (153, 221, 255), (187, 204, 51), (200, 170, 220), (221, 221, 221), (170, 170, 0),
    (90, 130, 175), (190, 105, 80), (45, 140, 115), (200, 120, 140), (140, 150, 160),
    (190, 170, 95),
)  # fmt: skip
OUTLINE = (38, 42, 48)
MAX_SITES = 200_000  # vertices at most among which neighbours are looked for
NEAR = 6  # nearest vertices of each vertex that count as its neighbours
UNLIKE = 125.0  # distance of two colours that are easy to distinguish
USUAL = 8  # first colours of PALETTE, the most distinct; others only if these do not suffice


def block_colours(k: int, sender: IntArray, receiver: IntArray) -> npt.NDArray[np.uint8]:
    """Return indices into PALETTE (k,); adjacent blocks differ if 16 colours suffice.

    Greedy by saturation [Bre79]_: the block with most colours among its neighbours is next; it
    takes the least used of its remaining colours, so that all colours are used about equally.
    """
    if k <= len(PALETTE):
        return _told_apart(k, sender, receiver)
    around: list[list[int]] = [[] for _ in range(k)]
    for a, b in zip(sender.tolist(), receiver.tolist(), strict=True):
        around[a].append(b)
    colour = np.full(k, len(PALETTE), np.uint8)
    seen = np.zeros((k, len(PALETTE)), np.int32)
    degree = np.array([len(others) for others in around])
    urgency = degree.astype(np.float64) / (degree.max() + 1.0)
    used = np.zeros(len(PALETTE), np.int64)
    for _ in range(k):
        b = int(np.argmax(urgency))
        colour[b] = chosen = _least_used(seen[b], used)
        used[chosen] += 1
        urgency[b] = -np.inf
        for other in around[b]:
            urgency[other] += seen[other, chosen] == 0
            seen[other, chosen] += 1
    return colour


def _told_apart(k: int, sender: IntArray, receiver: IntArray) -> npt.NDArray[np.uint8]:
    """Return distinct colours (k,) for a few blocks; adjacent blocks have dissimilar colours.

    Initially block b has colour b. While some adjacent blocks have similar colours, a block of the
    most similar pair swaps its colour with the block for which the most similar pair becomes most
    dissimilar.
    """
    colour = np.arange(k)
    pairs = np.unique(
        np.stack([np.minimum(sender, receiver), np.maximum(sender, receiver)]), axis=1
    )
    while pairs.size and (least := _unlikeness(colour, pairs)).min() < UNLIKE:
        b = int(pairs[0, least.argmin()])
        swaps = [colour.copy() for _ in range(k)]
        for other, swapped in enumerate(swaps):
            swapped[[b, other]] = swapped[[other, b]]
        best = max(swaps, key=lambda one: sorted(_unlikeness(one, pairs)))
        if sorted(_unlikeness(best, pairs)) <= sorted(least):
            break
        colour = best
    return colour.astype(np.uint8)


def _unlikeness(colour: IntArray, pairs: IntArray) -> FloatArray:
    """Return distances (p,) of the colours of block pairs (2, p), weighted for human vision."""
    shown = np.array(PALETTE, np.float64)[colour]
    a, b = shown[pairs[0]], shown[pairs[1]]
    red = (a[:, 0] + b[:, 0]) / 512
    weights = np.stack([2 + red, np.full(red.size, 4.0), 3 - red], axis=1)
    return np.asarray(np.sqrt((weights * (a - b) ** 2).sum(axis=1)))


def in_css(colour: npt.NDArray[np.uint8]) -> list[str]:
    """Return these colours of PALETTE in CSS notation: "#77aadd"."""
    return ["#{:02x}{:02x}{:02x}".format(*PALETTE[c]) for c in colour.tolist()]


def pairs_side_by_side(coords: FloatArray, part: IntArray) -> tuple[IntArray, IntArray]:
    """Return pairs, in both orders, of blocks near each other, with or without a joining edge.

    coords (n, d) and part (n,) of the vertices; if there are many, only a sample is used.
    """
    from scipy.spatial import cKDTree

    step = -(-len(coords) // MAX_SITES)
    places, part = coords[::step], part[::step].astype(np.int64)
    _, near = cKDTree(places).query(places, k=min(NEAR + 1, len(places)))
    a, b = np.repeat(part, near.shape[1]) if near.ndim > 1 else part, part[near.ravel()]
    a, b = a[a != b], b[a != b]
    keys = np.unique(np.concatenate([a, b]) * (part.max() + 1) + np.concatenate([b, a]))
    return keys // (part.max() + 1), keys % (part.max() + 1)


def _least_used(seen: npt.NDArray[np.int32], used: npt.NDArray[np.int64]) -> int:
    free = np.flatnonzero(seen[:USUAL] == 0)
    if free.size == 0:
        free = np.flatnonzero(seen == 0)
    if free.size == 0:
        # More than 16 blocks touch each other: no map can tell them apart by colour alone.
        return int(np.argmin(seen))
    return int(free[np.argmin(used[free])])

"""Where a picture is too small for its blocks: frames around the groups of those, enlarged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray
from evener.reporting.framing import Frame, framed

LEGIBLE = 0.055  # of a picture's width: blocks smaller than this are told by no name
GAP = 0.12  # of a picture's width: blocks this far apart belong to two groups
WORTH = 0.3  # of a picture's width or height: a group larger than this gains too little
STRIDE = 14.0  # the most by which one picture may enlarge the one before it
MAX_PICTURES = 7
MAX_BLOCKS = 5000


@dataclass(frozen=True)
class Inset:
    """A frame, the number of the one it enlarges a part of (-1: none), and what it gains.

    gained: how many blocks become large enough to be told by their names.
    """

    frame: Frame
    parent: int
    gained: int = 0


def with_insets(
    whole: Frame, centres: FloatArray, part: IntArray, k: int, least: int = 2
) -> list[Inset]:
    """Return the whole, and frames around groups of blocks that are small in those before.

    centres (n, 2) of the vertices, part (n,) their blocks; a block of none is not looked for.
    least: fewer blocks than this make no group.
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
    """Middle and size (k, 2) of each block: the mean and four standard deviations."""
    count = np.maximum(np.bincount(part, minlength=k), 1)[:, None]
    mean = np.stack([np.bincount(part, x, k) for x in centres.T], axis=1) / count
    offset = (centres - mean[part]) ** 2
    variance = np.stack([np.bincount(part, x, k) for x in offset.T], axis=1) / count
    return mean, 4 * np.sqrt(variance)


def _is_small(size: FloatArray, frame: Frame) -> npt.NDArray[np.bool_]:
    return np.asarray(np.sqrt(size.prod(axis=1)) < LEGIBLE * (frame.x1 - frame.x0))


def _groups(middle: FloatArray, small: IntArray, frame: Frame) -> list[IntArray]:
    """Blocks that lie near each other, the largest group first."""
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

    Blocks of far-flung pieces count as large: the largest are left out until it does.
    """
    order = np.argsort(size.max(axis=1), kind="stable")
    low = np.minimum.accumulate((middle - size / 2)[order])
    high = np.maximum.accumulate((middle + size / 2)[order])
    for last in range(order.size - 1, 0, -1):
        extent = (high[last] - low[last]) * 1.1
        frame = framed((low[last] + high[last]) / 2, extent, within.width)
        # A tall frame is drawn less wide: what counts is the enlargement.
        if within.scale < WORTH * frame.scale:
            return frame
    return None


def _way(whole: Frame, part: Frame) -> list[Frame]:
    """Return `part`, after frames between where the way there would be lost."""
    n_steps = max(1, int(np.ceil(np.log(part.scale / whole.scale) / np.log(STRIDE))))
    ways = [step / n_steps for step in range(1, n_steps)]
    return [*(_between(whole, part, way) for way in ways), part]


def _between(whole: Frame, part: Frame, way: float) -> Frame:
    """Return a frame around `part`, its size `way` from the one's to the other's, as ratios."""
    sizes = [(f.x1 - f.x0, f.y1 - f.y0) for f in (whole, part)]
    size = np.array([a ** (1 - way) * b**way for a, b in zip(*sizes, strict=True)])
    middle = np.array([part.x0 + part.x1, part.y0 + part.y1]) / 2
    return framed(middle, size, whole.width)

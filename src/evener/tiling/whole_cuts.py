"""Whole blocks for guillotine cuts: the least largest load over target, to one in a million.

Of each part the greatest height that its devices can cover is known for every width, and the
greatest width for every height: heights of parts on top of each other add up, widths of parts side
by side do. A scale is feasible where the whole matrix can be covered.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.errors import UsageError
from evener.tiling.cuts import Cut
from evener.tiling.whole import Allowed, least_scale
from evener.tilings import Tiling

MAX_BLOCKS = 1 << 14  # a side: a height is kept for every width of every part

IntVector = npt.NDArray[np.int64]


def whole_cuts(
    tree: Cut | int, targets: FloatArray, allowed: Allowed, shape: tuple[int, int], block: int = 1
) -> Tiling:
    """Return the tiling in whole blocks with the least scale that these cuts admit.

    allowed, targets (p,) [blocks]: as for `whole_columns`. Raises UsageError for a matrix of more
    than MAX_BLOCKS blocks a side, InfeasibleError where caps leave no solution.
    """
    if max(shape) > MAX_BLOCKS:
        raise UsageError(
            f"guillotine cuts are made for up to {MAX_BLOCKS:,} blocks a side, not {max(shape):,}",
            hint="Take larger blocks, or columns (br).",
        )
    rows, width = shape

    def feasible(scale: float) -> bool:
        return bool(_Part(tree, np.floor(allowed(scale)), shape).heights[width] >= rows)

    scale = least_scale(feasible, allowed)
    boxes = np.zeros((4, targets.size), np.int64)
    _place(_Part(tree, np.floor(allowed(scale)), shape), targets, (0, 0, rows, width), boxes)
    top, left, height, wide = boxes
    return Tiling(shape, top, left, height, wide, block)


class _Part:
    """What a part of the tree can cover: heights[w] for widths 0.., widths[h] for heights 0.. .

    Width 0 is covered at any height, the matrix's rows; height 0 likewise.
    """

    def __init__(self, tree: Cut | int, blocks: FloatArray, shape: tuple[int, int]) -> None:
        self.tree = tree
        rows, width = shape
        if isinstance(tree, int):
            across = np.arange(1, width + 1)
            self.heights = np.concatenate([[rows], np.minimum(blocks[tree] // across, rows)])
            self.heights = self.heights.astype(np.int64)
            self.widths = _inverse(self.heights, rows)
            return
        self.first = _Part(tree.first, blocks, shape)
        self.second = _Part(tree.second, blocks, shape)
        if tree.beside:
            self.widths = np.minimum(self.first.widths + self.second.widths, width)
            self.heights = _inverse(self.widths, width)
        else:
            self.heights = np.minimum(self.first.heights + self.second.heights, rows)
            self.widths = _inverse(self.heights, rows)


def _inverse(values: IntVector, most: int) -> IntVector:
    """For each y in 0..most the largest x whose value is y or more; values never rise."""
    return np.searchsorted(-values, -np.arange(most + 1), side="right").astype(np.int64) - 1


def _place(
    part: _Part, targets: FloatArray, box: tuple[int, int, int, int], boxes: IntVector
) -> None:
    """Fill the box (top, left, height, width) with the devices of a part, near their targets."""
    top, left, height, width = box
    if isinstance(part.tree, int):
        boxes[:, part.tree] = box if height * width else 0
        return
    share = _total(part.tree.first, targets) / _total(part.tree, targets)
    if part.tree.beside:
        most = int(part.first.widths[height]), int(part.second.widths[height])
        w = _clipped(width * share, width, *most)
        _place(part.first, targets, (top, left, height, w), boxes)
        _place(part.second, targets, (top, left + w, height, width - w), boxes)
    else:
        most = int(part.first.heights[width]), int(part.second.heights[width])
        h = _clipped(height * share, height, *most)
        _place(part.first, targets, (top, left, h, width), boxes)
        _place(part.second, targets, (top + h, left, height - h, width), boxes)


def _clipped(ideal: float, total: int, most_first: int, most_second: int) -> int:
    return max(min(round(ideal), most_first), total - most_second)


def _total(tree: Cut | int, targets: FloatArray) -> float:
    if isinstance(tree, int):
        return float(targets[tree])
    return _total(tree.first, targets) + _total(tree.second, targets)

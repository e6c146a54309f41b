"""Multi-jagged partitions: recursive cuts into many sections at once, across alternating sides.

RCB halves a box; multi-jagged cuts it into s sections across its longest side, each section into
its own sections across its own longest side, and so on; there are as many levels as dimensions
[DRDC16]_. So k blocks need about k^(1/d) cuts per level and box, and boxes remain rectangles.
Zoltan2's version requires sections of equal weight; here any number of blocks of any weights is
grouped so that sections have about the same weight.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.errors import UsageError
from evener.partitioning.initial.geometric import checked_input, nearest_places

HAIR = 1e-9  # tolerance for rounding errors of a root that is a whole number


def mj_blocks(
    points: npt.ArrayLike,
    weights: npt.ArrayLike | None,
    targets: npt.ArrayLike,
    *,
    sections: int | None = None,
) -> npt.NDArray[np.int32]:
    """Return the block (n,) of every point by multi-jagged cuts; arguments as in hilbert_blocks.

    sections: largest number of sections of a box, at least 2; None: the number that gives as many
    levels as dimensions. No block is off its target by more than the heaviest vertex. With 2
    sections, an equal number of blocks on each side and no ties, the result is that of rcb_blocks.
    Equal coordinates are divided by vertex number.
    """
    if sections is not None and sections < 2:
        raise UsageError(f"a box needs at least 2 sections, not {sections}")
    points, weights, ideal = checked_input(points, weights, targets)
    n, d = points.shape
    part = np.empty(n, np.int32)
    # (first block, end, vertices in ascending order, weight of all before, level)
    open_boxes = [(0, ideal.size - 1, np.arange(n), 0.0, 0)]
    while open_boxes:
        low, high, inside, before, level = open_boxes.pop()
        if high - low == 1 or inside.size == 0:
            part[inside] = low
            continue
        count = sections or _sections(high - low, d - level)
        bounds = _groups(ideal, low, high, min(count, high - low))
        place = points[inside]
        side = int(np.argmax(place.max(axis=0) - place.min(axis=0)))
        order = np.argsort(place[:, side], kind="stable")
        along = weights[inside[order]] if weights.size else np.ones(order.size)
        so_far = np.cumsum(along)
        cuts = nearest_places(so_far, np.clip(ideal[bounds] - before, 0.0, so_far[-1]))
        for i in range(bounds.size - 1):
            # Ascending again, so that ties fall by vertex number on the next level, too.
            own = np.sort(inside[order[cuts[i] : cuts[i + 1]]])
            done = before + (float(so_far[cuts[i] - 1]) if cuts[i] else 0.0)
            open_boxes.append((int(bounds[i]), int(bounds[i + 1]), own, done, level + 1))
    return part


def _sections(blocks: int, levels: int) -> int:
    """Return the number of sections of a box of `blocks` blocks with `levels` levels to go."""
    if levels <= 1:
        return blocks
    return max(2, int(np.ceil(blocks ** (1 / levels) - HAIR)))


def _groups(ideal: FloatArray, low: int, high: int, count: int) -> npt.NDArray[np.int64]:
    """Return boundaries (count + 1,) that divide the blocks into groups of about equal targets.

    No group is empty.
    """
    wanted = np.linspace(ideal[low], ideal[high], count + 1)
    right = np.clip(np.searchsorted(ideal[low : high + 1], wanted), 1, high - low)
    near = right - (wanted - ideal[low + right - 1] <= ideal[low + right] - wanted)
    steps = np.arange(count + 1)
    near = np.maximum.accumulate(near - steps) + steps
    near = np.minimum(near, (high - low) - steps[::-1])
    near[0], near[-1] = 0, high - low
    return np.asarray(low + near, np.int64)

"""Names on a map: at the middle of each block, where they fit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

STEP = 3  # the map is thinned this much to find a place; labels need no finer one
CHARACTER = 0.66  # width of a character of bold sans-serif fonts, relative to their size


class Label(NamedTuple):
    """Text for a block, centred at (x, y) of a picture, in its pixels."""

    x: int
    y: int
    text: str
    block: int


def place_labels(blocks: npt.NDArray[np.int32], names: list[str], font: float) -> tuple[Label, ...]:
    """Return a label for every block of the map that has room for it at this font size.

    blocks (h, w), -1 where there is none. The device's name, or where that is too wide its
    number; nothing where not even that fits.
    """
    from scipy import ndimage

    small = np.pad(blocks[::STEP, ::STEP], 1, constant_values=-1)
    inner = small >= 0
    inner[1:-1, 1:-1] &= (
        (small[1:-1, 1:-1] == small[1:-1, 2:]) & (small[1:-1, 1:-1] == small[1:-1, :-2])
        & (small[1:-1, 1:-1] == small[2:, 1:-1]) & (small[1:-1, 1:-1] == small[:-2, 1:-1])
    )  # fmt: skip
    depth = ndimage.distance_transform_edt(inner)
    present = np.unique(small[small >= 0])
    places = ndimage.maximum_position(depth, labels=small, index=present) if present.size else []
    found = []
    for b, (row, column) in zip(present.tolist(), places, strict=True):
        for text in dict.fromkeys((names[b], str(b))):
            if _fits(small, b, int(row), int(column), text, font / STEP):
                found.append(Label(int(column - 1) * STEP, int(row - 1) * STEP, text, b))
                break
    return tuple(found)


def _fits(
    blocks: npt.NDArray[np.int32], b: int, row: int, column: int, text: str, font: float
) -> bool:
    half_width, half_height = CHARACTER * font * len(text) / 2, 0.5 * font
    left, right = int(column - half_width), int(column + half_width) + 1
    top, bottom = int(row - half_height), int(row + half_height) + 1
    if min(left, top) < 0 or bottom > blocks.shape[0] or right > blocks.shape[1]:
        return False
    return bool((blocks[top:bottom, left:right] == b).mean() > 0.9)

"""A tiling drawn with lines of text, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from evener.tilings import Tiling

WIDTH, HEIGHT = 56, 28  # characters at most; one is twice as high as wide
MOST = 64  # rectangles: more are lines without room for anything
UP, DOWN, WEST, EAST = 1, 2, 4, 8
LINES = dict(
    zip(
        (0, 3, 12, 10, 6, 9, 5, 11, 7, 14, 13, 15, 1, 2, 4, 8),
        " │─┌┐└┘├┤┬┴┼││──",
        strict=True,
    )
)


def drawn(tiling: Tiling, names: Sequence[str]) -> str:
    """Return the tiling as lines of text, or nothing where its rectangles are too many."""
    used = np.flatnonzero(tiling.areas > 0)
    if used.size > MOST:
        return ""
    rows, columns = tiling.shape
    across = min(WIDTH / columns, 2 * HEIGHT / rows)
    width, height = max(round(columns * across), 2), max(round(rows * across / 2), 1)
    lines = np.zeros((height + 1, width + 1), np.uint8)
    text: list[tuple[int, int, str]] = []
    for i in used.tolist():
        y0, y1 = (round(v * height / rows) for v in _span(tiling.top[i], tiling.height[i]))
        x0, x1 = (round(v * width / columns) for v in _span(tiling.left[i], tiling.width[i]))
        _outline(lines, y0, y1, x0, x1)
        room = x1 - x0 - 1
        if y1 - y0 >= 2 and room >= 1:
            name = _shortened(names[i], room, names)
            text.append(((y0 + y1) // 2, x0 + 1 + (room - len(name)) // 2, name))
    canvas = [[LINES[int(cell)] for cell in row] for row in lines]
    for y, x, name in text:
        canvas[y][x : x + len(name)] = list(name)
    return "\n".join("".join(row).rstrip() for row in canvas)


def _shortened(name: str, room: int, names: Sequence[str]) -> str:
    """Return a name that fits, its middle left out; nothing where it could be another's."""
    if len(name) <= room:
        return name
    for head in range(min(room - 2, len(name)), -1, -1):
        tail = name[len(name) - (room - 1 - head) :]
        alike = [one for one in names if one.startswith(name[:head]) and one.endswith(tail)]
        if room >= 3 and len(alike) == 1:
            return f"{name[:head]}…{tail}"
    return ""


def _span(start: np.int64, length: np.int64) -> tuple[int, int]:
    return int(start), int(start + length)


def _outline(lines: npt.NDArray[np.uint8], y0: int, y1: int, x0: int, x1: int) -> None:
    """Add the four sides of a rectangle: each cell knows to which neighbours a line leads."""
    for y in (y0, y1):
        lines[y, x0:x1] |= EAST
        lines[y, x0 + 1 : x1 + 1] |= WEST
    for x in (x0, x1):
        lines[y0:y1, x] |= DOWN
        lines[y0 + 1 : y1 + 1, x] |= UP

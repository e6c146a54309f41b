"""Draw a tiling: the rectangle of each device in its colour, with its name; PNG or SVG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evener.arrays import IntArray
from evener.plans.tiling import Tiling
from evener.reporting.marks import OUTLINE, PALETTE, block_colours, in_css
from evener.reporting.plots import new_figure, save_figure, styled

SIDE = 7.0  # [inches] of the longer side of the matrix
POINTS = 72  # in an inch
MIN_TEXT, MAX_TEXT = 3.5, 11.0  # [points] of names; those that would be smaller are left out


def draw_tiling(
    path: str,
    tiling: Tiling,
    names: Sequence[str],
    *,
    title: str = "",
    groups: Sequence[int] | None = None,
) -> None:
    """Write a picture of the tiling. names: of the devices. title: a line above the picture.

    groups (k,): devices of a group have the same colour; without groups, adjacent rectangles have
    different colours. Raises UsageError for an unknown format, InputError if the file cannot be
    written.
    """
    rows, columns = tiling.shape
    scale = SIDE / max(rows, columns)
    with styled():
        figure, (axes,) = new_figure(1, 1, columns * scale, rows * scale + (0.3 if title else 0))
        axes.set(title=title)
        axes.axis("off")
        _fill(axes, tiling, names, _colours(tiling, groups), scale * POINTS)
        axes.set(xlim=(0, columns), ylim=(rows, 0))
    save_figure(path, figure)


def touching(tiling: Tiling) -> tuple[IntArray, IntArray]:
    """Return the pairs of rectangles, both ways, that share a part of an edge."""
    used = np.flatnonzero(tiling.areas > 0)
    up, west = tiling.top[used], tiling.left[used]
    down, east = up + tiling.height[used], west + tiling.width[used]
    over = np.minimum(down[:, None], down) - np.maximum(up[:, None], up)
    beside = np.minimum(east[:, None], east) - np.maximum(west[:, None], west)
    a, b = np.nonzero(((over > 0) & (beside == 0)) | ((over == 0) & (beside > 0)))
    return used[a], used[b]


def _colours(tiling: Tiling, groups: Sequence[int] | None) -> list[str]:
    if groups is not None:
        numbers = np.asarray(groups) % len(PALETTE)
    else:
        numbers = block_colours(tiling.k, *touching(tiling))
    return in_css(numbers)


def _fill(axes: Any, tiling: Tiling, names: Sequence[str], colours: list[str], unit: float) -> None:
    """Draw the rectangles, each with its name if it fits; unit: a block's side in points."""
    used = np.flatnonzero(tiling.areas > 0)
    axes.bar(
        tiling.left[used],
        tiling.height[used],
        tiling.width[used],
        tiling.top[used],
        align="edge",
        color=[colours[i] for i in used.tolist()],
        edgecolor="#{:02x}{:02x}{:02x}".format(*OUTLINE),
        linewidth=0.7,
        clip_on=False,
    )
    for i in used.tolist():
        x, y, w, h = tiling.left[i], tiling.top[i], tiling.width[i], tiling.height[i]
        lines = names[i].split("\n")
        across = 0.65 * max(map(len, lines)) + 0.6
        size = min(MAX_TEXT, w * unit / across, h * unit / (1.4 * len(lines)))
        if size >= MIN_TEXT:
            shown = "\n".join(line.replace("$", r"\$") for line in lines)
            axes.text(x + w / 2, y + h / 2, shown, ha="center", va="center", fontsize=size)

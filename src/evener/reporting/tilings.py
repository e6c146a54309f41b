"""Pictures of a tiling: every device's rectangle in its colour, named; PNG or SVG."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evener.arrays import IntArray
from evener.plans.tiling import Tiling
from evener.reporting.colours import OUTLINE, PALETTE, block_colours
from evener.reporting.plots import new_figure, save_figure, styled

SIDE = 7.0  # inches, of the longer side of the matrix
POINTS = 72
LEAST_TEXT = 3.5  # points: smaller names are left out
MOST_TEXT = 11.0


def draw_tiling(
    path: str,
    tiling: Tiling,
    names: Sequence[str],
    *,
    title: str = "",
    groups: Sequence[int] | None = None,
) -> None:
    """Write a picture of the tiling. names: one a device. title: a line above.

    groups (k,): devices of one group get one colour; without it every device has its own, and
    rectangles that touch differ. Raises UsageError for a format not known, InputError where the
    file cannot be written.
    """
    rows, columns = tiling.shape
    scale = SIDE / max(rows, columns)
    with styled():
        figure, (axes,) = new_figure(1, 1, columns * scale, rows * scale + (0.3 if title else 0))
        axes.set(xlim=(0, columns), ylim=(rows, 0), title=title)
        axes.axis("off")
        _fill(axes, tiling, names, _colours(tiling, groups), scale * POINTS)
    save_figure(path, figure)


def touching(tiling: Tiling) -> tuple[IntArray, IntArray]:
    """Pairs of rectangles, both ways, that share a part of an edge."""
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
    return ["#{:02x}{:02x}{:02x}".format(*PALETTE[number]) for number in numbers]


def _fill(axes, tiling: Tiling, names: Sequence[str], colours: list[str], unit: float) -> None:  # type: ignore[no-untyped-def]
    """Draw the rectangles; `unit` is a block's side in points."""
    from matplotlib.patches import Rectangle

    edge = "#{:02x}{:02x}{:02x}".format(*OUTLINE)
    for i in np.flatnonzero(tiling.areas > 0).tolist():
        x, y, w, h = tiling.left[i], tiling.top[i], tiling.width[i], tiling.height[i]
        patch = Rectangle(
            (x, y), w, h, facecolor=colours[i], edgecolor=edge, linewidth=0.7, clip_on=False
        )
        axes.add_patch(patch)
        lines = names[i].split("\n")
        across = 0.65 * max(map(len, lines)) + 0.6
        size = min(MOST_TEXT, w * unit / across, h * unit / (1.4 * len(lines)))
        if size >= LEAST_TEXT:
            shown = "\n".join(line.replace("$", r"\$") for line in lines)
            axes.text(x + w / 2, y + h / 2, shown, ha="center", va="center", fontsize=size)

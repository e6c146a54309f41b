"""Draws panels of lines by matplotlib, in Evener's style."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

from evener.reporting.plots import new_figure, styled
from papers.findings import Panel

PANEL = (3.9, 2.9)  # inches
SHORT = 8  # characters of a label up to which four fit in a row of the legend
COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#8a9099")
MARKERS = "os^vDP*"
IN_A_ROW = 40  # characters of all names of an x axis up to which they fit side by side
OVER = 1.04  # times the highest value, so that its mark is whole
HIGH = 0.075  # inches of a character of an upright name
UPRIGHT = 0.15  # inches from the axes to the first, and from the last to the legend
NEXT = 0.08  # between the points of two lines at a name, which would hide each other


def draw_lines(panels: Sequence[Panel]) -> Any:
    """Return a figure with the panels, two in a row."""
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    with styled():
        height = PANEL[1] + HIGH * max(map(_upright_characters, panels), default=0)
        figure, axes = new_figure(rows, columns, PANEL[0] * columns, height * rows)
        for one, panel in zip(axes, panels, strict=False):
            _draw(one, panel)
        for one in axes[len(panels) :]:
            one.set_axis_off()
    return figure


def _upright_characters(panel: Panel) -> int:
    """Return how long the longest name of the x axis is, 0 where they fit side by side."""
    lengths = [len(name) for name in panel.x_names]
    return max(lengths) if sum(lengths) > IN_A_ROW else 0


def _mark_x(axes: Any, panel: Panel) -> None:
    """Put ticks at the x axis: names, each value of a logarithmic axis, or round numbers."""
    if panel.x_names:
        axes.set_xticks(panel.x, panel.x_names, rotation=90 if _upright_characters(panel) else 0)
    elif panel.log_x:
        axes.set_xscale("log")
        axes.set_xticks(panel.x, [f"{value:g}" for value in panel.x])
        axes.minorticks_off()
    else:
        axes.locator_params(axis="x", nbins=6)
        axes.xaxis.set_major_formatter("{x:,.0f}")


def _draw(axes: Any, panel: Panel) -> None:
    for i, (label, values) in enumerate(panel.lines.items()):
        turn = i // len(COLOURS)  # later lines have a colour again, but with another marker
        style = {"color": COLOURS[i % len(COLOURS)], "marker": MARKERS[(i + turn) % len(MARKERS)]}
        width, size = (0.0, 5) if panel.x_names else (1.2, 3)
        shift = NEXT * (i - (len(panel.lines) - 1) / 2) if panel.x_names else 0.0
        x = [value + shift for value in panel.x]
        axes.plot(x, values, label=label, markersize=size, linewidth=width, alpha=0.85, **style)
    _mark_x(axes, panel)
    axes.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label)
    if panel.log_y:
        axes.set_yscale("log")
    else:
        highest = max((y for own in panel.lines.values() for y in own if isfinite(y)), default=0.0)
        axes.set_ylim(0, max(axes.get_ylim()[1], OVER * highest) or None)
    # The legend is below the axes, as lines may be anywhere inside, and below upright names.
    characters = _upright_characters(panel)
    below = {"bbox_to_anchor": (0.5, -0.18)}
    if characters:
        from matplotlib.transforms import ScaledTranslation

        inches = ScaledTranslation(0, -UPRIGHT - HIGH * characters, axes.figure.dpi_scale_trans)
        below = {"bbox_to_anchor": (0.5, 0), "bbox_transform": axes.transAxes + inches}
    columns = 2 if max(map(len, panel.lines)) > SHORT else 4
    axes.legend(fontsize=7, loc="upper center", ncols=columns, **below)

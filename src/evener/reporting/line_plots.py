"""Lines over a number, in panels: what experiments show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from evener.reporting.plots import new_figure, styled

PANEL = (3.9, 2.9)  # inches
SHORT = 8  # letters of a label: four such stand in a row
COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#8a9099")
MARKERS = "os^vDP*"


class Lines(Protocol):
    """A panel: its words, x, and y by label."""

    @property
    def title(self) -> str:
        """Above the panel."""

    @property
    def x_label(self) -> str:
        """Below it."""

    @property
    def y_label(self) -> str:
        """Beside it."""

    @property
    def x(self) -> Sequence[float]:
        """Where lines have points."""

    @property
    def lines(self) -> Mapping[str, Sequence[float]]:
        """Label to values, as many as x."""

    @property
    def log_y(self) -> bool:
        """Whether values grow by factors."""


def draw_lines(panels: Sequence[Lines]) -> Any:
    """Return a figure with the panels, two a row."""
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    with styled():
        figure, axes = new_figure(rows, columns, PANEL[0] * columns, PANEL[1] * rows)
        for one, panel in zip(axes, panels, strict=False):
            _draw(one, panel)
        for one in axes[len(panels) :]:
            one.set_axis_off()
    return figure


def _draw(axes: Any, panel: Lines) -> None:
    for i, (label, values) in enumerate(panel.lines.items()):
        style = {"color": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)]}
        axes.plot(panel.x, values, label=label, markersize=3, linewidth=1.2, alpha=0.85, **style)
    axes.locator_params(axis="x", nbins=6)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label)
    if panel.log_y:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    # Below: inside, there is no place that lines to and fro leave free.
    columns = 2 if max(map(len, panel.lines)) > SHORT else 4
    axes.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=columns)

"""Makes and saves figures by matplotlib; other files draw on them and do not import matplotlib.

Without pyplot and global state; equal figures give equal bytes.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any, Protocol

from evener.errors import UsageError
from evener.files.writing import atomic_write
from evener.wording import printable

STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.edgecolor": "#8a9099",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e3e6ea",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "svg.hashsalt": "evener",
}
DPI = 150
SUFFIXES = (".png", ".svg")
LONGEST_NAME = 32  # characters of a name in a figure


@contextmanager
def styled() -> Iterator[None]:
    """Apply Evener's style to figures made within the block."""
    import matplotlib as mpl

    settings: Any = STYLE
    with mpl.rc_context(settings):
        yield


def new_figure(rows: int, columns: int, width: float, height: float) -> tuple[Any, list[Any]]:
    """Return a figure of `width` x `height` inches and its rows x columns axes, row by row."""
    figure = _figure_class()(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(rows, columns, squeeze=False).ravel())


@cache
def _figure_class() -> Any:
    """Return matplotlib's Figure, which shows itself in notebooks also where pyplot is not used."""
    from matplotlib.figure import Figure

    class ShownFigure(Figure):
        def _repr_png_(self) -> bytes:
            return figure_bytes(self, "png")

    return ShownFigure


def shown_name(name: str) -> str:
    """Return a name for figures: shortened in its middle, never read as a formula."""
    name = printable(name)
    if len(name) > LONGEST_NAME:
        name = f"{name[: LONGEST_NAME // 2]}…{name[1 - LONGEST_NAME // 2 :]}"
    # A name that begins with _ would be left out of legends.
    return ("\u2009" if name.startswith("_") else "") + name.replace("$", r"\$")


def figure_bytes(figure: Any, kind: str) -> bytes:
    """Return a figure as "png" or "svg"."""
    content = io.BytesIO()
    stamps = {"Date": None} if kind == "svg" else {"Software": None}
    with styled():
        figure.savefig(content, format=kind, dpi=DPI, metadata=stamps)
    return content.getvalue()


def save_figure(path: str | Path, figure: Any) -> None:
    """Write a figure as its file's suffix says, whole or not at all."""
    kind = checked_kind(path)
    content = figure_bytes(figure, kind)
    with atomic_write(path) as file:
        file.write(content)


def checked_kind(path: str | Path) -> str:
    """Return "png" or "svg", by a file's suffix; UsageError for another one."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise UsageError(f"a picture ends in {' or '.join(SUFFIXES)}, unlike {Path(path).name}")
    return suffix[1:]


PANEL = (3.9, 2.9)  # inches
SHORT = 8  # characters of a label up to which four fit in a row of the legend
COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#8a9099")
MARKERS = "os^vDP*"
IN_A_ROW = 40  # characters of all names of an x axis up to which they fit side by side
OVER = 1.04  # times the highest value, so that its mark is whole
HIGH = 0.075  # inches of a character of an upright name
UPRIGHT = 0.15  # inches from the axes to the first, and from the last to the legend
NEXT = 0.08  # between the points of two lines at a name, which would hide each other


class Lines(Protocol):
    """A panel of lines: title, labels of the axes, x, and y by label."""

    @property
    def title(self) -> str:
        """Title of the panel."""

    @property
    def x_label(self) -> str:
        """Label of the x axis."""

    @property
    def y_label(self) -> str:
        """Label of the y axis."""

    @property
    def x(self) -> Sequence[float]:
        """Values of x."""

    @property
    def lines(self) -> Mapping[str, Sequence[float]]:
        """Label -> values of y, as many as x."""

    @property
    def log_y(self) -> bool:
        """Whether the y axis is logarithmic."""

    @property
    def log_x(self) -> bool:
        """Whether the x axis is logarithmic, with a tick for each value."""

    @property
    def x_names(self) -> Sequence[str]:
        """Names of the values of x, which no line joins; empty where they are numbers."""


def draw_lines(panels: Sequence[Lines]) -> Any:
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


def _upright_characters(panel: Lines) -> int:
    """Return how long the longest name of the x axis is, 0 where they fit side by side."""
    lengths = [len(name) for name in panel.x_names]
    return max(lengths) if sum(lengths) > IN_A_ROW else 0


def _mark_x(axes: Any, panel: Lines) -> None:
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


def _draw(axes: Any, panel: Lines) -> None:
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

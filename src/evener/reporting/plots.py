"""Make and save figures by matplotlib; other files draw on them and do not import matplotlib.

Uses neither pyplot nor global state; equal figures give equal bytes.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

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
    """Context manager: apply Evener's style to figures made within it."""
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
    """Return a subclass of matplotlib's Figure that notebooks show even without pyplot."""
    from matplotlib.figure import Figure

    class ShownFigure(Figure):
        def _repr_png_(self) -> bytes:
            return figure_bytes(self, "png")

    return ShownFigure


def shown_name(name: str) -> str:
    """Return a name for figures: shortened in its middle, never parsed as a formula."""
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


def figure_uri(figure: Any) -> str:
    """Return a figure as a PNG image in a data URI."""
    return f"data:image/png;base64,{base64.b64encode(figure_bytes(figure, 'png')).decode()}"


def save_figure(path: str | Path, figure: Any) -> None:
    """Write a figure in the format given by the file's suffix, completely or not at all."""
    kind = checked_kind(path)
    content = figure_bytes(figure, kind)
    with atomic_write(path) as file:
        file.write(content)


def checked_kind(path: str | Path) -> str:
    """Return "png" or "svg", by a file's suffix; UsageError for any other suffix."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise UsageError(
            f"a picture's file name ends in {' or '.join(SUFFIXES)}, unlike {Path(path).name}"
        )
    return suffix[1:]

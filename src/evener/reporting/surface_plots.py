"""Plots speed surfaces, a row for each device: a map over height and width, and sections."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from evener.arrays import FloatArray
from evener.platforms.models.fitting import SpeedSurface
from evener.reporting.plots import new_figure, shown_name, styled
from evener.wording import count

PANEL = (3.5, 2.6)  # inches
POINTS = 120  # along each side of the map
LEVELS = 9  # lines of equal speed
SECTIONS = 4  # widths
TICKS, SHORT = 7, 1e4  # labels along a side, if they are short; of long ones four
ALARM, INK = "#cc3311", "#262a30"
LINES = ("#4477aa", "#228833", "#ccbb44", "#ee6677")


def draw_surfaces(surfaces: Mapping[str, SpeedSurface]) -> Any:
    """Return a figure with two panels for each device: the map, and sections at some widths."""
    with styled():
        figure, panels = new_figure(len(surfaces), 2, 2 * PANEL[0], PANEL[1] * len(surfaces))
        for i, (name, surface) in enumerate(surfaces.items()):
            shown = shown_name(name)
            _map(figure, panels[2 * i], shown, surface)
            _sections(panels[2 * i + 1], shown, surface)
    return figure


def _map(figure: Any, axes: Any, name: str, surface: SpeedSurface) -> None:
    widths, heights = _along(surface.widths), _along(surface.heights)
    speeds = surface.speed(heights[:, None], widths[None, :])
    image = axes.pcolormesh(widths, heights, speeds, cmap="viridis", shading="nearest",
                            rasterized=True)  # fmt: skip
    # Contours need two speeds, and two grid points along each side.
    if min(speeds.shape) > 1 and speeds.max() > speeds.min() * (1 + 1e-9):
        axes.contour(widths, heights, speeds, levels=LEVELS, colors="white", linewidths=0.5)
    columns, rows = np.meshgrid(surface.widths, surface.heights)
    axes.plot(columns.ravel(), rows.ravel(), linestyle="none", marker="o", markersize=2.2,
              markerfacecolor="white", markeredgecolor=INK, markeredgewidth=0.5,
              clip_on=False)  # fmt: skip
    if math.isfinite(surface.capacity):
        axes.plot(widths, surface.capacity / widths, color=ALARM, linewidth=1.2)
        axes.annotate(f"capacity {count(surface.capacity)}", (0.98, 0.98), color=ALARM,
                      xycoords="axes fraction", ha="right", va="top", fontsize=6.5,
                      bbox={"facecolor": "white", "edgecolor": "none", "pad": 1})  # fmt: skip
    axes.grid(visible=False)
    axes.set(xscale="log", yscale="log", xlabel="width", ylabel="height")
    _ticks(axes.xaxis, surface.widths)
    _ticks(axes.yaxis, surface.heights)
    for limit, values in ((axes.set_xlim, widths), (axes.set_ylim, heights)):
        if values.size > 1:
            limit(values[0], values[-1])
    axes.set_title(f"{name}: speed [units/s]")
    figure.colorbar(image, ax=axes)


def _sections(axes: Any, name: str, surface: SpeedSurface) -> None:
    """Plot speed over height at a few widths, and of squares over their sides."""
    heights = _along(surface.heights)
    places = np.unique(np.linspace(0, surface.widths.size - 1, SECTIONS).round().astype(int))
    for i, color in zip(places, LINES, strict=False):
        width = float(surface.widths[i])
        speeds = surface.speed(heights, np.full_like(heights, width))
        axes.plot(heights, speeds, color=color, label=f"width {count(width)}")
        axes.plot(surface.heights, surface.speeds[:, i], color=color, linestyle="none",
                  marker="o", markersize=2.8)  # fmt: skip
    axes.plot(heights, surface.speed(heights, heights), color=INK, linestyle="--", linewidth=0.9,
              label="squares")  # fmt: skip
    axes.set(xscale="log", xlabel="height", ylabel="speed [units/s]")
    _ticks(axes.xaxis, surface.heights)
    axes.set_ylim(0, 1.1 * float(surface.speeds.max()))
    axes.set_title(f"{name}: sections")
    axes.legend(fontsize=6.5)


def _ticks(axis: Any, knots: FloatArray) -> None:
    """Label as many grid points as have room; they may lie within one decade."""
    most = TICKS if knots[-1] < SHORT else 4
    shown = knots[np.unique(np.linspace(0, knots.size - 1, most).round().astype(int))]
    axis.set_ticks(shown, labels=[count(float(knot)) for knot in shown])
    axis.set_ticks([], minor=True)


def _along(knots: FloatArray) -> FloatArray:
    if knots.size == 1:
        return knots
    return np.union1d(np.geomspace(knots[0], knots[-1], POINTS), knots)

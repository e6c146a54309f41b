"""Plots time per iteration over the number of devices: planned, estimated, best and knee."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evener.reporting.plots import new_figure, styled
from evener.wording import time_of

if TYPE_CHECKING:
    from evener.plans.advice import Advice, Choice

PANEL = (4.6, 3.1)  # inches
FAINT, LINE, ALARM, PLANNED = "#8a9099", "#4477aa", "#cc3311", "#228833"
LOG_FROM = 20  # devices from which the axis is logarithmic


def draw_scaling(advice: Advice) -> Any:
    """Return a figure: seconds by devices, and by whole nodes if there are any."""
    panels = 2 if len(advice.nodes) > 1 else 1
    with styled():
        figure, axes = new_figure(1, panels, PANEL[0] * panels, PANEL[1])
        _draw(axes[0], advice, advice.choices, [row.devices.size for row in advice.choices])
        axes[0].set_xlabel("number of devices (the best set for each)")
        if panels == 2:
            _draw(axes[1], advice, advice.nodes, [row.nodes or 0 for row in advice.nodes])
            axes[1].set_xlabel("number of whole nodes (the best set for each)")
    return figure


def _draw(axes: Any, advice: Advice, rows: Sequence[Choice], x: Sequence[int]) -> None:
    seconds = [row.seconds for row in rows]
    axes.plot(x, seconds, color=LINE, linewidth=1.1, zorder=1)
    ideal = [row.seconds * row.efficiency for row in rows]
    axes.plot(x, ideal, color=FAINT, linestyle="--", linewidth=0.9, label="all speeds together")
    for planned, label in ((True, "planned"), (False, "estimated")):
        points = [(a, b) for a, b, row in zip(x, seconds, rows, strict=True)
                  if row.planned == planned]  # fmt: skip
        if points:
            fill = LINE if planned else "white"
            axes.plot(*zip(*points, strict=True), linestyle="none", marker="o", markersize=4,
                      color=fill, markeredgecolor=LINE, label=label)  # fmt: skip
    _mark(
        axes, rows, x, advice.best, f"best: {time_of(advice.best.seconds, advice.ideal)}", PLANNED
    )
    if advice.knee.devices.size != advice.best.devices.size:
        _mark(
            axes, rows, x, advice.knee, f"knee: {time_of(advice.knee.seconds, advice.ideal)}", ALARM
        )
    axes.set_yscale("log")
    _label(axes, x, [*seconds, *ideal], advice.ideal)
    axes.set_ylabel("predicted per iteration")
    axes.legend(fontsize=7, labelspacing=0.9)  # room for the rings


def _label(axes: Any, x: Sequence[int], seconds: Sequence[float], unit: float | None) -> None:
    """Put ticks at round numbers only; unit [s]: the time that 1.00x stands for, if any."""
    if max(x) > LOG_FROM:
        axes.set_xscale("log")
        ticks = _round_numbers(1, max(x))
    else:
        ticks = list(range(1, max(x) + 1, 1 + max(x) // 12))
    axes.set_xticks(ticks, [f"{tick:,.0f}" for tick in ticks])
    positive = [value for value in seconds if value > 0] or [1.0]
    size = unit or 1.0
    ticks = _round_numbers(min(positive) / 1.5 / size, max(positive) * 1.5 / size)
    axes.set_yticks([size * tick for tick in ticks], [time_of(size * tick, unit) for tick in ticks])
    axes.set_ylim(min(positive) / 1.4, max(positive) * 1.7)
    axes.minorticks_off()


def _round_numbers(least: float, most: float) -> list[float]:
    """Return 1, 2, 5, 10, ... within a range; only powers of ten if the range is large."""
    first, last = math.floor(math.log10(least)), math.ceil(math.log10(most))
    steps = (1.0, 2.0, 5.0) if last - first <= 3 else (1.0,)
    found = [step * 10.0**power for power in range(first, last + 1) for step in steps]
    return [value for value in found if least * 0.999 <= value <= most * 1.001]


def _mark(
    axes: Any,
    rows: Sequence[Choice],
    x: Sequence[int],
    one: Choice,
    label: str,
    colour: str,
) -> None:
    """Draw a ring around a point, and put its seconds into the legend, away from other points."""
    for a, row in zip(x, rows, strict=True):
        if row.devices.tolist() == one.devices.tolist():
            axes.plot([a], [row.seconds], marker="o", markersize=11, color="none",
                      markeredgecolor=colour, markeredgewidth=1.4, linestyle="none",
                      label=label)  # fmt: skip

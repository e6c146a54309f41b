"""Plot the speeds of each device: over the load, by all models, or as a surface.

Speed curves: samples, all models, and where models differ. Speed surfaces: a map over height and
width, and sections.

`speed_section`: each device's load and speed on its curve, with uncertainty, for reports.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from evener.arrays import FloatArray
from evener.plans.plan import Plan
from evener.platforms.models.fitting import Piecewise, SpeedModel, SpeedSurface, fit_device, pooled
from evener.platforms.models.samples import KINDS, DeviceSpeeds, Sample
from evener.reporting.plots import figure_uri, new_figure, shown_name, styled
from evener.wording import count, duration, percent, speed

CURVES = ("piecewise", "shaped", "akima")
POINTS = 400  # loads at which models are compared, besides those of the samples
MARGIN = 1.3  # factor beyond the smallest and largest sample that is plotted


class Disagreement(NamedTuple):
    """Where models differ most: load [units], highest / lowest speed - 1, and the two models."""

    load: float
    share: float
    lowest: str
    highest: str


@dataclass(frozen=True, eq=False)
class DeviceFits:
    """A device's samples and all models fitted to them."""

    device: DeviceSpeeds

    @cached_property
    def models(self) -> Mapping[str, SpeedModel]:
        """The model of each kind. Raises InputError if there are no samples."""
        return {kind: fit_device(self.device, kind) for kind in KINDS}

    @property
    def chosen(self) -> SpeedModel:
        """The model of the kind that the device's file requests."""
        return self.models[self.device.model]

    @property
    def dropped(self) -> tuple[Sample, ...]:
        """Samples that were dropped because they violate the assumed shape of the curve."""
        shaped = self.models["shaped"]
        return shaped.dropped if isinstance(shaped, Piecewise) else ()

    @cached_property
    def loads(self) -> FloatArray:
        """Loads [units] at which models are compared: the samples' loads, and POINTS more."""
        own = np.unique([sample.load for sample in self.device.samples])
        high = min(own[-1] * MARGIN, self.device.capacity)
        grid = np.geomspace(min(own[0] / MARGIN, high), high, POINTS)
        return np.union1d(grid, own[own <= high])

    @cached_property
    def speeds(self) -> Mapping[str, FloatArray]:
        """Speeds [units/s] of each kind of model at `loads`."""
        return {kind: model.speed(self.loads) for kind, model in self.models.items()}

    def worst(self, kinds: Sequence[str] = CURVES) -> Disagreement:
        """Where the models of these kinds differ most."""
        table = np.array([self.speeds[kind] for kind in kinds])
        share = table.max(axis=0) / table.min(axis=0) - 1
        at = int(np.argmax(share))
        lowest, highest = kinds[int(table[:, at].argmin())], kinds[int(table[:, at].argmax())]
        return Disagreement(float(self.loads[at]), float(share[at]), lowest, highest)

    def uncertainty_at(self, load: float) -> float:
        """Half width of the confidence interval at a load, relative to the time, interpolated."""
        samples = pooled(self.device.samples)
        widths = [sample.half_width / sample.seconds for sample in samples]
        return float(np.interp(load, [sample.load for sample in samples], widths))

    @property
    def uncertainty(self) -> float:
        """The largest half width of a sample's confidence interval, relative to its time."""
        return max(sample.half_width / sample.seconds for sample in self.device.samples)


def most_disputed(fits: Sequence[DeviceFits], count: int) -> list[DeviceFits]:
    """Return the `count` devices whose models differ most, in their original order."""
    if len(fits) <= count:
        return list(fits)
    order = np.argsort([-one.worst().share for one in fits], kind="stable")[:count]
    return [fits[i] for i in np.sort(order)]


COLUMNS = 3
PANEL = (3.1, 2.3)  # inches
LEGEND_COLUMNS = 2  # a panel
INK, FAINT, ALARM = "#262a30", "#8a9099", "#cc3311"
LINES = {
    "constant": {"color": FAINT, "linestyle": "--", "linewidth": 0.9},
    "piecewise": {"color": "#4477aa", "linewidth": 1.6},
    "shaped": {"color": "#228833", "linewidth": 1.2, "linestyle": (0, (5, 1.5))},
    "akima": {"color": "#ee6677", "linewidth": 1.0},
    "time": {"color": "#aa3377", "linewidth": 1.0, "linestyle": ":"},
}


def draw_fits(
    fits: Sequence[DeviceFits], given: Mapping[str, Sequence[float]] | None = None
) -> Any:
    """Return a figure with a panel for each device.

    given: name of a device in `fits` -> loads [units] of a plan on this device's curve; they are
    marked.
    """
    columns = 2 if len(fits) == 4 else min(COLUMNS, len(fits))
    rows = -(-len(fits) // columns)
    with styled():
        figure, panels = new_figure(rows, columns, PANEL[0] * columns, PANEL[1] * rows + 0.5)
        for axes, one in zip(panels, fits, strict=False):
            _draw(axes, one, (given or {}).get(one.device.name, ()))
        for axes in panels[len(fits) :]:
            axes.set_axis_off()
        _legend(figure, panels, LEGEND_COLUMNS * columns)
    return figure


def _legend(figure: Any, panels: Sequence[Any], columns: int) -> None:
    seen: dict[str, Any] = {}
    for axes in panels:
        handles, labels = axes.get_legend_handles_labels()
        seen |= dict(zip(labels, handles, strict=True))
    figure.legend(seen.values(), seen.keys(), loc="outside lower center", ncols=columns)


def _draw(axes: Any, fits: DeviceFits, given: Sequence[float]) -> None:
    device, worst = fits.device, fits.worst()
    curves = np.array([fits.speeds[kind] for kind in CURVES])
    axes.fill_between(fits.loads, curves.min(axis=0), curves.max(axis=0), color="#ccbb44",
                      alpha=0.45, linewidth=0, label="fits disagree")  # fmt: skip
    for kind, style in LINES.items():
        axes.plot(fits.loads, fits.speeds[kind], label=kind, **style)
    dropped = set(fits.dropped)
    _points(axes, [s for s in device.samples if s.status == "ok" and s not in dropped],
            "sample", marker="o", color=INK)  # fmt: skip
    _points(axes, [s for s in device.samples if s in dropped], "dropped by shaped", marker="x",
            color=ALARM)  # fmt: skip
    _points(axes, [s for s in device.samples if s.status == "slower" and s not in dropped],
            "slower than", marker="v", color=INK)  # fmt: skip
    if worst.share >= 0.01:
        axes.axvline(worst.load, color=FAINT, linestyle=":", linewidth=0.8)
        said = f"{percent(worst.share)} apart at {count(round(worst.load))}"
        axes.annotate(said, (0.98, 0.98), xycoords="axes fraction", ha="right", va="top",
                      fontsize=6.5, color=INK,
                      bbox={"facecolor": "white", "edgecolor": "none", "pad": 1})  # fmt: skip
    if np.isfinite(device.capacity):
        axes.axvline(device.capacity, color=ALARM, linewidth=1, label="capacity")
    loads = np.array([load for load in given if load > 0])
    if loads.size:
        axes.plot(loads, fits.chosen.speed(loads), marker="D", markersize=7, color="none",
                  markeredgecolor=ALARM, markeredgewidth=1.4, linestyle="none",
                  label="load in this plan")  # fmt: skip
    axes.set_title(shown_name(device.name))
    axes.set(xscale="log", xlabel="load [units]", ylabel="speed [units/s]")
    axes.yaxis.set_major_formatter(lambda speed, _: _short(speed))
    axes.set_ylim(0, 1.12 * float(max(curves.max(), *map(_top, device.samples))))


def _top(sample: Sample) -> float:
    """Return the upper end of a sample's interval [units/s], at most 1.5 times its speed."""
    return sample.speed / max(1 - sample.half_width / sample.seconds, 2 / 3)


def _points(axes: Any, samples: Sequence[Sample], label: str, **style: Any) -> None:
    """Draw samples with confidence intervals, converted from time to speed."""
    if not samples:
        return
    loads = np.array([s.load for s in samples])
    seconds = np.array([s.seconds for s in samples])
    half = np.minimum([s.half_width for s in samples], 0.99 * seconds)
    speeds = loads / seconds
    bars = [speeds - loads / (seconds + half), loads / (seconds - half) - speeds]
    axes.errorbar(loads, speeds, yerr=bars, linestyle="none", markersize=3.2, elinewidth=0.8,
                  capsize=1.5, zorder=3, label=label, **style)  # fmt: skip


def _short(value: float) -> str:
    for size, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g} {unit}"
    return f"{value:g}"


MAP_PANEL = (3.5, 2.6)  # inches
MAP_POINTS = 120  # along each side of the map
LEVELS = 9  # lines of equal speed
SECTIONS = 4  # widths
TICKS, SHORT = 7, 1e4  # labels along a side, if they are short; of long ones four
SECTION_COLOURS = ("#4477aa", "#228833", "#ccbb44", "#ee6677")


def draw_surfaces(surfaces: Mapping[str, SpeedSurface]) -> Any:
    """Return a figure with two panels for each device: the map, and sections at some widths."""
    with styled():
        figure, panels = new_figure(
            len(surfaces), 2, 2 * MAP_PANEL[0], MAP_PANEL[1] * len(surfaces)
        )
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
    """Plot the speed at a few widths over the height, and the speed of squares over their side."""
    heights = _along(surface.heights)
    places = np.unique(np.linspace(0, surface.widths.size - 1, SECTIONS).round().astype(int))
    for i, color in zip(places, SECTION_COLOURS, strict=False):
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
    """Label as many grid points as fit; they may lie within one decade."""
    most = TICKS if knots[-1] < SHORT else 4
    shown = knots[np.unique(np.linspace(0, knots.size - 1, most).round().astype(int))]
    axis.set_ticks(shown, labels=[count(float(knot)) for knot in shown])
    axis.set_ticks([], minor=True)


def _along(knots: FloatArray) -> FloatArray:
    if knots.size == 1:
        return knots
    return np.union1d(np.geomspace(knots[0], knots[-1], MAP_POINTS), knots)


MAX_PANELS = 12
MAX_ROWS = 60
CSS_DPI = 96


@dataclass(frozen=True)
class SpeedRow:
    """A device: curve, load, speed and time at it, uncertainty, times by other models."""

    name: str
    curve: str
    load: str
    speed: str
    seconds: str
    half_width: str
    others: str


@dataclass(frozen=True)
class SpeedSection:
    """A picture of the curves, a data: URI, `width` pixels wide, and a row for each device."""

    picture: str
    width: int
    rows: list[SpeedRow]
    curves: int
    drawn: int
    devices: int


def speed_section(plan: Plan) -> SpeedSection | None:
    """Return the section, or None for a plan made without speed curves.

    If there are many curves or devices, only those that compute longest are drawn and listed.
    """
    if not plan.platform.has_curves:
        return None
    fits: dict[int, DeviceFits] = {}
    loads: dict[int, list[float]] = {}
    latest: dict[int, float] = {}
    for b, device in enumerate(plan.platform.devices):
        if device.curve is not None:
            key = id(device.curve)
            fits.setdefault(key, DeviceFits(device.curve))
            loads.setdefault(key, []).append(float(plan.certificate.weights[b]))
            latest[key] = max(latest.get(key, 0.0), float(plan.prediction.compute[b]))
    shown = set(sorted(fits, key=lambda key: -latest[key])[:MAX_PANELS])
    drawn = [fits[key] for key in fits if key in shown]
    figure = draw_fits(drawn, {fits[key].device.name: loads[key] for key in shown})
    chosen = np.sort(np.argsort(-plan.prediction.compute, kind="stable")[:MAX_ROWS])
    rows = [_row(plan, b, fits) for b in chosen.tolist()]
    width = round(figure.get_figwidth() * CSS_DPI)
    return SpeedSection(
        figure_uri(figure), width, [row for row in rows if row is not None],
        len(fits), len(drawn), plan.platform.k,
    )  # fmt: skip


def _row(plan: Plan, b: int, fits: dict[int, DeviceFits]) -> SpeedRow | None:
    device = plan.platform.devices[b]
    if device.curve is None:
        return None
    one = fits[id(device.curve)]
    load, seconds = float(plan.certificate.weights[b]), float(plan.prediction.compute[b])
    half_width = float(one.uncertainty_at(load)) * seconds
    others = [load / float(one.models[kind].speed(load)) for kind in CURVES]
    kind = f"{device.curve.model}, {count(len(device.curve.samples))} samples"
    return SpeedRow(
        device.name,
        kind if device.curve.name == device.name else f"{device.curve.name}: {kind}",
        count(load),
        speed(load / seconds) if seconds > 0 else "",
        duration(seconds),
        f"± {percent(half_width / seconds)}" if half_width > 0 else "",
        f"{duration(min(others))} to {duration(max(others))}",
    )

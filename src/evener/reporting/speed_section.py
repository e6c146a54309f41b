"""The section on speed curves: each device's load and speed on its curve, with uncertainty."""

from __future__ import annotations

import base64
from dataclasses import dataclass

import numpy as np

from evener.plans.plan import Plan
from evener.reporting.plots import figure_bytes
from evener.reporting.speed_plots import CURVES, DeviceFits, draw_fits
from evener.wording import count, duration, percent, speed

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
    picture = base64.b64encode(figure_bytes(figure, "png")).decode()
    chosen = np.sort(np.argsort(-plan.prediction.compute, kind="stable")[:MAX_ROWS])
    rows = [_row(plan, b, fits) for b in chosen.tolist()]
    width = round(figure.get_figwidth() * CSS_DPI)
    return SpeedSection(
        f"data:image/png;base64,{picture}", width, [row for row in rows if row is not None],
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

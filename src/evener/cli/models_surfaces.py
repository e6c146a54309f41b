"""`evener models` of a file of surfaces: how far shape matters, and their pictures."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evener.cli.machines import safe
from evener.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evener.cli.output import Output
    from evener.models import SpeedSurface

MAX_ROWS, MAX_DRAWN = 60, 12


def show_surfaces(args: argparse.Namespace, out: Output) -> int:
    """Read, print, draw."""
    from evener.filing.surfaces import read_surfaces

    surfaces = read_surfaces(args.speeds)
    for name in args.device or ():
        if name not in surfaces:
            raise UsageError(f"{args.speeds} has no surface {name!r}")
    if args.device:
        surfaces = {name: surfaces[name] for name in args.device}
    _print(surfaces, args.load, out)
    written = _drawn(args.plot, surfaces, out) if args.plot else []
    found = [_to_dict(name, surface, args.load) for name, surface in surfaces.items()]
    out.result({"surfaces": found, "written": written})
    return 0


def _print(surfaces: Mapping[str, SpeedSurface], load: float | None, out: Output) -> None:
    from evener.reporting.numbers import NOTHING, count, duration, percent

    header = ["device", "heights", "widths", "capacity", "slowest /s", "fastest /s",
              "shape matters"]  # fmt: skip
    header += [] if load is None else ["speed of its square", "time"]
    rows = []
    for name, one in list(surfaces.items())[:MAX_ROWS]:
        row = [
            safe(name),
            *(f"{x.size}: {count(x[0])} to {count(x[-1])}" for x in (one.heights, one.widths)),
            NOTHING if math.isinf(one.capacity) else count(one.capacity),
            f"{one.speeds.min():,.6g}",
            f"{one.speeds.max():,.6g}",
            percent(shape_share(one)),
        ]
        if load is not None:
            side = math.sqrt(load)
            row += [f"{one.speed(side, side):,.6g}", duration(one.time(side, side))]
        rows.append(row)
    if len(surfaces) > MAX_ROWS:
        rows.append([f"... and {len(surfaces) - MAX_ROWS:,} more", *[""] * (len(header) - 1)])
    out.table(header, rows)


def shape_share(surface: SpeedSurface) -> float:
    """Return by how much, at most, speed differs from that of the square of the same area.

    Over the points of the grid whose square is within it: where it is little, a curve by area
    says as much as the surface.
    """
    sides = np.sqrt(np.outer(surface.heights, surface.widths))
    ends = [(x[0], x[-1]) for x in (surface.heights, surface.widths)]
    inside = (sides >= max(low for low, _ in ends)) & (sides <= min(high for _, high in ends))
    if not inside.any():
        return 0.0
    ratio = surface.speeds[inside] / surface.speed(sides[inside], sides[inside])
    return float(np.maximum(ratio, 1 / ratio).max() - 1)


def _drawn(path: str, surfaces: Mapping[str, SpeedSurface], out: Output) -> list[str]:
    from evener.reporting.plots import save_figure
    from evener.reporting.surface_plots import draw_surfaces

    shown = dict(list(surfaces.items())[:MAX_DRAWN])
    with out.progress("Drawing") as progress:
        progress("surfaces", 0.1)
        save_figure(path, draw_surfaces(shown))
    if len(shown) < len(surfaces):
        out.note(
            f"note: {path} shows the first {len(shown)} of {len(surfaces)} surfaces; "
            "--device chooses others"
        )
    out.say(f"Written: {path}")
    return [path]


def _to_dict(name: str, surface: SpeedSurface, load: float | None) -> dict[str, Any]:
    values: dict[str, Any] = {
        "name": name,
        "heights": surface.heights.tolist(),
        "widths": surface.widths.tolist(),
        "speeds": surface.speeds.tolist(),
        "capacity": None if math.isinf(surface.capacity) else surface.capacity,
        "shape_matters": shape_share(surface),
    }
    if load is not None:
        side = math.sqrt(load)
        seconds = surface.time(side, side)
        values["at_load"] = {
            "load": load,
            "speed": surface.speed(side, side),
            "seconds": None if math.isinf(seconds) else seconds,
        }
    return values

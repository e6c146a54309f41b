"""Speed surfaces in `evener models`: how far shape matters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evener.cli.machines import safe

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evener.cli.output import Output
    from evener.platforms.models.fitting import SpeedSurface


class Surfaces:
    """Devices of a file of surfaces; see evener.cli.commands.models.Kind."""

    noun, key = "surface", "surfaces"
    header: Sequence[str] = ("device", "heights", "widths", "capacity", "slowest /s", "fastest /s",
              "shape matters")  # fmt: skip
    at_load: Sequence[str] = ("speed of its square", "time")
    most_drawn, which = 12, "the first {} of {} surfaces"

    def read(self, file: str) -> Mapping[str, SpeedSurface]:
        """All surfaces by name."""
        from evener.io.machines.surfaces import read_surfaces

        return read_surfaces(file)

    def items(
        self,
        chosen: Mapping[str, SpeedSurface],
        file: str,  # noqa: ARG002
        out: Output,  # noqa: ARG002
    ) -> Mapping[str, SpeedSurface]:
        """All of them."""
        return chosen

    def row(self, name: str, item: SpeedSurface, load: float | None) -> list[str]:
        """Its grid, and what shape matters there."""
        from evener.reporting.numbers import NOTHING, count, duration, percent

        added: tuple[str, ...] = ()
        if load is not None:
            side = math.sqrt(load)
            added = f"{item.speed(side, side):,.6g}", duration(item.time(side, side))
        return [
            safe(name),
            *(f"{x.size}: {count(x[0])} to {count(x[-1])}" for x in (item.heights, item.widths)),
            NOTHING if math.isinf(item.capacity) else count(item.capacity),
            f"{item.speeds.min():,.6g}",
            f"{item.speeds.max():,.6g}",
            percent(shape_share(item)),
            *added,
        ]

    def to_dict(self, name: str, item: SpeedSurface, load: float | None) -> dict[str, Any]:
        """The same, with all speeds."""
        values: dict[str, Any] = {
            "name": name,
            "heights": item.heights.tolist(),
            "widths": item.widths.tolist(),
            "speeds": item.speeds.tolist(),
            "capacity": None if math.isinf(item.capacity) else item.capacity,
            "shape_matters": shape_share(item),
        }
        if load is not None:
            side = math.sqrt(load)
            seconds = item.time(side, side)
            values["at_load"] = {
                "load": load,
                "speed": item.speed(side, side),
                "seconds": None if math.isinf(seconds) else seconds,
            }
        return values

    def figure(self, items: Mapping[str, SpeedSurface]) -> Any:
        """Two panels for each of the first ones."""
        from evener.reporting.surface_plots import draw_surfaces

        return draw_surfaces(dict(list(items.items())[: self.most_drawn]))


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

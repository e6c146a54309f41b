"""What every block sends, sorted: bars beside their mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evener.plans import Plan
from evener.reporting.numbers import count, plural, ratio

HEIGHT = 100.0  # of the tallest bar, in units of the chart; a bar is 1 wide
NAMED = 256  # bars that say their name when pointed at; more would be too many elements
GAP = 0.12  # between bars that are few enough to be told apart


@dataclass(frozen=True)
class VolumeBar:
    """A bar: where it begins and how high it is [units of the chart], and what it stands for."""

    x: float
    height: float
    title: str


@dataclass(frozen=True)
class VolumeChart:
    """The bars, or one outline of all where they are many; the mean's height; the words."""

    width: int
    height: float
    bar_width: float
    bars: list[VolumeBar]
    outline: str
    mean: float
    most: str
    mean_text: str
    sentence: str


def volume_chart(plan: Plan) -> VolumeChart | None:
    """Return the chart of the blocks that are not empty, the largest volume first; None where
    nothing is sent.
    """
    used = np.flatnonzero(plan.certificate.vertices > 0)
    volumes = plan.certificate.volumes[used]
    names = [plan.platform.names[b] for b in used]
    most, mean = int(volumes.max()), float(volumes.mean())
    if most == 0:
        return None
    order = np.argsort(-volumes, kind="stable")
    heights = np.round(HEIGHT * volumes[order] / most, 2).tolist()
    few = volumes.size <= NAMED
    bars = [
        VolumeBar(x, height, f"{names[b]}: {count(int(volumes[b]))}")
        for x, (height, b) in enumerate(zip(heights, order.tolist(), strict=True))
    ]
    outline = "".join(f"V{HEIGHT - height:g}h1" for height in heights)
    busiest = names[int(order[0])]
    return VolumeChart(
        width=volumes.size,
        height=HEIGHT,
        bar_width=1 - GAP if volumes.size <= NAMED / 2 else 1,
        bars=bars if few else [],
        outline="" if few else f"M0 {HEIGHT:g}{outline}V{HEIGHT:g}z",
        mean=round(HEIGHT - HEIGHT * mean / most, 2),
        most=count(most),
        mean_text=count(round(mean, 1)),
        sentence=f"{busiest} sends most: {count(most)} values, {ratio(most / mean)} the mean of "
        f"{plural(volumes.size, 'block')}.",
    )

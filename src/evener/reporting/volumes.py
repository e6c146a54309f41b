"""What every block sends, sorted: a named bar a block, beside their mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evener.plans import Plan
from evener.reporting.numbers import count, plural, ratio

MAX_BARS = 64  # blocks that have a bar: those that send most


@dataclass(frozen=True)
class VolumeBar:
    """A block: its number, colour, device and volume; bar: that of the largest [%]."""

    number: int
    colour: str
    name: str
    bar: float
    text: str


@dataclass(frozen=True)
class VolumeChart:
    """The bars, the largest first; mean: where it lies [%], and in words; blocks: how many send."""

    bars: list[VolumeBar]
    mean: float
    mean_text: str
    blocks: int
    sentence: str

    @property
    def name_width(self) -> int:
        """Characters that the column of names is wide."""
        return min(max(6, *(len(bar.name) for bar in self.bars)), 18)


def volume_chart(plan: Plan, colours: Sequence[str]) -> VolumeChart | None:
    """Return the chart of the blocks that are not empty, the largest volume first; None where
    nothing is sent. colours (k,): of the blocks in the pictures.
    """
    used = np.flatnonzero(plan.certificate.vertices > 0)
    volumes, names = plan.certificate.volumes, plan.platform.names
    most, mean = int(volumes[used].max()), float(volumes[used].mean())
    if most == 0:
        return None
    order = used[np.argsort(-volumes[used], kind="stable")]
    bars = [
        VolumeBar(b, colours[b], names[b], round(100 * float(volumes[b]) / most, 2),
                  count(int(volumes[b])))
        for b in order[:MAX_BARS].tolist()
    ]  # fmt: skip
    return VolumeChart(
        bars,
        mean=round(100 * mean / most, 2),
        mean_text=count(round(mean, 1)),
        blocks=used.size,
        sentence=f"{names[order[0]]} sends most: {count(most)} values, {ratio(most / mean)} the "
        f"mean of {plural(used.size, 'block')}",
    )

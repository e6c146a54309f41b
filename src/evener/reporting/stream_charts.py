"""Bars of a stream plan's page: loads of devices, a histogram of loads, and links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.plans.stream_plan import StreamPlan
from evener.reporting.bars import FOREMOST, MAX_BARS, place
from evener.streams.period import Period
from evener.wording import count, duration, percent, plural

LINKS_SHOWN = 16
CLASSES = 10  # of loads, of equal width


class DeviceBar(NamedTuple):
    """One device: lengths of its parts [%], texts, and whether it is the busiest."""

    number: int
    colour: str
    name: str
    compute: float
    communicate: float
    filters: str
    total: str
    split: str
    is_last: bool


class ClassBar(NamedTuple):
    """A class of devices by their load: name, length [%], how many they are."""

    name: str
    bar: float
    text: str


class LinkBar(NamedTuple):
    """A link: name, length [%], seconds as text, share of the period, whether that exceeds 1."""

    name: str
    bar: float
    text: str
    share: str
    is_over: bool


@dataclass(frozen=True)
class LoadCharts:
    """Loads of devices: bars, a histogram if there are many, and the devices without filters.

    If there are many devices, only the busiest have bars. bound: position of the lower bound [%].
    """

    bars: list[DeviceBar]
    classes: list[ClassBar]
    bound: float
    shown: int
    idle: str

    @property
    def name_width(self) -> int:
        """Width of the column of names in characters; longer names are shortened."""
        return min(max([6, *(len(bar.name) for bar in self.bars)]), 18)


def load_charts(plan: StreamPlan, period: Period, colours: Sequence[str]) -> LoadCharts:
    """Return the charts of the devices' loads. period: of the plan; colours: of its devices."""
    k, loads, names = plan.platform.k, period.loads, plan.platform.names
    counts = np.bincount(plan.part, minlength=k)
    busy = np.flatnonzero((counts > 0) | (loads > 0))
    chosen = busy
    if busy.size > MAX_BARS:
        chosen = np.argsort(-loads, kind="stable")[:FOREMOST]
    scale = 100 / (1.02 * max(plan.period, plan.bound, 1e-300))
    # Where both overlap the longer one counts, and the other lies within it.
    beside = period.loads - period.computing
    bars = [
        DeviceBar(
            p, colours[p], names[p],
            compute=place(period.computing[p] * scale),
            communicate=place(max(beside[p], 0.0) * scale),
            filters=f"{counts[p]:,}",
            total=duration(float(loads[p])),
            split=f"{duration(float(period.computing[p]))} computing, "
            f"{duration(float(period.communicating[p]))} communicating",
            is_last=p == period.bottleneck,
        )
        for p in chosen.tolist()
    ]  # fmt: skip
    return LoadCharts(
        bars,
        classes_of(loads, counts, plan.period) if busy.size > MAX_BARS else [],
        place(plan.bound * scale),
        chosen.size,
        plural(int((counts == 0).sum()), "device") if (counts == 0).any() else "",
    )


def classes_of(loads: FloatArray, counts: IntArray, period: float) -> list[ClassBar]:
    """Return a histogram: devices without filters, with a load up to a tenth of the period, etc."""
    busy = loads[counts > 0] / max(period, 1e-300)
    level = np.clip(np.ceil(busy * CLASSES - 1e-9).astype(np.int64) - 1, 0, CLASSES - 1)
    sizes = np.bincount(level, minlength=CLASSES)
    idle = int((counts == 0).sum())
    most = max(int(sizes.max()), idle, 1)
    named = [("no filter", idle)] if idle else []
    step = 100 // CLASSES
    named += [(f"{i * step} to {(i + 1) * step} %", int(size)) for i, size in enumerate(sizes)]
    return [ClassBar(name, place(100 * size / most), count(size)) for name, size in named]


def link_bars(period: Period) -> list[LinkBar]:
    """Return the links that carry bytes for the longest time."""
    order = np.argsort(-period.links, kind="stable")[:LINKS_SHOWN]
    scale = 100 / max(period.slowest_link, period.seconds, 1e-300)
    return [
        LinkBar(
            period.link_names[i],
            place(period.links[i] * scale),
            duration(float(period.links[i])),
            percent(period.links[i] / period.seconds if period.seconds > 0 else None),
            bool(period.links[i] > period.seconds),
        )
        for i in order.tolist()
        if period.links[i] > 0
    ]

"""The charts of predicted times and of loads: a bar for each device, lengths in percent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evener.arrays import BoolArray, FloatArray, IntArray
from evener.plans.plan import Plan
from evener.reporting.tables import off_targets
from evener.wording import NOTHING, count, duration, memory, percent, plural, ranges

MAX_BARS = 32  # devices up to which all have a bar
FOREMOST = 24  # bars shown if there are more devices
WHOLE = 1000  # [units] from which loads are shown without fractions
NAMES_SHOWN = 8  # ranges of names of unused devices that are listed


@dataclass(frozen=True)
class TimeBar:
    """The time of one device: lengths of its parts [%], texts, whether it is the slowest.

    number, colour: of its block in the pictures. communicate: communication that does not overlap
    with computing, without waiting; waiting: for shared links and for partners. exchange, total:
    times as text; split: all parts as text.
    """

    number: int
    colour: str
    name: str
    compute: float
    communicate: float
    waiting: float
    fixed: float
    exchange: str
    total: str
    split: str
    is_last: bool


@dataclass(frozen=True)
class LoadBar:
    """The load of one device: bar, target, limits and memory as positions [%] on one scale.

    low, high: None if they are not binding. cap: the load that fills the memory, None beyond the
    scale. filled: share of the memory in use [%], None without a cap; memory: as text.
    """

    number: int
    colour: str
    name: str
    holds: bool
    bar: float
    target: float | None
    low: float | None
    high: float | None
    cap: float | None
    load: str
    off: str
    memory: str
    filled: float | None


@dataclass(frozen=True)
class DeviceBars:
    """Both charts, of times and of loads.

    bound: position of the lower bound [%]. off: heading of the deviations. used, shown: numbers of
    devices with a block, and with a bar. unused: the sentence on devices without a block, "" if all
    have a block.
    """

    times: list[TimeBar]
    loads: list[LoadBar]
    bound: float
    off: str
    used: int
    shown: int
    unused: str

    @property
    def name_width(self) -> int:
        """Width of the column of names in characters; longer names are shortened."""
        names = [bar.name for bar in self.times] + [bar.name for bar in self.loads]
        return name_width(names)


def device_bars(plan: Plan, colours: Sequence[str]) -> DeviceBars:
    """Return the bars of the devices in use; colours (k,): of all blocks in the pictures."""
    used = np.flatnonzero(plan.certificate.vertices > 0)
    return DeviceBars(
        time_bars(plan, _latest(plan, used), colours),
        load_bars(plan, _tightest(plan, used), colours),
        place(plan.prediction.bound * _time_scale(plan)),
        off="" if _targets_say_nothing(plan) else _off_heading(plan),
        used=used.size,
        shown=min(used.size, FOREMOST) if used.size > MAX_BARS else used.size,
        unused=unused_devices(plan),
    )


def unused_devices(plan: Plan) -> str:
    """Return a sentence on devices without a block, "12 devices unused: old0..old11", or "".

    The sentence includes the reason, if the plan was free to leave devices unused.
    """
    names = [plan.platform.names[b] for b in np.flatnonzero(plan.certificate.vertices == 0)]
    if not names:
        return ""
    why = " because the iteration is slower with them" * plan.certificate.contract.may_be_unused
    return f"{plural(len(names), 'device')} unused{why}: {ranges(names, NAMES_SHOWN)}"


def time_bars(plan: Plan, chosen: IntArray, colours: Sequence[str]) -> list[TimeBar]:
    """Return a bar for each chosen device."""
    prediction, names, scale = plan.prediction, plan.platform.names, _time_scale(plan)
    clock = plan.prediction.clock
    shown = prediction.communicate - prediction.overlapped
    contention = np.minimum(prediction.contention, shown)
    waiting, ends = contention + prediction.delay, prediction.ends  # as in the table of a plan
    return [
        TimeBar(
            b,
            colours[b],
            names[b],
            compute=place(prediction.compute[b] * scale),
            communicate=place((shown[b] - contention[b]) * scale),
            waiting=place(waiting[b] * scale),
            fixed=place(prediction.fixed[b] * scale),
            exchange=clock(prediction.communicate[b]) if plan.platform.has_links else NOTHING,
            total=clock(ends[b]),
            split=_split(plan, b),
            is_last=b == prediction.bottleneck,
        )
        for b in chosen.tolist()
    ]


def load_bars(plan: Plan, chosen: IntArray, colours: Sequence[str]) -> list[LoadBar]:
    """Return a bar for each chosen device, in this order."""
    certificate, contract = plan.certificate, plan.certificate.contract
    weights, caps = certificate.weights, _caps_in_units(plan)
    binds, targets = _binding(plan), contract.targets
    ends = np.where(binds, contract.high, weights)
    if not _targets_say_nothing(plan):
        ends = np.maximum(ends, targets)
    longest = max(float(np.maximum(weights, ends)[chosen].max()), 1e-300)
    near = caps[chosen][caps[chosen] < 1.5 * longest]
    scale = 100 / (1.02 * max([longest, *near.tolist()]))
    off, names = off_targets(plan)[:, 0], plan.platform.names
    bars = []
    for b in chosen.tolist():
        has_cap = bool(np.isfinite(contract.caps[b]) or np.isfinite(caps[b]))
        filled = _filled(plan, b, float(caps[b])) if has_cap else None
        bars.append(
            LoadBar(
                b,
                colours[b],
                names[b],
                bool(certificate.holds[b]),
                bar=place(weights[b] * scale),
                target=None if _targets_say_nothing(plan) else place(targets[b] * scale),
                low=place(contract.low[b] * scale) if binds[b] else None,
                high=place(contract.high[b] * scale) if binds[b] else None,
                cap=place(caps[b] * scale) if caps[b] * scale <= 100 else None,
                load=_units(float(weights[b])),
                off="" if _targets_say_nothing(plan) else _off(float(off[b])),
                memory=_memory(plan, b) if has_cap else "no memory stated",
                filled=None if filled is None else place(100 * filled),
            )
        )
    return bars


def _latest(plan: Plan, used: IntArray) -> IntArray:
    """Return the devices `used`; if there are many, only the slowest, by descending time."""
    if used.size <= MAX_BARS:
        return used
    return used[np.argsort(-plan.prediction.seconds[used], kind="stable")[:FOREMOST]]


def _tightest(plan: Plan, used: IntArray) -> IntArray:
    """Return the devices `used`; if there are many, only those closest to a contract limit."""
    if used.size <= MAX_BARS:
        return used
    contract, certificate = plan.certificate.contract, plan.certificate
    room = contract.high - contract.low
    middle = (contract.high + contract.low) / 2
    with np.errstate(invalid="ignore"):
        off = np.abs(certificate.weights - middle) / np.where(room > 0, room / 2, 1.0)
    pressing = np.where(_binding(plan), off, 0.0)
    pressing = np.maximum(pressing, certificate.bytes / contract.caps)
    pressing = np.where(certificate.holds, pressing, np.inf)[used]
    order = np.lexsort((-plan.prediction.seconds[used], -pressing))
    return np.sort(used[order[:FOREMOST]])


def _binding(plan: Plan) -> BoolArray:
    """Return whether a block's low or high is stricter than its memory, (k,)."""
    contract, total = plan.certificate.contract, plan.certificate.weights.sum()
    free = contract.high >= np.minimum(total, plan.platform.memory_units) * (1 - 1e-9)
    return np.asarray((contract.low > 0) | ~free)


def _targets_say_nothing(plan: Plan) -> bool:
    """Whether the targets just equal the weights, as in plans for seconds of older versions."""
    contract, weights = plan.certificate.contract, plan.certificate.weights
    if contract.may_be_unused:
        return False
    return not _binding(plan).any() and np.array_equal(contract.targets, weights)


def _off_heading(plan: Plan) -> str:
    return "off optimum" if plan.certificate.contract.may_be_unused else "off target"


def _caps_in_units(plan: Plan) -> FloatArray:
    """Return the load that fills each device's memory, (k,), given its block's bytes per unit."""
    certificate = plan.certificate
    some = certificate.bytes > 0
    growth = np.full(some.size, np.inf)
    growth[some] = certificate.contract.caps[some] / certificate.bytes[some]
    units = np.where(some, certificate.weights, 1.0) * growth
    return np.asarray(np.minimum(plan.platform.memory_units, units))


def _filled(plan: Plan, b: int, units: float) -> float:
    """Return the share of the memory in use, in bytes or in units, whichever is larger."""
    certificate = plan.certificate
    by_units = float(certificate.weights[b]) / units if units > 0 else 0.0
    by_bytes = float(certificate.bytes[b]) / float(certificate.contract.caps[b])
    return round(max(by_bytes, by_units), 3)


def _memory(plan: Plan, b: int) -> str:
    certificate, units = plan.certificate, float(plan.platform.memory_units[b])
    words = []
    if np.isfinite(cap := float(certificate.contract.caps[b])):
        words.append(f"{memory(float(certificate.bytes[b]))} of {memory(cap)}")
    if np.isfinite(units):
        words.append(f"{count(float(certificate.weights[b]))} of {count(units)} units")
    return f"memory: {' and '.join(words)}"


def _units(weight: float) -> str:
    """Return a load as text, with decimals if it is below WHOLE."""
    return count(round(weight) if weight >= WHOLE else weight)


def _off(share: float) -> str:
    """Return a deviation with one decimal: "+2.3 %"."""
    if not np.isfinite(share):
        return NOTHING
    text = percent(abs(share))
    return text if text == percent(0.0) else f"{'+' if share > 0 else '−'}{text}"


def _split(plan: Plan, b: int) -> str:
    """Return the parts of a device's time, "3.0 ms + 1.0 ms", minus what overlaps."""
    prediction = plan.prediction
    if not plan.platform.has_links and not prediction.fixed.any():
        return plan.prediction.clock(prediction.compute[b])
    text = (
        f"{duration(float(prediction.compute[b]))} + {duration(float(prediction.communicate[b]))}"
    )
    if prediction.fixed.any():
        text += f" + {duration(float(prediction.fixed[b]))}"
    if prediction.overlapped.any():
        text += f" − {duration(float(prediction.overlapped[b]))}"
    return text


def _time_scale(plan: Plan) -> float:
    """Return the length of one second on the scale [%]."""
    return 100 / (1.02 * max(plan.prediction.makespan, plan.prediction.bound, 1e-300))


class ClassBar(NamedTuple):
    """A class of devices or vertices: name, length [%], and its figure as text."""

    name: str
    bar: float
    text: str


def name_width(names: Iterable[str], most: int = 18) -> int:
    """Return the width of a chart's names in characters: of the longest, from 6 to `most`."""
    return min(max([6, *map(len, names)]), most)


def place(value: float) -> float:
    """Return a position rounded for the page, within 0 to 100."""
    return round(min(max(float(value), 0.0), 100.0), 2)

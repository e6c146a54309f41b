"""Bars, one row a device: load against its limits, and predicted seconds. Lengths in percent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evener.arrays import BoolArray, FloatArray, IntArray
from evener.plans import Plan
from evener.reporting.numbers import NOTHING, count, duration, memory, percent, signed_percent
from evener.reporting.tables import off_targets

MAX_BARS = 128  # beyond that a chart of bars is a wall; the table below has them all


@dataclass(frozen=True)
class LoadBar:
    """One device's load: bar, target, low and high, cap as positions [%] on a common scale.

    within: where the load lies between low (0) and high (100), as position; off: the words.
    """

    name: str
    holds: bool
    bar: float
    target: float
    low: float
    high: float
    cap: float | None
    within: float | None
    load: str
    off: str
    memory: str
    filled: float | None


@dataclass(frozen=True)
class TimeBar:
    """One device's seconds: lengths of its parts [%], the words, whether it is the last.

    communicate: what no interior work hides, waiting for shared links left out; waiting: that.
    """

    name: str
    compute: float
    communicate: float
    waiting: float
    fixed: float
    total: str
    split: str
    is_last: bool


def name_width(bars: Sequence[LoadBar | TimeBar]) -> int:
    """Characters that the column of names is wide; longer ones are cut, and end in dots."""
    return min(max(10, *(len(bar.name) for bar in bars)), 20)


def load_bars(plan: Plan, chosen: IntArray) -> list[LoadBar]:
    """Return a bar for each chosen device, in this order."""
    certificate, units = plan.certificate, plan.platform.memory_units
    contract, weights = certificate.contract, certificate.weights
    # Where nothing but memory binds, the high is all the work: loads would be too short to see.
    asked = np.where(_unbound(plan), weights, contract.high)
    longest = max(float(np.maximum(weights, asked)[chosen].max()), 1e-300)
    capped = units[chosen][np.isfinite(units[chosen])]
    if capped.size and capped.max() < 3 * longest:
        longest = max(longest, float(capped.max()))
    scale = 100 / (1.02 * longest)
    off = off_targets(plan)[:, 0]
    within = _within(weights, contract.low, contract.high)
    names = plan.platform.names
    bars = []
    for b in chosen.tolist():
        cap, used = float(contract.caps[b]), float(certificate.bytes[b])
        marked = bool(units[b] * scale <= 100)
        bars.append(
            LoadBar(
                names[b],
                bool(certificate.holds[b]),
                bar=_place(weights[b] * scale),
                target=_place(contract.targets[b] * scale),
                low=_place(contract.low[b] * scale),
                high=_place(contract.high[b] * scale),
                cap=_place(units[b] * scale) if marked else None,
                within=_place(within[b]),
                load=count(float(weights[b])),
                off=signed_percent(float(off[b])),
                memory=_memory(used, cap),
                filled=_place(100 * used / cap) if np.isfinite(cap) else None,
            )
        )
    return bars


def time_bars(plan: Plan, chosen: IntArray) -> tuple[list[TimeBar], float]:
    """Return a bar for each chosen device, and where the bound of the makespan lies [%]."""
    prediction = plan.prediction
    scale = 100 / (1.02 * max(prediction.makespan, prediction.bound, 1e-300))
    names = plan.platform.names
    shown = prediction.communicate - prediction.overlapped
    waiting = np.minimum(prediction.contention, shown)
    bars = [
        TimeBar(
            names[b],
            compute=_place(prediction.compute[b] * scale),
            communicate=_place((shown[b] - waiting[b]) * scale),
            waiting=_place(waiting[b] * scale),
            fixed=_place(prediction.fixed[b] * scale),
            total=duration(float(prediction.seconds[b])),
            split=_split(plan, b),
            is_last=b == prediction.bottleneck,
        )
        for b in chosen.tolist()
    ]
    return bars, _place(prediction.bound * scale)


def _split(plan: Plan, b: int) -> str:
    """The parts of a device's seconds: "3.0 ms + 1.0 ms", less what happens at once."""
    prediction = plan.prediction
    text = (
        f"{duration(float(prediction.compute[b]))} + {duration(float(prediction.communicate[b]))}"
    )
    if prediction.fixed.any():
        text += f" + {duration(float(prediction.fixed[b]))}"
    if prediction.overlapped.any():
        text += f" − {duration(float(prediction.overlapped[b]))}"
    return text


def tightest(plan: Plan) -> IntArray:
    """Return all devices, or those closest to a limit of their contract, in device order."""
    contract, certificate = plan.certificate.contract, plan.certificate
    if plan.platform.k <= MAX_BARS:
        return np.arange(plan.platform.k)
    within = _within(certificate.weights, contract.low, contract.high)
    off = np.where(_unbound(plan), 0.0, np.abs(within - 50) / 50)
    pressing = np.maximum(off, certificate.bytes / contract.caps)
    pressing = np.where(certificate.holds, pressing, np.inf)
    order = np.lexsort((-plan.prediction.seconds, -pressing))
    return np.sort(order[: MAX_BARS // 2])


def _unbound(plan: Plan) -> BoolArray:
    """(k,) whether a block may weigh anything up to all there is."""
    contract, weights = plan.certificate.contract, plan.certificate.weights
    return np.asarray((contract.low <= 0) & (contract.high >= (1 - 1e-9) * weights.sum()))


def latest(plan: Plan) -> IntArray:
    """Return all devices in their order, or those that finish last, the last first."""
    if plan.platform.k <= MAX_BARS:
        return np.arange(plan.platform.k)
    return np.argsort(-plan.prediction.seconds, kind="stable")[: MAX_BARS // 2]


def _within(weights: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """(k,) position of each weight between its limits [%], the middle where they are one."""
    room = high - low
    return np.asarray(np.where(room > 0, 100 * (weights - low) / np.where(room > 0, room, 1), 50.0))


def _place(value: float) -> float:
    """Round a position for the page, cut off at both ends of the scale."""
    return round(min(max(float(value), 0.0), 100.0), 2)


def _memory(used: float, cap: float) -> str:
    if not np.isfinite(cap):
        return f"{memory(used)}, no cap"
    return f"{memory(used)} of {memory(cap)} ({percent(used / cap)})" if cap else NOTHING

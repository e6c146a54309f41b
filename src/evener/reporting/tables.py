"""A plan as a short table for a screen of text."""

from __future__ import annotations

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.plans import Plan
from evener.reporting.numbers import count, duration, memory, plural, signed_percent

MAX_ROWS = 8
PLAN_COLUMNS = ["device", "load", "target", "off target", "memory", "computes", "talks", "total"]


def plan_rows(plan: Plan) -> tuple[list[str], list[list[str]]]:
    """Return columns and at most nine rows: every device, or runs of equal ones, or the last done.

    A row that stands for several devices shows the range of what they have.
    """
    groups, left_out = _groups(plan)
    rows = [_row(plan, group) for group in groups]
    if left_out:
        rest = f"... and {plural(left_out, 'device')} done sooner"
        rows.append([rest, *[""] * (len(PLAN_COLUMNS) - 1)])
    return list(PLAN_COLUMNS), rows


def _groups(plan: Plan) -> tuple[list[IntArray], int]:
    """Devices of each row, and how many devices no row shows."""
    k = plan.platform.k
    if k <= MAX_ROWS:
        return [np.array([b]) for b in range(k)], 0
    kinds = [(d.kind, d.speed, d.memory, d.memory_units) for d in plan.platform.devices]
    starts = [b for b in range(k) if b == 0 or kinds[b] != kinds[b - 1]]
    if len(starts) <= MAX_ROWS:
        return list(np.split(np.arange(k), starts[1:])), 0
    latest = np.argsort(-plan.prediction.seconds, kind="stable")[:MAX_ROWS]
    return [np.array([b]) for b in latest], k - MAX_ROWS


def _row(plan: Plan, group: IntArray) -> list[str]:
    certificate, prediction = plan.certificate, plan.prediction
    contract = certificate.contract
    names = plan.platform.names
    name = names[group[0]]
    if group.size > 1:
        name = f"{name} .. {names[group[-1]]} ({group.size:,})"
    off = off_target(plan)[group]
    return [
        name if name.isprintable() else repr(name),
        _range([count(value) for value in _ends(certificate.weights[group])]),
        _range([count(value) for value in _ends(contract.targets[group])]),
        _range([signed_percent(value) for value in _ends(off)]),
        memory(float(certificate.bytes[group].max())),
        *(
            duration(float(seconds[group].max()))
            for seconds in (prediction.compute, prediction.communicate, prediction.seconds)
        ),
    ]


def off_target(plan: Plan) -> FloatArray:
    """(k,) weight / target - 1 of each block; not a number where the target is zero."""
    contract, weights = plan.certificate.contract, plan.certificate.weights
    some = contract.targets > 0
    ratio = np.full(weights.shape, np.nan)
    ratio[some] = weights[some] / contract.targets[some] - 1
    return ratio


def _ends(values: FloatArray) -> list[float]:
    return [float(values.min()), float(values.max())]


def _range(ends: list[str]) -> str:
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"

"""A plan as a short table for a terminal, and its predicted times as text."""

from __future__ import annotations

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.plans.plan import Plan
from evener.platforms.platform import RELATIVE, SPMV_SPEEDS, Platform
from evener.wording import (
    NOTHING,
    count,
    memory,
    percent,
    plural,
    printable,
    signed_percent,
)

MAX_ROWS = 8
MIXED = (
    f"No speed is above {RELATIVE:g} units/s, but links are in seconds: if speeds are "
    "relative, multiply them by the real speed of a slow device."
)
OF_PRODUCTS = (
    "The machine's speeds are rows per second of a sparse product (spmv): an iteration is one "
    "product and one exchange. A step of a solver does more and takes longer."
)
RELATIVE_TIMES = (
    "Speeds are relative: 1.00x is the time that all devices would need if always busy."
)
PLAN_COLUMNS = ["device", "load", "target", "off target", "memory", "compute", "exchange", "total"]
SECONDS_COLUMNS = ["device", "load", "share", "memory", "compute", "exchange", "total"]
MEMORY = 4  # index of the column "memory"


def plan_rows(plan: Plan) -> tuple[list[str], list[list[str]]]:
    """Return columns and at most nine rows: all devices, runs of equal devices, or the slowest.

    The row of several devices shows the range of their values.
    """
    groups, left_out = _groups(plan)
    rows = [_row(plan, group) for group in groups]
    if left_out:
        rest = f"... and {plural(left_out, 'device')} that finish earlier"
        rows.append([rest, *[""] * (len(_columns(plan)) - 1)])
    return _columns(plan), rows


def time_remarks(platform: Platform, work: float) -> list[str]:
    """Return remarks on predicted times: on SpMV speeds, missing links, relative speeds.

    work: the load of all devices [units].
    """
    remarks = [OF_PRODUCTS] if SPMV_SPEEDS in platform.name else []
    if platform.has_links:
        slow = platform.speeds.max() <= RELATIVE and not platform.has_curves
        return [*remarks, *([MIXED] if slow else [])]
    remarks += ["No links stated: communication is not predicted."]
    if platform.relative_ideal(work) is not None:
        remarks.append(RELATIVE_TIMES)
    return remarks


def _columns(plan: Plan) -> list[str]:
    """Return SECONDS_COLUMNS for a plan for seconds; else PLAN_COLUMNS, and one per weight."""
    if plan.is_for_seconds:
        return SECONDS_COLUMNS
    more = [f"off {i}" for i in range(1, plan.certificate.contract.n_constraints)]
    return [*PLAN_COLUMNS[:MEMORY], *more, *PLAN_COLUMNS[MEMORY:]]


def _groups(plan: Plan) -> tuple[list[IntArray], int]:
    """Return the devices of each row, and the number of devices that no row shows."""
    k = plan.platform.k
    if k <= MAX_ROWS:
        return [np.array([b]) for b in range(k)], 0
    kinds = [(d.kind, d.speed, d.memory, d.memory_units) for d in plan.platform.devices]
    starts = [b for b in range(k) if b == 0 or kinds[b] != kinds[b - 1]]
    if len(starts) <= MAX_ROWS:
        return list(np.split(np.arange(k), starts[1:])), 0
    last = plan.prediction.bottleneck  # comes first among devices that end at the same time
    latest = np.lexsort((-plan.prediction.ends, np.arange(k) != last))[:MAX_ROWS]
    return [np.array([b]) for b in latest], k - MAX_ROWS


def _row(plan: Plan, group: IntArray) -> list[str]:
    certificate, prediction = plan.certificate, plan.prediction
    contract = certificate.contract
    names = plan.platform.names
    name = names[group[0]]
    if group.size > 1:
        name = f"{name} .. {names[group[-1]]} ({group.size:,})"
    loads = certificate.weights
    clock = prediction.clock
    if plan.is_for_seconds:
        beside = [_range([percent(value) for value in _ends(loads[group] / loads.sum())])]
    else:
        columns = off_targets(plan)[group].T
        beside = [
            _range([count(value) for value in _ends(contract.targets[group])]),
            *(_range([signed_percent(value) for value in _ends(column)]) for column in columns),
        ]
    return [
        printable(name),
        _range([count(value) for value in _ends(loads[group])]),
        *beside,
        memory(float(certificate.bytes[group].max())),
        clock(float(prediction.compute[group].max())),
        clock(float(prediction.communicate[group].max())) if plan.platform.has_links else NOTHING,
        clock(float(prediction.ends[group].max())),
    ]


def off_targets(plan: Plan) -> FloatArray:
    """Return weight / target - 1 of each block's weights, (k, c); NaN if a target is zero."""
    certificate = plan.certificate
    targets = certificate.contract.table("targets")
    weights = np.column_stack([certificate.weights, certificate.further])
    some = targets > 0
    ratio = np.full(weights.shape, np.nan)
    ratio[some] = weights[some] / targets[some] - 1
    return ratio


def _ends(values: FloatArray) -> list[float]:
    return [float(values.min()), float(values.max())]


def _range(ends: list[str]) -> str:
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def is_relative(plan: Plan) -> bool:
    """Whether the machine's speeds are relative, so that times are stated as multiples."""
    return plan.prediction.ideal is not None

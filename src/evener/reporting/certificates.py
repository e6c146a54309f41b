"""The certificate as a table: a row a device, each cell as text and as a value to sort by."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.arrays import IntArray
from evener.plans.plan import Plan
from evener.reporting.clocks import clock_of
from evener.reporting.tables import off_targets
from evener.wording import count, memory, signed_percent

MAX_NAMED = 12
MAX_ROWS = 2000  # more would break the page's size; the plan file has them all


class Column(NamedTuple):
    """Heading and what it means."""

    title: str
    meaning: str


class Cell(NamedTuple):
    """What stands in a cell, and the value to sort by where the text is not it."""

    text: str
    value: float | None = None


COLUMNS = (
    Column("device", "name in the machine file"),
    Column("holds", "whether the block keeps to low, high and cap"),
    Column("low", "least weight allowed [units]"),
    Column("target", "weight at which all devices finish together [units]"),
    Column("high", "largest weight allowed [units]"),
    Column("weight", "the block's weight [units]"),
    Column("off target", "weight / target − 1"),
    Column("memory", "what vertices and edges of the block need"),
    Column("cap", "the device's memory"),
    Column("vertices", "vertices of the block"),
    Column("boundary", "vertices with a neighbour in another block"),
    Column("pieces", "connected components of the block; 1 is best"),
    Column("neighbours", "other blocks it touches"),
    Column("sends", "values sent per iteration"),
    Column("time", "predicted per iteration"),
)

OPTIMUM = "weight that would be optimal if nothing were exchanged [units]; no limit"
TARGET = 3  # where the column of targets is
MEMORY = 7  # where the columns of memory begin


def certificate_columns(plan: Plan) -> tuple[Column, ...]:
    """Return COLUMNS, with five more for each further weight of the vertices."""
    more = [
        column
        for i, one in enumerate(plan.certificate.contract.further, start=1)
        for column in (
            Column(f"low {i}", f"least of weight {i} allowed [units]"),
            Column(f"target {i}", f"what the device should have of weight {i}, by {one.by}"),
            Column(f"high {i}", f"most of weight {i} allowed [units]"),
            Column(f"weight {i}", f"the block's weight {i} [units]"),
            Column(f"off target {i}", f"weight {i} / target {i} − 1"),
        )
    ]
    columns = [*COLUMNS]
    if plan.certificate.contract.may_be_unused:
        columns[TARGET] = Column("target", OPTIMUM)
    return (*columns[:MEMORY], *more, *columns[MEMORY:])


def certificate_rows(plan: Plan) -> list[list[Cell]]:
    """Return a row of cells, as `certificate_columns`, for each device that `certified` names."""
    certificate, contract = plan.certificate, plan.certificate.contract
    off, seconds, names = off_targets(plan)[:, 0], plan.prediction.seconds, plan.platform.names
    rows, clock = [], clock_of(plan)
    for b in certified(plan).tolist():
        holds = bool(certificate.holds[b])
        whole = (certificate.vertices, certificate.boundary, certificate.components,
                 certificate.neighbours, certificate.volumes)  # fmt: skip
        rows.append(
            [
                Cell(names[b]),
                Cell("yes" if holds else "NO"),
                Cell(count(float(contract.low[b])), float(contract.low[b])),
                Cell(count(_round(contract.targets[b])), float(contract.targets[b])),
                Cell(count(float(contract.high[b])), float(contract.high[b])),
                Cell(count(float(certificate.weights[b])), float(certificate.weights[b])),
                Cell(signed_percent(float(off[b])), _finite(off[b])),
                *_further(plan, b),
                Cell(memory(float(certificate.bytes[b])), float(certificate.bytes[b])),
                Cell(memory(float(contract.caps[b])), _finite(contract.caps[b])),
                *(Cell(f"{int(values[b]):,}", int(values[b])) for values in whole),
                Cell(clock(seconds[b]), float(seconds[b])),
            ]
        )
    return rows


def _further(plan: Plan, b: int) -> list[Cell]:
    """Return five cells for each further weight of block b."""
    cells, off = [], off_targets(plan)
    for i, one in enumerate(plan.certificate.contract.further):
        weight = float(plan.certificate.further[b, i])
        cells += [
            Cell(count(float(one.low[b])), float(one.low[b])),
            Cell(count(_round(one.targets[b])), float(one.targets[b])),
            Cell(count(float(one.high[b])), float(one.high[b])),
            Cell(count(weight), weight),
            Cell(signed_percent(float(off[b, i + 1])), _finite(off[b, i + 1])),
        ]
    return cells


def certified(plan: Plan) -> IntArray:
    """Return the devices of the table: all, or those that do not hold and those done last."""
    k = plan.platform.k
    if k <= MAX_ROWS:
        return np.arange(k)
    order = np.lexsort((-plan.prediction.seconds, plan.certificate.holds))
    return np.sort(order[:MAX_ROWS])


def in_pieces(plan: Plan) -> str:
    """Name the blocks of more than one piece, the worst first: "gpu0 (3), old1 (2)"."""
    components, names = plan.certificate.components, plan.platform.names
    split = [b for b in np.argsort(-components, kind="stable").tolist() if components[b] > 1]
    named = [f"{names[b]} ({components[b]:,})" for b in split[:MAX_NAMED]]
    if len(split) > MAX_NAMED:
        named.append(f"{len(split) - MAX_NAMED:,} more")
    return ", ".join(named)


def _round(target: float) -> float:
    """A target to four digits behind the point: more are noise of its computation."""
    return round(float(target), 4) if target < 100 else round(float(target), 1)


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None

"""The certificate as a table: a row for each device, cells as text and as values to sort by."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from evener.arrays import IntArray
from evener.io.json_text import finite_or_none
from evener.plans.plan import IN_SLICES, Plan
from evener.reporting.tables import off_targets
from evener.wording import count, memory, signed_percent

MAX_NAMED = 12
MAX_ROWS = 2000  # keeps the page small; the plan file has all


class CertificateColumn(NamedTuple):
    """A heading and its meaning."""

    title: str
    meaning: str


class CertificateCell(NamedTuple):
    """Text of a cell, and the value to sort by if it is not the text."""

    text: str
    value: float | None = None


COLUMNS = (
    CertificateColumn("device", "name in the machine file"),
    CertificateColumn("holds", "whether the block is within low, high and cap"),
    CertificateColumn("low", "least weight allowed [units]"),
    CertificateColumn("target", "weight at which all devices finish together [units]"),
    CertificateColumn("high", "largest weight allowed [units]"),
    CertificateColumn("weight", "the block's weight [units]"),
    CertificateColumn("off target", "weight / target − 1"),
    CertificateColumn("memory", "memory that vertices and edges of the block need"),
    CertificateColumn("cap", "the device's memory"),
    CertificateColumn("vertices", "vertices of the block"),
    CertificateColumn("boundary", "vertices with a neighbour in another block"),
    CertificateColumn("pieces", "connected components of the block; 1 is best"),
    CertificateColumn("neighbours", "number of other blocks that the block touches"),
    CertificateColumn("sends", "values sent per iteration"),
    CertificateColumn("time", "predicted time until the device finishes, per iteration"),
)

OPTIMUM = "weight that would be optimal if nothing were exchanged [units]; not a limit"
TARGET = 3  # index of the column of targets
MEMORY = 7  # index of the first column of memory


def certificate_columns(plan: Plan) -> tuple[CertificateColumn, ...]:
    """Return COLUMNS, with five more for each further weight of the vertices."""
    more = [
        column
        for i, one in enumerate(plan.certificate.contract.further, start=1)
        for column in (
            CertificateColumn(f"low {i}", f"least weight {i} allowed [units]"),
            CertificateColumn(f"target {i}", f"target of weight {i}, by {one.by}"),
            CertificateColumn(f"high {i}", f"largest weight {i} allowed [units]"),
            CertificateColumn(f"weight {i}", f"the block's weight {i} [units]"),
            CertificateColumn(f"off target {i}", f"weight {i} / target {i} − 1"),
        )
    ]
    columns = [*COLUMNS]
    if plan.certificate.contract.may_be_unused:
        columns[TARGET] = CertificateColumn("target", OPTIMUM)
    return (*columns[:MEMORY], *more, *columns[MEMORY:])


def certificate_rows(plan: Plan) -> list[list[CertificateCell]]:
    """Return a row of cells, as `certificate_columns`, for each device that `certified` names."""
    certificate, contract = plan.certificate, plan.certificate.contract
    off, ends, names = off_targets(plan)[:, 0], plan.prediction.ends, plan.platform.names
    rows, clock = [], plan.prediction.clock
    for b in certified(plan).tolist():
        holds = bool(certificate.holds[b])
        whole = (certificate.vertices, certificate.boundary, certificate.components,
                 certificate.neighbours, certificate.volumes)  # fmt: skip
        rows.append(
            [
                CertificateCell(names[b]),
                CertificateCell("yes" if holds else "NO"),
                CertificateCell(count(float(contract.low[b])), float(contract.low[b])),
                CertificateCell(count(_round(contract.targets[b])), float(contract.targets[b])),
                CertificateCell(count(float(contract.high[b])), float(contract.high[b])),
                CertificateCell(
                    count(float(certificate.weights[b])), float(certificate.weights[b])
                ),
                CertificateCell(signed_percent(float(off[b])), finite_or_none(off[b])),
                *_further(plan, b),
                CertificateCell(memory(float(certificate.bytes[b])), float(certificate.bytes[b])),
                CertificateCell(memory(float(contract.caps[b])), finite_or_none(contract.caps[b])),
                *(CertificateCell(f"{int(values[b]):,}", int(values[b])) for values in whole),
                CertificateCell(clock(ends[b]), float(ends[b])),
            ]
        )
    return rows


def _further(plan: Plan, b: int) -> list[CertificateCell]:
    """Return five cells for each further weight of block b."""
    cells, off = [], off_targets(plan)
    for i, one in enumerate(plan.certificate.contract.further):
        weight = float(plan.certificate.further[b, i])
        cells += [
            CertificateCell(count(float(one.low[b])), float(one.low[b])),
            CertificateCell(count(_round(one.targets[b])), float(one.targets[b])),
            CertificateCell(count(float(one.high[b])), float(one.high[b])),
            CertificateCell(count(weight), weight),
            CertificateCell(signed_percent(float(off[b, i + 1])), finite_or_none(off[b, i + 1])),
        ]
    return cells


def certificate_frame(plan: Plan) -> Any:
    """Return a pandas DataFrame of the certificate and the times, indexed by device.

    Weights in units, memory in bytes, times in seconds, volumes in values; columns are named as in
    Certificate, Contract and Prediction. Raises ImportError if pandas is not installed.
    """
    import pandas as pd

    certificate, prediction = plan.certificate, plan.prediction
    contract = certificate.contract
    columns: dict[str, Any] = {
        "holds": certificate.holds, "low": contract.low, "target": contract.targets,
        "high": contract.high, "weight": certificate.weights,
    }  # fmt: skip
    for i, one in enumerate(contract.further, start=1):
        columns |= {f"low_{i}": one.low, f"target_{i}": one.targets, f"high_{i}": one.high,
                    f"weight_{i}": certificate.further[:, i - 1]}  # fmt: skip
    columns |= {
        "bytes": certificate.bytes, "cap": contract.caps, "vertices": certificate.vertices,
        "boundary": certificate.boundary, "components": certificate.components,
        "neighbours": certificate.neighbours, "volume": certificate.volumes,
        "compute": prediction.compute, "communicate": prediction.communicate,
        "seconds": prediction.ends,
    }  # fmt: skip
    return pd.DataFrame(columns, index=pd.Index(plan.platform.names, name="device"))


def certified(plan: Plan) -> IntArray:
    """Return the devices in the table: all, or only the slowest and those breaking a contract."""
    k = plan.platform.k
    if k <= MAX_ROWS:
        return np.arange(k)
    order = np.lexsort((-plan.prediction.ends, plan.certificate.holds))
    return np.sort(order[:MAX_ROWS])


def recounted(plan: Plan, *, has_graph: bool) -> str:
    """Return a sentence on how the certificate was counted.

    has_graph: whether the page has the graph.
    """
    if has_graph:
        return "Every number is counted again from graph and partition."
    if IN_SLICES in plan.options:
        return (
            "When the plan was finished, every number was counted again from the graph, slice by "
            "slice. They were not counted again for this page, which is drawn without the graph."
        )
    return "Numbers are those of the plan. They are not recounted, because no graph is given."


def in_pieces(plan: Plan) -> str:
    """Return the blocks of more than one component, most pieces first: "gpu0 (3), old1 (2)"."""
    components, names = plan.certificate.components, plan.platform.names
    split = [b for b in np.argsort(-components, kind="stable").tolist() if components[b] > 1]
    named = [f"{names[b]} ({components[b]:,})" for b in split[:MAX_NAMED]]
    if len(split) > MAX_NAMED:
        named.append(f"{len(split) - MAX_NAMED:,} more")
    return ", ".join(named)


def _round(target: float) -> float:
    """Return a target without the decimals that are rounding errors."""
    return round(float(target), 4) if target < 100 else round(float(target), 1)

"""Chart of the supersteps of a run over time: seconds, arcs read, bytes sent, as steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray
from evener.planning.breakdown import activities_of
from evener.reporting.decisions import ticks
from evener.running.program_run import ProgramRun
from evener.wording import count, duration, memory

WIDTH, LEFT, RIGHT, TOP, ROW, GAP, BOTTOM = 900.0, 96.0, 26.0, 8.0, 46.0, 26.0, 26.0
OUTLIER = 1.5  # times the 95th percentile: longer supersteps would make others invisible
COLUMNS = 778  # of the chart; more supersteps share a column by their mean


class SuperstepRow(NamedTuple):
    """A quantity of all supersteps: name, maximum as text, y of its zero line, SVG path."""

    name: str
    most: str
    floor: float
    path: str


@dataclass(frozen=True)
class SuperstepChart:
    """Rows above each other, as SVG; ticks (x, text): numbers of supersteps."""

    width: float
    height: float
    left: float
    right: float
    rows: list[SuperstepRow]
    ticks: list[tuple[float, str]]


class StepValues(NamedTuple):
    """Values of a quantity by step; most: the value at the top of its row, with its text."""

    name: str
    values: FloatArray
    most: float
    text: str


def superstep_chart(run: ProgramRun) -> SuperstepChart:
    """Return the chart of a run with supersteps: slowest device's seconds, total arcs and bytes.

    Seconds of a superstep include waiting; values beyond OUTLIER times the 95th percentile are cut
    off there.
    """
    spent = sum(run.of_devices(name) for name in activities_of(run))
    seconds = np.asarray(spent).max(axis=1)
    usual = min(OUTLIER * float(np.percentile(seconds, 95)), float(seconds.max()))
    arcs, sent = (run.of_devices(name).sum(axis=1) for name in ("edges", "sent"))
    n_arcs, n_sent = float(arcs.max()), float(sent.max())
    rows = (
        StepValues("seconds", seconds, usual, duration(usual)),
        StepValues("arcs visited", arcs, n_arcs, count(n_arcs)),
        StepValues("sent", sent, n_sent, memory(n_sent)),
    )
    return step_chart(rows, first=run.first)


def step_chart(of: Sequence[StepValues], first: int = 0) -> SuperstepChart:
    """Return a chart with a row for each quantity; values above `most` are cut off there.

    first: number of the first step.
    """
    steps, floor, rows = of[0].values.size, TOP, []
    for name, values, most, text in of:
        floor += ROW
        drawn = _path(_shared(np.minimum(values, most)), most, floor)
        rows.append(SuperstepRow(name, text, floor, drawn))
        floor += GAP
    across = (WIDTH - LEFT - RIGHT) / steps
    marks = [
        (round(LEFT + across * at, 1), f"{first + at:,.0f}") for at in ticks(steps, whole=True)
    ]
    return SuperstepChart(WIDTH, floor - GAP + BOTTOM, LEFT, WIDTH - RIGHT, rows, marks)


def _shared(values: FloatArray) -> FloatArray:
    """Average neighbouring values, so that at most COLUMNS remain."""
    if values.size <= COLUMNS:
        return values
    starts = np.arange(COLUMNS) * values.size // COLUMNS
    return np.asarray(np.add.reduceat(values, starts) / np.diff(np.append(starts, values.size)))


def _path(values: FloatArray, most: float, floor: float) -> str:
    """Return the SVG path of adjacent bars, ROW high for `most`; equal bars are merged."""
    heights = np.round(ROW * values / max(most, 1e-300), 1)
    starts = np.flatnonzero(np.concatenate([[True], np.diff(heights) != 0]))
    wide = (WIDTH - LEFT - RIGHT) / values.size
    words = [
        f"V{floor - height:.1f}H{LEFT + wide * end:.1f}"
        for height, end in zip(heights[starts], [*starts[1:], values.size], strict=True)
    ]
    return f"M{LEFT:.1f} {floor:.1f}{''.join(words)}V{floor:.1f}z"

"""Periods of METIS, HMAP and direct search on the cells of hmap_setup.py, and on real graphs.

METIS k-way and HMAP get the same target shares of both capabilities; block p is processor p. The
search starts from them, among others, so that it is never worse.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import numpy as np

from evener.arrays import Part
from evener.graphs.stream_graph import StreamGraph
from evener.reproducing.findings import Row
from evener.reproducing.hmap_bars import METHODS, are_narrow
from evener.reproducing.hmap_setup import (
    REAL_MACHINES,
    SEED,
    SETTINGS,
    Cell,
    Sampling,
    cells_of,
)
from evener.streams.generating import READINGS, GraphParameters, random_machine
from evener.streams.hmap import hmap
from evener.streams.methods import by_metis, starts_of
from evener.streams.period import StreamProblem, seconds_of
from evener.streams.search import SearchLimits, search

LEAST_ROUNDS = 2  # before an interval is looked at
TIMED = 4  # filters for each processor, of the graphs that are timed

Tell = Callable[[str], None]


def sampled(sampling: Sampling, tell: Tell) -> list[Row]:
    """Return a row for each cell, machine by machine, until all intervals are narrow.

    tell: called with what is next. A machine ends when the bars of all classes and methods have an
    interval of less than 10 % of their mean, or after as many rounds as `sampling` has for it.
    """
    rows: list[Row] = []
    for k in sampling.machines:
        for setting in SETTINGS:
            own: list[Row] = []
            for number in range(sampling.rounds_on(k)):
                tell(f"{k:,} processors, setting {setting}, round {number + 1}")
                own += [run(cell) for cell in cells_of(k, setting, number, sampling)]
                if number + 1 >= LEAST_ROUNDS and are_narrow(own):
                    break
            rows += own
    return rows


def with_fewer_filters(sampling: Sampling, tell: Tell) -> list[Row]:
    """Return a row for each cell with fewer filters than processors: HMAP and ours alone."""
    tell("fewer filters than processors")
    return [
        run(cell)
        for k in sampling.machines
        for setting in SETTINGS
        for cell in cells_of(k, setting, 0, sampling, fewer=True)
    ]


def run(cell: Cell) -> Row:
    """Return the cell, periods by method [s], and the shares of filters on GPUs in per cent."""
    return cell.about | periods(cell.problem())


def periods(problem: StreamProblem) -> dict[str, float]:
    """Return periods by method [s], and what part of which filters each puts on GPUs.

    wide_NAME, narrow_NAME: per cent of the filters with more vector width than instructions, and of
    the others, that are on GPUs by the method. A method that made no mapping has no entries.
    """
    starts = starts_of(problem, SEED)
    found: dict[str, Part] = {name: part for name, part in starts if name in METHODS}
    found["ours"] = search(problem, starts, SearchLimits(), SEED).part
    row: dict[str, float] = {
        name: seconds_of(problem, found[name]) for name in METHODS if name in found
    }
    for name in row.copy():
        row |= on_gpus(problem, found[name], name)
    return row


def on_gpus(problem: StreamProblem, part: Part, name: str) -> dict[str, float]:
    """Return wide_NAME and narrow_NAME: per cent of such filters on GPUs; none where none are."""
    is_gpu = np.array([device.kind == "gpu" for device in problem.processors.platform.devices])
    is_wide = problem.graph.vector > problem.graph.scalar
    kinds = {"wide": is_wide, "narrow": ~is_wide}
    return {
        f"{kind}_{name}": 100 * float(is_gpu[part[chosen]].mean())
        for kind, chosen in kinds.items()
        if chosen.any()
    }


def real(graphs: dict[str, StreamGraph], tell: Tell) -> list[Row]:
    """Return a row for each graph on each machine in both settings."""
    rows: list[Row] = []
    for name, graph in graphs.items():
        tell(name)
        for k in REAL_MACHINES:
            for setting, reading in READINGS.items():
                problem = StreamProblem.of(graph, random_machine(k, setting, SEED), reading)
                sizes = {"k": k, "n": graph.n, "m": graph.m}
                rows.append({"graph": name, "setting": setting, **sizes, **periods(problem)})
    return rows


def timed(sampling: Sampling, tell: Tell) -> Iterator[Row]:
    """Yield for each machine the CPU seconds of METIS and of HMAP, routes excluded.

    Processes that METIS runs in count. unequal: clusters whose halves differ in numbers.
    """
    for k in sampling.machines:
        tell(f"seconds on {k:,} processors")
        parameters = GraphParameters(min(TIMED * k, sampling.most))
        problem = Cell(parameters, k, "A", 0, SEED).problem()
        _ = problem.machine, problem.filters
        row: dict[str, float | int] = {"k": k, "n": problem.n, "m": problem.graph.m}
        began = _cpu_seconds()
        by_metis(problem, SEED)
        row["metis_s"] = round(_cpu_seconds() - began, 3)
        began = _cpu_seconds()
        row["unequal"] = hmap(problem, seed=SEED).unequal
        row["hmap_s"] = round(_cpu_seconds() - began, 3)
        yield row


def _cpu_seconds() -> float:
    return sum(os.times()[:4])

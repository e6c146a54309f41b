"""Periods of METIS, HMAP and direct search on the cells of setup.py, and on real graphs.

METIS k-way and HMAP get the same target shares of both capabilities; block p is processor p. Their
mappings do not depend on the equation that periods are counted by. The search starts from those of
METIS and of HMAP with clusters from the whole machine down, among others.

Means of the rows of cells are the bars of Figure 3. Means are over cells that METIS and HMAP, with
both kinds of clusters, have made a mapping of. Intervals are Student's of the mean of as many
independent cells; as the cells are stratified, they are rather too wide.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from evener.arrays import Part
from evener.graphs.stream_graph import StreamGraph
from evener.streams.generating import READINGS, GraphParameters, random_machine
from evener.streams.hmap import hmap
from evener.streams.methods import by_metis, divided_starts, starts_of
from evener.streams.period import StreamProblem, seconds_of
from evener.streams.processors import Processors
from evener.streams.search import SearchLimits, search
from papers.findings import Row
from papers.hmap.setup import (
    CLASSES,
    PAPERS,
    REAL_MACHINES,
    SEED,
    SETTINGS,
    Cell,
    Sampling,
    by_equations,
    cells_of,
)
from papers.intervals import NOTHING, Interval, exponential, geometric_mean, half_width
from papers.keeping import KeptRows

HMAPS = ("hmap", "hmap-up")  # clusters from the whole machine down (IV-A), or up (III-A)
DIVIDED = ("metis", "metis-recursive", *HMAPS)
METHODS = (*DIVIDED, "ours")
BARS = ("metis", *HMAPS)
WIDTH = 0.10  # of an interval, relative to the mean: section IV-B1

Rows = Sequence[Row]


@dataclass(frozen=True)
class MeanBar:
    """Mean and geometric mean of the periods of a method [s], over `cells` of a class.

    width: of the 95 % interval of the mean, relative to it. k: 0 for the mean over machines.
    """

    paper_class: str
    setting: str
    equation: str
    k: int
    method: str
    mean: float
    geometric: float
    width: float
    cells: int

    @property
    def row(self) -> Row:
        """As a row of a table; of one cell there is no width."""
        return {key: value for key, value in asdict(self).items() if value != np.inf}


class Gain(NamedTuple):
    """A method's periods over another's, of `cells` cells.

    of_means: the arithmetic mean over the other's, as in the paper. geometric: the geometric mean
    of the cells' ratios.
    """

    of_means: Interval
    geometric: Interval
    cells: int

    def __str__(self) -> str:
        return f"{self.of_means}, geometric {self.geometric}"


def chosen(
    rows: Rows,
    setting: str,
    k: int | None = None,
    paper_class: str = "f",
    equation: str = PAPERS,
) -> list[Row]:
    """Return the rows of a setting and an equation, of a machine if given, and of a class."""
    has = CLASSES[paper_class].has
    return [
        row
        for row in rows
        if row["setting"] == setting and row["equation"] == equation and k in (None, row["k"])
        and has(row) and all(name in row for name in ("metis", *HMAPS))
    ]  # fmt: skip


def bars(rows: Rows, setting: str, k: int, equation: str = PAPERS) -> list[MeanBar]:
    """Return the bars of all classes and methods for a machine; none of a class without cells."""
    found = []
    for paper_class in CLASSES:
        own = chosen(rows, setting, k, paper_class, equation)
        for method in BARS if own else ():
            values = np.array([float(row[method]) for row in own])
            width = 2 * half_width(values) / float(values.mean())
            geometric = float(np.exp(np.log(values).mean()))
            found.append(
                MeanBar(paper_class, setting, equation, k, method, float(values.mean()),
                        geometric, width, len(own))
            )  # fmt: skip
    return found


def over_machines(found: Sequence[MeanBar]) -> list[MeanBar]:
    """Return the last bars, the means over the machines of those of each class and method.

    width: as the bars of different machines are independent.
    """
    groups: dict[tuple[str, str, str, str], list[MeanBar]] = {}
    for bar in found:
        key = (bar.paper_class, bar.setting, bar.equation, bar.method)
        groups.setdefault(key, []).append(bar)
    last = []
    for key, group in groups.items():
        paper_class, setting, equation, method = key
        means = np.array([bar.mean for bar in group])
        widths = np.array([bar.mean * bar.width for bar in group])
        width = float(np.sqrt((widths**2).sum()) / means.sum())
        geometric = float(np.exp(np.mean([np.log(bar.geometric) for bar in group])))
        count = sum(bar.cells for bar in group)
        last.append(
            MeanBar(paper_class, setting, equation, 0, method, float(means.mean()), geometric,
                    width, count)
        )  # fmt: skip
    return last


def are_narrow(rows: Rows) -> bool:
    """Whether all bars of these rows, of one machine, have an interval under 10 % of the mean."""
    setting, k = str(rows[0]["setting"]), int(rows[0]["k"])
    return all(bar.width < WIDTH for bar in bars(rows, setting, k))


def gain(rows: Rows, above: str = "metis", below: str = "hmap") -> Gain:
    """Return one method's period over another's, of rows that have both; nan where none do.

    The interval of the ratio of means is of its logarithm, to first order.
    """
    pairs = np.array(
        [[float(row[above]), float(row[below])] for row in rows if above in row and below in row]
    ).reshape(-1, 2)
    if not len(pairs):
        return Gain(NOTHING, NOTHING, 0)
    means = pairs.mean(axis=0)
    share = pairs / means
    return Gain(
        exponential(float(np.log(means[0] / means[1])), share[:, 0] - share[:, 1]),
        geometric_mean((pairs[:, 0] / pairs[:, 1]).tolist()),
        len(pairs),
    )  # fmt: skip


LEAST_ROUNDS = 2  # before an interval is looked at
TIMED = 4  # filters for each processor, of the graphs that are timed

Tell = Callable[[str, float], None]


def sampled(sampling: Sampling, kept: KeptRows, tell: Tell) -> list[Row]:
    """Return a row for each cell and equation, machine by machine, until intervals are narrow.

    kept: rows of cells that are done. tell: called with what is next, and the part of the rounds
    that is done. A machine ends when the bars of all classes and methods, by equation (2), have an
    interval of less than 10 % of their mean, or after as many rounds as `sampling` has for it.
    """
    whole = sum(sampling.rounds_on(k) * seconds_of_cell(k) for k in sampling.machines)
    whole *= len(SETTINGS)
    rows: list[Row] = []
    before = 0.0
    for k in sampling.machines:
        rounds = sampling.rounds_on(k)
        for setting in SETTINGS:
            own: list[Row] = []
            for number in range(rounds):
                where = (
                    f"{k:,} processors, setting {setting}, round {number + 1} of {rounds} at most"
                )
                cells = cells_of(k, setting, number, sampling)
                for i, cell in enumerate(cells):
                    done = before + (number + i / len(cells)) * seconds_of_cell(k)
                    tell(f"{where}, cell {i + 1} of {len(cells)}", done / whole)
                    is_searched = number == 0 and i < sampling.searched
                    made = partial(run, cell, is_searched=is_searched)
                    own += kept.rows(f"{k} {setting} {number} {i}", made)
                if number + 1 >= LEAST_ROUNDS and are_narrow(own):
                    break
            before += rounds * seconds_of_cell(k)
            rows += own
    return rows


def seconds_of_cell(k: int) -> float:
    """About what a cell takes on a machine of k processors [s of a core]; for progress alone."""
    return 2.0 + k / 85


def with_fewer_filters(sampling: Sampling, kept: KeptRows, tell: Tell) -> list[Row]:
    """Return the rows of each cell with fewer filters than processors: HMAP and ours alone."""
    rows: list[Row] = []
    for m, k in enumerate(sampling.machines):
        for setting in SETTINGS:
            tell(f"fewer filters than {k:,} processors", m / len(sampling.machines))
            for i, cell in enumerate(cells_of(k, setting, 0, sampling, fewer=True)):
                rows += kept.rows(f"fewer {k} {setting} {i}", partial(run, cell))
    return rows


def run(cell: Cell, *, is_searched: bool = True) -> list[Row]:
    """Return by each equation the cell and `periods`."""
    return [{**cell.about, **row} for row in periods(cell.problems(), is_searched=is_searched)]


def periods(problems: dict[str, StreamProblem], *, is_searched: bool = True) -> list[Row]:
    """Return for each equation the periods by method [s], and what part of filters is on GPUs.

    wide_NAME, narrow_NAME: per cent of the filters with more vector width than instructions, and of
    the others, that are on GPUs by the method. A method that made no mapping has no entries, nor
    has our search unless is_searched.
    """
    problem = problems[PAPERS]
    starts = (starts_of if is_searched else divided_starts)(problem, SEED)
    found: dict[str, Part] = {name: part for name, part in starts if name in DIVIDED}
    found["hmap-up"] = hmap(problem, way="up", seed=SEED).part
    rows: list[Row] = []
    for equation, own in problems.items():
        parts = dict(found)
        if is_searched:
            parts["ours"] = search(own, starts, SearchLimits(), SEED).part
        row: dict[str, float | str] = {"equation": equation}
        row |= {name: seconds_of(own, part) for name, part in parts.items()}
        for name, part in parts.items():
            row |= on_gpus(own, part, name)
        rows.append(row)
    return rows


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


def real(graphs: dict[str, StreamGraph], kept: KeptRows, tell: Tell) -> list[Row]:
    """Return a row for each graph on each machine in both settings."""
    rows: list[Row] = []
    for i, (name, graph) in enumerate(graphs.items()):
        tell(name, i / len(graphs))
        rows += kept.rows(f"real {name}", partial(_of_graph, name, graph))
    return rows


def _of_graph(name: str, graph: StreamGraph) -> list[Row]:
    rows: list[Row] = []
    for k in REAL_MACHINES:
        for setting, reading in READINGS.items():
            processors = Processors(random_machine(k, setting, SEED))
            about: Row = {"graph": name, "setting": setting, "k": k, "n": graph.n, "m": graph.m}
            problems = by_equations(graph, processors, reading)
            rows += [{**about, **row} for row in periods(problems)]
    return rows


def timed(sampling: Sampling, kept: KeptRows, tell: Tell) -> list[Row]:
    """Return for each machine the CPU seconds of METIS and of HMAP both ways, routes excluded.

    Processes that METIS runs in count. unequal: clusters whose halves differ in numbers.
    """
    rows: list[Row] = []
    for i, k in enumerate(sampling.machines):
        tell(f"seconds on {k:,} processors", i / len(sampling.machines))
        rows += kept.rows(f"seconds {k}", partial(_timed_on, k, min(TIMED * k, sampling.most)))
    return rows


def _timed_on(k: int, n: int) -> list[Row]:
    problem = Cell(GraphParameters(n), k, "A", 0, SEED).problems()[PAPERS]
    _ = problem.machine, problem.filters
    row: dict[str, float | int] = {"k": k, "n": problem.n, "m": problem.graph.m}
    began = _cpu_seconds()
    by_metis(problem, SEED)
    row["metis_s"] = round(_cpu_seconds() - began, 3)
    began = _cpu_seconds()
    row["unequal"] = hmap(problem, seed=SEED).unequal
    row["hmap_s"] = round(_cpu_seconds() - began, 3)
    began = _cpu_seconds()
    hmap(problem, way="up", seed=SEED)
    row["hmap_up_s"] = round(_cpu_seconds() - began, 3)
    return [row]


def _cpu_seconds() -> float:
    return sum(os.times()[:4])

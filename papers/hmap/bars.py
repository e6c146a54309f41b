"""Bars of Figure 3 of [Muralidharan13]_, and gains, of the rows of cells.

Means are over cells that METIS and HMAP, with both kinds of clusters, have made a mapping of.
Intervals are Student's of the mean of as many independent cells; as the cells are stratified, they
are rather too wide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np

from papers.findings import Row
from papers.hmap.setup import CLASSES, PAPERS
from papers.intervals import NOTHING, Interval, exponential, geometric_mean, half_width

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

"""Bars of Figure 3 of [Muralidharan13]_, and gains, of the rows of cells.

Means are over cells that both METIS and HMAP have made a mapping of. Intervals are Student's of the
mean of as many independent cells; as the cells are stratified, they are rather too wide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from evener.reproducing.findings import Row
from evener.reproducing.hmap_setup import CLASSES

METHODS = ("metis", "metis-recursive", "hmap", "ours")
BARS = ("metis", "hmap", "ours")
LEVEL = 0.95
WIDTH = 0.10  # of an interval, relative to the mean: section IV-B1

Rows = Sequence[Row]


@dataclass(frozen=True)
class MeanBar:
    """Mean and geometric mean of the periods of a method [s], over `cells` of a class.

    width: of the 95 % interval of the mean, relative to it. k: 0 for the mean over machines.
    """

    paper_class: str
    setting: str
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
    """METIS's period over HMAP's: of means, geometric, and the ends of the latter's interval."""

    of_means: float
    geometric: float
    low: float
    high: float

    def __str__(self) -> str:
        ends = f"{self.low:.2f} to {self.high:.2f}"
        return f"{self.of_means:.2f} (geometric {self.geometric:.2f}, 95 %: {ends})"


def chosen(rows: Rows, setting: str, k: int | None = None, paper_class: str = "f") -> list[Row]:
    """Return the rows of a setting, of a machine if k is given, and of a class of Figure 3."""
    has = CLASSES[paper_class].has
    return [
        row
        for row in rows
        if row["setting"] == setting and k in (None, row["k"]) and has(row) and "metis" in row
        and "hmap" in row
    ]  # fmt: skip


def half_width(values: npt.NDArray[np.float64]) -> float:
    """Return half the width of the 95 % interval of the mean; infinite of fewer than two."""
    if values.size < 2:
        return float("inf")
    quantile = float(stdtrit(values.size - 1, 0.5 + LEVEL / 2))
    return quantile * float(values.std(ddof=1)) / float(np.sqrt(values.size))


def bars(rows: Rows, setting: str, k: int) -> list[MeanBar]:
    """Return the bars of all classes and methods for a machine; none of a class without cells."""
    found = []
    for paper_class in CLASSES:
        own = chosen(rows, setting, k, paper_class)
        for method in BARS if own else ():
            values = np.array([float(row[method]) for row in own])
            width = 2 * half_width(values) / float(values.mean())
            geometric = float(np.exp(np.log(values).mean()))
            found.append(
                MeanBar(paper_class, setting, k, method, float(values.mean()), geometric, width,
                    len(own))
            )  # fmt: skip
    return found


def over_machines(found: Sequence[MeanBar]) -> list[MeanBar]:
    """Return the last bars, the means over the machines of those of each class and method.

    width: as the bars of different machines are independent.
    """
    groups: dict[tuple[str, str, str], list[MeanBar]] = {}
    for bar in found:
        groups.setdefault((bar.paper_class, bar.setting, bar.method), []).append(bar)
    last = []
    for (paper_class, setting, method), group in groups.items():
        means = np.array([bar.mean for bar in group])
        widths = np.array([bar.mean * bar.width for bar in group])
        width = float(np.sqrt((widths**2).sum()) / means.sum())
        geometric = float(np.exp(np.mean([np.log(bar.geometric) for bar in group])))
        count = sum(bar.cells for bar in group)
        last.append(
            MeanBar(paper_class, setting, 0, method, float(means.mean()), geometric, width, count)
        )
    return last


def are_narrow(rows: Rows) -> bool:
    """Whether all bars of these rows, of one machine, have an interval under 10 % of the mean."""
    setting, k = str(rows[0]["setting"]), int(rows[0]["k"])
    return all(bar.width < WIDTH for bar in bars(rows, setting, k))


def gain(rows: Rows, above: str = "metis", below: str = "hmap") -> Gain:
    """Return one method's period over another's, of rows that have both; nan where none do."""
    pairs = np.array(
        [[float(row[above]), float(row[below])] for row in rows if above in row and below in row]
    ).reshape(-1, 2)
    if not len(pairs):
        return Gain(*[float("nan")] * 4)
    logs = np.log(pairs[:, 0] / pairs[:, 1])
    middle, half = float(logs.mean()), half_width(logs)
    of_means = float(pairs[:, 0].mean() / pairs[:, 1].mean())
    ends = (float(np.exp(np.clip(middle + side * half, -700, 700))) for side in (-1, 1))
    return Gain(of_means, float(np.exp(middle)), *ends)

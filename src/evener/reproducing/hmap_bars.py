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
import numpy.typing as npt
from scipy.special import stdtrit

from evener.reproducing.findings import Row
from evener.reproducing.hmap_setup import CLASSES, PAPERS

HMAPS = ("hmap", "hmap-up")  # clusters from the whole machine down (IV-A), or up (III-A)
DIVIDED = ("metis", "metis-recursive", *HMAPS)
METHODS = (*DIVIDED, "ours")
BARS = ("metis", *HMAPS)
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


class Interval(NamedTuple):
    """An estimate and the ends of its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"

    def above(self, figure: float) -> bool | None:
        """Whether it is above a figure; None where the interval has the figure inside."""
        if self.low > figure:
            return True
        return False if self.high <= figure else None

    def below(self, figure: float) -> bool | None:
        """Whether it is below a figure; None where the interval has the figure inside."""
        if self.high < figure:
            return True
        return False if self.low >= figure else None

    def over(self, other: Interval) -> Interval:
        """Return the ratio to an independent interval, both of logarithms."""
        value = self.value / other.value
        up = np.hypot(np.log(self.high / self.value), np.log(other.value / other.low))
        down = np.hypot(np.log(self.value / self.low), np.log(other.high / other.value))
        return Interval(value, float(value * np.exp(-down)), float(value * np.exp(up)))


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


def half_width(values: npt.NDArray[np.float64]) -> float:
    """Return half the width of the 95 % interval of the mean; infinite of fewer than two."""
    if values.size < 2:
        return float("inf")
    quantile = float(stdtrit(values.size - 1, 0.5 + LEVEL / 2))
    return quantile * float(values.std(ddof=1)) / float(np.sqrt(values.size))


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
        nothing = Interval(*[float("nan")] * 3)
        return Gain(nothing, nothing, 0)
    means = pairs.mean(axis=0)
    share = pairs / means
    return Gain(
        _interval(float(np.log(means[0] / means[1])), share[:, 0] - share[:, 1]),
        _interval(float(np.log(pairs[:, 0] / pairs[:, 1]).mean()),
                  np.log(pairs[:, 0] / pairs[:, 1])),
        len(pairs),
    )  # fmt: skip


def _interval(middle: float, spread: npt.NDArray[np.float64]) -> Interval:
    """Return the exponential of a mean, and of its ends by how its terms spread."""
    half = half_width(spread)
    low, high = (float(np.exp(np.clip(middle + side * half, -700, 700))) for side in (-1, 1))
    return Interval(float(np.exp(middle)), low, high)


def interval_of(values: Sequence[float]) -> Interval:
    """Return the mean of values and its interval, infinite of fewer than two."""
    own = np.array(values)
    half = half_width(own)
    middle = float(own.mean())
    return Interval(middle, middle - half, middle + half)


def mean_of(found: Sequence[Interval]) -> Interval:
    """Return the mean of independent intervals of what is above zero; nan of none."""
    if not found:
        return Interval(*[float("nan")] * 3)
    value = float(np.mean([one.value for one in found]))
    low, high = (
        float(np.sqrt(np.sum(np.square(halves))) / len(found))
        for halves in ([one.value - one.low for one in found],
                       [one.high - one.value for one in found])
    )  # fmt: skip
    return Interval(value, max(value - low, float(np.finfo(float).tiny)), value + high)

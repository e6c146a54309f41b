"""Columns of rectangles, and guillotine cuts, which divide a matrix in two again and again.

The number of devices in each column is given (KL), or columns are chosen such that the total
half-perimeter is least, with devices in their given order (KL) or in any order (BR). The best
columns contain the devices in order of area: a column of r devices costs r times its width, so the
largest areas belong in the columns with the fewest devices ([BBRR01]_). The cost of the first q
devices is then a minimum over the size of the last column, a recurrence in one variable. By the
quadrangle inequality the last column never starts earlier for more devices, which limits the
search.

Columns are a special case of guillotine cuts, so the best cuts are never worse; if one device is
much faster than the others, cuts save up to a tenth. Devices stay in order of area, and every cut
divides a run of them in two. For up to FEW devices the best of these cuts are found by branch and
bound over runs and shapes (`best_cuts`). For more devices, `good_cuts` tries a few positions for
each cut, and takes the one for which columns or rows on both sides have the least half-perimeter,
until at most SMALL devices are left in a box. If that is no better than columns, it returns
columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.errors import UsageError

Columns = list[npt.NDArray[np.int64]]


def best_columns(areas: FloatArray, shape: tuple[float, float]) -> Columns:
    """Return the columns of least total half-perimeter (BR, [BBRR01]_; [Cla14]_, 5.1.2).

    areas (p,): above zero, in any unit. shape: height and width of the matrix, in the same unit.
    Columns are returned from left to right, each with its devices from top to bottom. O(p x size of
    a column); p = 1,000 takes 10 ms.
    """
    height, width = shape
    order = np.argsort(-areas, kind="stable")
    before = np.concatenate([[0.0], np.cumsum(areas[order])])
    start, _ = least_columns(before * (width / before[-1]), height)
    ends = [order.size]
    while ends[-1] > 0:
        ends.append(int(start[ends[-1]]))
    ends.reverse()
    return [order[a:b] for a, b in pairwise(ends)]


def least_columns(widths: FloatArray, height: float) -> tuple[npt.NDArray[np.int64], float]:
    """Return for each q the first device of the last column of the first q devices, (p + 1,).

    Also returns the total cost. widths (p + 1,): cumulative widths: entry q is the total width of
    columns of this height that the first q devices fill. Besides its height, a column costs the
    product of its number of devices and its width, which satisfies the quadrangle inequality for
    any order of the devices.
    """
    p = widths.size - 1
    cost = np.zeros(p + 1)
    start = np.zeros(p + 1, np.int64)  # start of the last column if the first q devices are placed
    counts = np.arange(p + 1, dtype=np.float64)
    first = 0
    for q in range(1, p + 1):
        total = cost[first:q] + (q - counts[first:q]) * (widths[q] - widths[first:q])
        best = int(np.argmin(total))
        cost[q] = total[best] + height
        start[q] = first = first + best
    return start, float(cost[p])


def grid_columns(p: int, n_columns: int | Sequence[int] | None = None) -> Columns:
    """Return columns of p devices in their order: a grid, or columns of given sizes.

    n_columns: the number of columns of a grid, or a sequence with the number of devices in each
    column; None: the grid nearest to a square (a prime number of devices makes one column). Raises
    UsageError if the number of columns does not divide p, or the sizes do not add up to p.
    """
    if n_columns is None:
        n_columns = max(c for c in range(1, int(p**0.5) + 1) if p % c == 0)
    if isinstance(n_columns, int | np.integer):
        if n_columns < 1 or p % n_columns:
            raise UsageError(f"{p} devices do not fill {n_columns} columns of equal length")
        return [np.asarray(column) for column in np.arange(p).reshape(n_columns, -1)]
    counts = [int(count) for count in n_columns]
    if sum(counts) != p or min(counts) < 1:
        raise UsageError(
            f"columns of {', '.join(map(str, counts)) or 'no'} devices do not add up to {p} "
            f"devices",
            hint="Give the number of devices per column: at least one per column, and all devices "
            "together.",
        )
    return np.split(np.arange(p), np.cumsum(counts)[:-1])


def ordered_columns(
    areas: FloatArray, shape: tuple[float, float], n_columns: int | None = None
) -> Columns:
    """Return KL's columns of least total half-perimeter with devices in their order ([KL99]_).

    [Cla14]_, 5.1.1, has p_j devices in column j but does not say how to choose p_j; this function
    finds the best numbers. areas (p,), shape: see `best_columns`. n_columns: number of columns;
    None: any number. Unlike BR, devices are not sorted by area. Raises UsageError if there are
    fewer devices than columns.
    """
    height, width = shape
    p = areas.size
    if n_columns is not None and not 1 <= n_columns <= p:
        raise UsageError(f"{p} devices cannot form {n_columns} columns")
    before = np.concatenate([[0.0], np.cumsum(areas)])
    widths = before * (width / before[-1])
    if n_columns is None:
        start, _ = least_columns(widths, height)
        starts = [start] * p
    else:
        starts = _least_of_number(widths, n_columns)
    ends = [p]
    while ends[-1] > 0:
        ends.append(int(starts[len(ends) - 1][ends[-1]]))
    return [np.arange(a, b) for a, b in pairwise(ends[::-1])]


def _least_of_number(widths: FloatArray, n_columns: int) -> list[npt.NDArray[np.int64]]:
    """Return the first device (p + 1,) of the last column, of the last but one, and so on.

    Entry q is for q devices in this column and the columns before it.
    """
    p = widths.size - 1
    counts = np.arange(p + 1, dtype=np.float64)
    cost = np.where(counts == 0, 0.0, np.inf)
    starts = []
    for _ in range(n_columns):
        start, following = np.zeros(p + 1, np.int64), np.full(p + 1, np.inf)
        for q in range(1, p + 1):
            total = cost[:q] + (q - counts[:q]) * (widths[q] - widths[:q])
            start[q] = int(np.argmin(total))
            following[q] = total[start[q]]
        starts.append(start)
        cost = following
    return starts[::-1]


def columns_half_perimeter(
    areas: FloatArray, columns: Sequence[npt.NDArray[np.int64]], shape: tuple[float, float]
) -> float:
    """Return the sum of half-perimeters of devices in columns, before rounding to blocks.

    It has the unit of `shape`. Each column adds the height of the matrix once, and its own width
    once per device in it.
    """
    height, width = shape
    share = np.array([areas[column].sum() for column in columns]) / areas.sum()
    sizes = np.array([column.size for column in columns])
    return float(len(columns) * height + width * (sizes * share).sum())


FEW = 16  # all cuts are searched for at most this many devices (25 ms; two more: 100 ms)
MAX_DEVICES = 256  # limit of good_cuts (0.3 s); columns are then within 1 % of the bound
PLACES = 8  # number of positions where good_cuts tries to cut a box, in each direction
SMALL = 7  # good_cuts searches all cuts of boxes with at most this many devices
MIN_SHARE = 1e-12  # least share of the matrix for an area, as a box needs some width
DIGITS = 10  # widths of boxes are equal if they agree to this many decimals
BETTER = 1 - 1e-12  # cuts count as better than columns if the ratio is below this


@dataclass(frozen=True)
class Cut:
    """A cut of a box into two parts, each of which is a Cut or a device number.

    beside: whether the parts lie side by side; otherwise the first is on top.
    """

    beside: bool
    first: Cut | int
    second: Cut | int


@dataclass
class CutSearch:
    """Branch and bound: finds the best cuts of boxes, each for a run a:b of devices sorted by area.

    areas: sorted. before, least: for each device, the sums of area and of 2 sqrt(area) over the
    devices before it. found: the value, position and direction of the best cut of each box solved.
    """

    areas: list[float]
    before: list[float]
    least: list[float]  # sums of 2 sqrt(area) before each device
    found: dict[tuple[int, int, float], tuple[float, int, bool]] = field(default_factory=dict)

    def best(self, a: int, b: int, height: float, width: float) -> float:
        """Return the least sum of half-perimeters if devices a:b fill a box of this size."""
        if b - a == 1:
            return height + width
        key = (a, b, round(width, DIGITS))
        if key in self.found:
            return self.found[key][0]
        best = (np.inf, 0, False)
        for bound, middle, beside in sorted(self._choices(a, b, height, width)):
            if bound >= best[0] * (1 - 1e-12):
                break
            one, other = self.boxes(a, middle, b, beside, height, width)
            value = self.best(a, middle, *one)
            if value + self._bound(middle, b, *other) < best[0]:
                value += self.best(middle, b, *other)
                if value < best[0]:
                    best = (value, middle, beside)
        self.found[key] = best
        return best[0]

    def boxes(
        self, a: int, middle: int, b: int, beside: bool, height: float, width: float
    ) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return (height, width) of the two boxes that a cut before device `middle` makes."""
        share = (self.before[middle] - self.before[a]) / (self.before[b] - self.before[a])
        if beside:
            return (height, width * share), (height, width * (1 - share))
        return (height * share, width), (height * (1 - share), width)

    def tree(self, order: list[int], a: int, b: int, height: float, width: float) -> Cut | int:
        """Return the best cuts of a box for which `best` was called before.

        order: the device numbers, sorted by area.
        """
        if b - a == 1:
            return order[a]
        _, middle, beside = self.found[a, b, round(width, DIGITS)]
        one, other = self.boxes(a, middle, b, beside, height, width)
        first = self.tree(order, a, middle, *one)
        return Cut(beside, first, self.tree(order, middle, b, *other))

    def _choices(
        self, a: int, b: int, height: float, width: float
    ) -> list[tuple[float, int, bool]]:
        choices = []
        for middle in range(a + 1, b):
            for beside in (True, False):
                one, other = self.boxes(a, middle, b, beside, height, width)
                bound = self._bound(a, middle, *one) + self._bound(middle, b, *other)
                choices.append((bound, middle, beside))
        return choices

    def _bound(self, a: int, b: int, height: float, width: float) -> float:
        """Return a lower bound on the half-perimeters of devices a:b in a box.

        It assumes squares, or for areas whose square does not fit the box, bars across it.
        """
        side = min(height, width)
        bound = self.least[b] - self.least[a]
        while a < b and self.areas[a] > side * side:  # areas are in descending order
            bound += side + self.areas[a] / side - 2 * self.areas[a] ** 0.5
            a += 1
        return bound


def best_cuts(
    areas: FloatArray, shape: tuple[float, float], devices: npt.NDArray[np.int64]
) -> tuple[Cut | int, float]:
    """Return the cuts of least total half-perimeter for `devices`, and their half-perimeter.

    areas (p,): in any unit, above zero for each of `devices`. shape: height and width of the
    matrix; the half-perimeter has the same unit. This takes long for more than FEW devices.
    """
    height, width = shape
    search, order = search_of(areas, shape, devices)
    value = search.best(0, order.size, height, width)
    return search.tree(order.tolist(), 0, order.size, height, width), value


def search_of(
    areas: FloatArray, shape: tuple[float, float], devices: npt.NDArray[np.int64]
) -> tuple[CutSearch, npt.NDArray[np.int64]]:
    """Return a CutSearch for these devices sorted by descending area, and the sorted devices."""
    order = devices[np.argsort(-areas[devices], kind="stable")]
    shares = np.maximum(areas[order] / areas[order].sum(), MIN_SHARE)
    own = shares * (shape[0] * shape[1] / shares.sum())
    before, least = np.cumsum([0.0, *own]), np.cumsum([0.0, *2 * np.sqrt(own)])
    return CutSearch(own.tolist(), before.tolist(), least.tolist()), order


def good_cuts(
    areas: FloatArray, shape: tuple[float, float], devices: npt.NDArray[np.int64]
) -> tuple[Cut | int, float]:
    """Return cuts of small total half-perimeter for `devices`, and their half-perimeter.

    It is the least possible for up to FEW devices, and never more than that of columns or rows. The
    arguments are those of `best_cuts`. Raises UsageError for more than MAX_DEVICES devices.
    """
    if devices.size <= FEW:
        return best_cuts(areas, shape, devices)
    if devices.size > MAX_DEVICES:
        raise UsageError(
            f"guillotine cuts work for at most {MAX_DEVICES} devices, not {devices.size:,}",
            hint="With so many devices, columns (br) are within 1 % of the bound.",
        )
    exact, order = search_of(areas, shape, devices)
    ways = _Ways(exact, np.array(exact.before), order.tolist())
    value, tree = ways.divided(0, order.size, *shape)
    return tree, value


@dataclass
class _Ways:
    """Divisions of boxes by columns, rows or cuts, each for a run a:b of devices sorted by area.

    before: sums of the areas before each device. order: the device numbers, sorted by area.
    """

    exact: CutSearch
    before: FloatArray
    order: list[int]
    known: dict[tuple[int, int, float], float] = field(default_factory=dict)

    def divided(self, a: int, b: int, height: float, width: float) -> tuple[float, Cut | int]:
        """Return the best half-perimeter found for devices a:b, and the division that has it."""
        if b - a <= SMALL:
            value = self.exact.best(a, b, height, width)
            return value, self.exact.tree(self.order, a, b, height, width)
        best, chosen = np.inf, (a + 1, True)
        for middle in np.unique(np.linspace(a + 1, b - 1, PLACES).astype(int)).tolist():
            for beside in (True, False):
                one, other = self.exact.boxes(a, middle, b, beside, height, width)
                value = self.straight(a, middle, *one) + self.straight(middle, b, *other)
                if value < best:
                    best, chosen = value, (middle, beside)
        one, other = self.exact.boxes(a, chosen[0], b, chosen[1], height, width)
        first, tree = self.divided(a, chosen[0], *one)
        second, further = self.divided(chosen[0], b, *other)
        if self.straight(a, b, height, width) <= (first + second) * BETTER:
            return self.straight(a, b, height, width), self._straight_tree(a, b, height, width)
        return first + second, Cut(chosen[1], tree, further)

    def straight(self, a: int, b: int, height: float, width: float) -> float:
        """Return the half-perimeter of the best columns for devices a:b, or of rows if smaller."""
        if b - a == 1:
            return height + width
        key = (a, b, round(width, DIGITS))
        if key not in self.known:
            area = self.before[a : b + 1] - self.before[a]
            sides = (height, width)
            self.known[key] = min(least_columns(area / side, side)[1] for side in sides)
        return self.known[key]

    def _straight_tree(self, a: int, b: int, height: float, width: float) -> Cut | int:
        area = self.before[a : b + 1] - self.before[a]
        upright, lying = (least_columns(area / side, side) for side in (height, width))
        beside = upright[1] <= lying[1]
        start = (upright if beside else lying)[0]
        ends = [b - a]
        while ends[-1] > 0:
            ends.append(int(start[ends[-1]]))
        runs = [self.order[a + i : a + j] for i, j in pairwise(ends[::-1])]
        lines = [_joined(list(run), not beside) for run in runs]
        return _joined(lines, beside)


def _joined(parts: list[Cut | int] | list[int], beside: bool) -> Cut | int:
    return reduce(lambda one, other: Cut(beside, one, other), parts)

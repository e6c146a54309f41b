"""Guillotine cuts for more devices than all cuts can be tried for.

A box is cut where the best columns or rows on either side have the least half-perimeter, at a few
places both ways; then the two parts are cut likewise, until they are small enough for all cuts.
Where no cut is found better than columns these stay: so cuts are never worse.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.errors import UsageError
from evener.tiling.columns import least_columns
from evener.tiling.cuts import DIGITS, FEW, Cut, Search, best_cuts, search_of

MANY = 256  # devices, 0.3 s; columns are within a hundredth of the bound there
PLACES = 8  # at which a box is cut, either way
SMALL = 7  # devices for which all cuts are tried
BETTER = 1 - 1e-12


def good_cuts(
    areas: FloatArray, shape: tuple[float, float], devices: npt.NDArray[np.int64]
) -> tuple[Cut | int, float]:
    """Return cuts of little total half-perimeter for some devices, and that, in shape's unit.

    The least of all for up to FEW devices; never more than columns or rows. Arguments: as for
    `best_cuts`. Raises UsageError for more than MANY devices.
    """
    if devices.size <= FEW:
        return best_cuts(areas, shape, devices)
    if devices.size > MANY:
        raise UsageError(
            f"guillotine cuts are searched for up to {MANY} devices, not {devices.size:,}",
            hint="Columns (br) are within a hundredth of the bound there.",
        )
    exact, order = search_of(areas, shape, devices)
    ways = _Ways(exact, np.array(exact.before), order.tolist())
    value, tree = ways.divided(0, order.size, *shape)
    return tree, value


@dataclass
class _Ways:
    """Columns, rows and cuts of runs a:b of sorted areas in boxes of some height and width."""

    exact: Search
    before: FloatArray
    order: list[int]
    known: dict[tuple[int, int, float], float] = field(default_factory=dict)

    def divided(self, a: int, b: int, height: float, width: float) -> tuple[float, Cut | int]:
        """The half-perimeter of the best division found, and the division."""
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
        """The half-perimeter of columns, or of rows if these have less."""
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

"""Emulated speed surfaces of the nodes of Lille, table 5.2 ([Cla14]_, 3.4 and 5.1); messages.

A node's seconds for a step of PIVOT on m x n elements are those of the area at the speed that
evener.platforms.models.examples has for such a node, longer where a side is short, plus copies of
the two pivots: the thesis's benchmark sends them to itself. Beyond the memory for three matrices
the node pages. How much a short side costs is ours.

The messages of a product over a tiling are sent as in 5.1.5 and 5.2.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evener.arrays import FloatArray
from evener.plans.tiling import Tiling
from evener.platforms.models.examples import curve_set
from evener.platforms.models.fitting import Piecewise

PIVOT = 16  # of the steps, and side of a block; an update of an element is 2 x 16 operations
GIB = 2.0**30
SYSTEM = 0.05e9  # bytes of memory that are not for matrices: three of N = 160,000 are 98 % of it
BYTES = 3 * 8  # of an element of A, B and C
PAGING, RAMP = 25.0, 0.05  # times as slow, reached where memory is exceeded by that part
SHORT = (32.0, 96.0)  # rows and columns at which half the speed is left; ours
COPIED = 2e9  # bytes/s of a pivot to itself
KINDS = {"opteron": 4, "xeon": 8, "xeon-16": 16, "xeon-8": 8}  # GiB, table 5.2
KNOTS, RAMP_KNOTS = 120, 40  # of a model, and where it begins to page


@dataclass(frozen=True)
class NodeSurface:
    """A kind of node: seconds by height and width in blocks of PIVOT x PIVOT elements.

    peak [elements/s] of a step on large squares, launch [s], memory [elements of C]. short:
    whether short sides are slow.
    """

    name: str
    peak: float
    launch: float
    memory: float
    short: bool = True

    def time(self, height: float, width: float) -> float:
        """Return the seconds of height x width blocks [s]."""
        return float(self.times(np.array([height], float), np.array([width], float))[0])

    def times(self, height: FloatArray, width: FloatArray) -> FloatArray:
        """Return seconds of several rectangles, sides above zero."""
        m, n = height * PIVOT, width * PIVOT
        area = m * n
        beyond = np.clip((area / self.memory - 1) / RAMP, 0.0, 1.0)
        cost = area / self.peak * (1 + (PAGING - 1) * beyond)
        if self.short:
            cost = cost * (1 + SHORT[0] / m) * (1 + SHORT[1] / n)
        return np.asarray(self.launch + cost + (m + n) * PIVOT * 8 / COPIED)

    def at_width(self, width: float) -> Piecewise:
        """Return the model of a column `width` wide, with rows as units."""
        loads = self._knots(self.memory / PIVOT**2 / width)
        return Piecewise(loads, loads / self.times(loads, np.full(loads.size, width)))

    @cached_property
    def of_squares(self) -> Piecewise:
        """The 1D model: seconds of squares, by area in blocks."""
        areas = self._knots(self.memory / PIVOT**2)
        return Piecewise(areas, areas / self.times(np.sqrt(areas), np.sqrt(areas)))

    def _knots(self, most: float) -> FloatArray:
        """Return loads from 1 to beyond the one that fills the memory, dense about it."""
        around = most * np.append(1 + RAMP * np.linspace(0, 1, RAMP_KNOTS) ** 2, 1 + 3 * RAMP)
        loads = np.union1d(np.geomspace(1.0, 8 * most + 8, KNOTS), around)
        return loads[loads >= 1.0] if most < 1 else loads


def surfaces_of_lille() -> tuple[NodeSurface, ...]:
    """Return the four kinds of nodes of table 5.2."""
    found = []
    for curve in curve_set("lille"):
        memory = (KINDS[curve.name] * GIB - SYSTEM) / BYTES
        found.append(NodeSurface(curve.name, curve.peak, curve.launch, memory))
    return tuple(found)


LATENCY = 5e-6  # [s] of a message, ours
ELEMENT = 8  # bytes


def sent_seconds(tiling: Tiling, link: float, block: int) -> float:
    """Return the seconds of all messages of a product [s], step by step of a pivot of a block.

    The nodes of the pivot column send their parts of A to each other column of nodes, one message
    after another; in every column of nodes the owner of the pivot row broadcasts its part of B by
    a binomial tree. link [bytes/s]: of each node. block: elements a side of the tiling's blocks.
    """
    own = tiling if tiling.n_columns else tiling.transposed()
    used = np.flatnonzero(own.areas > 0)
    top, height, left, width = (a[used] for a in (own.top, own.height, own.left, own.width))
    lefts = np.unique(left)
    seconds = block * block * ELEMENT / link  # of a block
    rows, down = 0.0, 0.0
    for edge in lefts.tolist():
        column = left == edge
        meets = (top < (top + height)[column, None]) & (top[column, None] < top + height)
        messages = (meets & ~column).sum(axis=1)
        across = height[column] * (lefts.size - 1) * seconds + messages * LATENCY
        rows += float(width[column][0]) * float(across.max())
        rounds = int(np.ceil(np.log2(max(column.sum(), 1))))
        down = max(down, rounds * (float(width[column][0]) * seconds + LATENCY))
    return rows + own.shape[0] * down

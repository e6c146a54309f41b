"""FPM-KL: a grid of devices whose heights and widths follow speed surfaces s(m, n).

Each round takes the speed curves of the surfaces at the current column widths, computes heights in
every column with which its devices finish together, and sets new widths in proportion to the
columns' speeds ([LR10]_; [Cla14]_, 5.1.3). Rounds need not converge: the best grid found is
returned, with a flag that says whether its devices finish together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.errors import InfeasibleError
from evener.plans.tiling import Tiling
from evener.platforms.models.fitting import Constant, Piecewise, SpeedModel
from evener.sizing.solving import solve_sizes
from evener.sizing.tiling.cuts import Columns, grid_columns
from evener.sizing.tiling.whole import nearest_whole

MAX_ROUNDS = 30  # of new widths
TOLERANCE = 0.05  # times of a converged grid differ by at most this fraction of the shortest
KNOTS = 400  # a speed curve that is neither constant nor piecewise is sampled at this many areas
MAX_SPEED = 1e300  # [blocks/s] higher speeds count as this, so that their sums are finite


class TimeSurface(Protocol):
    """Protocol of time as a function of height and width [blocks], for example SpeedSurface."""

    def time(self, height: float, width: float) -> float:
        """Return the time of a rectangle [s]."""

    def at_width(self, width: float) -> SpeedModel:
        """Return the speed model of a device in a column `width` wide, with rows as units."""


@dataclass(frozen=True)
class OfArea:
    """The TimeSurface of a speed model by area, in which the shape does not matter."""

    model: SpeedModel

    def time(self, height: float, width: float) -> float:
        """Return the time of a rectangle [s]."""
        return float(self.model.time(height * width))

    def at_width(self, width: float) -> SpeedModel:
        """Return the speed model of a device in a column `width` wide, with rows as units.

        It is exact for constant and piecewise models; others are sampled at KNOTS areas.
        """
        capacity = self.model.capacity / width
        if isinstance(self.model, Constant):
            return Constant(self.model.rate / width, capacity)
        if isinstance(self.model, Piecewise):
            areas = self.model.loads
        else:
            areas = np.geomspace(1.0, min(self.model.capacity, 1e12), KNOTS)
        return Piecewise(areas / width, self.model.speed(areas) / width, capacity)


class Grid(NamedTuple):
    """A grid of devices.

    seconds (k,): time of each device [s]. converged: see grid_of_surfaces. rounds: number of the
    round in which the grid was found.
    """

    tiling: Tiling
    seconds: FloatArray
    converged: bool
    rounds: int


def grid_of_surfaces(
    surfaces: Sequence[TimeSurface],
    shape: tuple[int, int],
    *,
    n_columns: int | Sequence[int] | None = None,
    block: int = 1,
) -> Grid:
    """Return the grid of devices for a matrix of shape = (rows, columns) [blocks].

    surfaces: times by height and width in blocks. n_columns: see `grid_columns`. The grid has
    converged if the slowest device takes at most 1 + TOLERANCE times as long as the fastest, or if
    the widths of a round were tried before and differ by at most one block from the best ones, as
    whole blocks then permit no improvement. Raises UsageError if the devices do not fill such
    columns, InfeasibleError if a column cannot take its share.
    """
    columns = grid_columns(len(surfaces), n_columns)
    shares = np.ones(len(columns))
    best: Grid | None = None
    best_widths = np.zeros(len(columns), np.int64)
    tried: set[tuple[int, ...]] = set()
    for number in range(1, MAX_ROUNDS + 1):
        widths = nearest_whole(shares * (shape[1] / shares.sum()), shape[1], shape[1])
        if tuple(widths.tolist()) in tried:  # from here on the rounds repeat
            assert best is not None
            if np.abs(widths - best_widths).max() <= 1:
                best = best._replace(converged=True)
            break
        tried.add(tuple(widths.tolist()))
        found, shares = _round(surfaces, columns, widths, shape, block, number)
        if best is None or found.seconds.max() < best.seconds.max():
            best, best_widths = found, widths
        if found.converged:
            break
    assert best is not None
    return best


def _round(
    surfaces: Sequence[TimeSurface],
    columns: Columns,
    widths: npt.NDArray[np.int64],
    shape: tuple[int, int],
    block: int,
    number: int,
) -> tuple[Grid, FloatArray]:
    """Return the grid with these widths, and the speeds of its columns [blocks/s]."""
    boxes = np.zeros((4, len(surfaces)), np.int64)
    seconds = np.zeros(len(surfaces))
    speeds = np.zeros(len(columns))
    edges = np.cumsum(widths) - widths
    for j, (column, width) in enumerate(zip(columns, widths.tolist(), strict=True)):
        if width == 0:
            speeds[j] = 1e-9  # unknown, but above zero so that the column can get width again
            continue
        heights = _heights(surfaces, column, width, shape[0], j)
        boxes[0, column], boxes[1, column] = np.cumsum(heights) - heights, edges[j]
        boxes[2, column], boxes[3, column] = heights, width
        seconds[column] = [
            surfaces[i].time(float(h), float(width)) for i, h in zip(column, heights, strict=True)
        ]
        used = heights > 0
        own = heights[used] * width / seconds[column[used]]
        speeds[j] = np.minimum(own, MAX_SPEED).sum()
    boxes[:, boxes[2] == 0] = 0
    busy = seconds[seconds > 0]
    converged = bool(busy.size == seconds.size and busy.max() <= (1 + TOLERANCE) * busy.min())
    top, left, height, wide = boxes
    return Grid(Tiling(shape, top, left, height, wide, block), seconds, converged, number), speeds


def _heights(
    surfaces: Sequence[TimeSurface],
    column: npt.NDArray[np.int64],
    width: int,
    rows: int,
    j: int,
) -> npt.NDArray[np.int64]:
    models = [surfaces[i].at_width(float(width)) for i in column.tolist()]
    try:
        return np.asarray(solve_sizes(models, rows).sizes, np.int64)
    except InfeasibleError as error:
        raise InfeasibleError(
            f"column {j} of the grid cannot take its {rows:,} x {width:,} blocks: {error.message}",
            hint="Columns that follow areas (1.5d) can place these devices differently.",
        ) from error

"""How a block's exchange grows with its load: a surface law, fitted to blocks that are known.

The vertices at a block's border grow with a power of the block (1/2 in the plane, 2/3 in space),
its messages with the number of its neighbours, whatever its size. The law says what a device
spends on halos at a load that no partition has given it yet.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import BoolArray, FloatArray
from evener.curves import extents
from evener.graphs import Graph
from evener.metrics import Quotient

LEAST = 64  # vertices of a block that says something about surfaces
SPACE = 2 / 3  # the power where no coordinates tell the dimension


@dataclass(frozen=True, eq=False)
class HaloLaw:
    """What devices spend on halos at any load: messages + per_surface x load^power [s], (k,).

    border (k,): the work of vertices at the border, over load^power; it cannot be hidden.
    """

    messages: FloatArray
    per_surface: FloatArray
    border: FloatArray
    power: float

    @property
    def k(self) -> int:
        """Number of devices."""
        return int(self.messages.size)

    def without(self, used: BoolArray) -> HaloLaw:
        """Return the law where devices that are not `used` (k,) exchange nothing."""
        return HaloLaw(
            np.where(used, self.messages, 0.0),
            np.where(used, self.per_surface, 0.0),
            np.where(used, self.border, 0.0),
            self.power,
        )


def surface_power(graph: Graph) -> float:
    """Return the power with which borders grow: 1 - 1/d of a graph with coordinates (n, d)."""
    if graph.coords is None:
        return SPACE
    low, high = extents(graph.coords)
    spread = high - low
    flat = spread > 1e-9 * max(float(spread.max()), 1e-300)
    return 1.0 - 1.0 / max(int(flat.sum()), 2)


def law_of_blocks(
    between: Quotient,
    loads: FloatArray,
    sizes: npt.NDArray[np.int64],
    exchange: FloatArray,
    alpha: FloatArray,
    power: float,
) -> HaloLaw:
    """Return the law that goes through blocks as they are, each through its own.

    loads [units], sizes [vertices], exchange [s] (k,): what they are predicted; alpha (k, k) [s].
    """
    messages = np.zeros(between.k)
    np.add.at(messages, between.block, alpha[between.block, between.other])
    messages = np.minimum(messages, exchange)
    surface = np.maximum(loads, 1e-300) ** power
    return HaloLaw(
        messages,
        np.where(loads > 0, (exchange - messages) / surface, 0.0),
        np.where(loads > 0, _border_work(between, loads, sizes) / surface, 0.0),
        power,
    )


@dataclass(frozen=True, eq=False)
class Surface:
    """What blocks of a graph look like, whichever devices have them.

    values: sent and received by a block of load 1, growing with load^power; border: its work at
    the border; neighbours: the median count, and how it grows with the block's surface over the
    mean of all surfaces.
    """

    values: float
    border: float
    neighbours: tuple[float, float]
    power: float

    def law(
        self,
        loads: FloatArray,
        alpha: FloatArray,
        seconds_per_value: FloatArray,
        used: BoolArray,
    ) -> HaloLaw:
        """Estimate the law of devices that would have blocks of about these loads (k,) [units].

        alpha (k, k) [s]; seconds_per_value (k, k): beta; used (k,): the others have nothing.
        A neighbour is any device used, the likelier the larger its surface, the nearest first.
        """
        k = loads.size
        surface = np.where(used, np.maximum(loads, 1e-300) ** self.power, 0.0)
        mean = surface[used].mean() if used.any() else 1.0
        base, growth = self.neighbours
        count = np.clip(base + growth * (surface / max(mean, 1e-300)), 1.0, max(used.sum() - 1, 0))
        likely = np.broadcast_to(surface, (k, k)).copy()
        np.fill_diagonal(likely, 0.0)
        whole = np.maximum(likely.sum(axis=1), 1e-300)
        mean_alpha = (likely * alpha).sum(axis=1) / whole
        mean_beta = (likely * seconds_per_value).sum(axis=1) / whole
        alone = used.sum() <= 1
        values = 0.0 if alone else self.values
        return HaloLaw(
            np.where(used, count * mean_alpha, 0.0),
            np.where(used, values * mean_beta, 0.0),
            np.where(used & (not alone), self.border, 0.0),
            self.power,
        )


def surface_of(between: Quotient, loads: FloatArray, sizes: npt.NDArray[np.int64], power: float
               ) -> Surface:  # fmt: skip
    """Fit the surface of blocks (k,) of these loads [units] and vertex counts; medians of all."""
    telling = sizes >= LEAST
    if telling.sum() < 1:
        telling = sizes > 0
    surface = np.maximum(loads, 1e-300) ** power
    values = np.bincount(
        between.block, weights=between.sent + between.received, minlength=between.k
    )
    count = np.diff(between.starts).astype(np.float64)
    relative = surface / max(float(surface[telling].mean()), 1e-300)
    growth, base = 0.0, float(np.median(count[telling]))
    if telling.sum() > 2 and np.ptp(relative[telling]) > 0.2:
        growth, base = np.polyfit(relative[telling], count[telling], 1)
        growth = max(float(growth), 0.0)
        base = float(np.median(count[telling] - growth * relative[telling]))
    return Surface(
        float(np.median(values[telling] / surface[telling])),
        float(np.median(_border_work(between, loads, sizes)[telling] / surface[telling])),
        (base, growth),
        power,
    )


def _border_work(between: Quotient, loads: FloatArray, sizes: npt.NDArray[np.int64]) -> FloatArray:
    """(k,) work of the vertices at each border, if all of a block's vertices weigh the same."""
    return np.asarray(loads * (between.boundary / np.maximum(sizes, 1)), np.float64)

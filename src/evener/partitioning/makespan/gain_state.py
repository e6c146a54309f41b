"""SecondsState: the data of a partition that refinement for seconds updates after every move."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, Part
from evener.partitioning.levels.levels import GraphLevel
from evener.partitioning.makespan.search_kernels import DEPTH, FRONTIER
from evener.partitioning.makespan.seconds_kernels import (
    MOST_BLOCKS,
    Bounds,
    Model,
    MoveScratch,
    Totals,
)
from evener.partitioning.refinement.connectivity_kernels import ConnectivityTables
from evener.partitioning.refinement.fm import Flags, boundary_flags
from evener.partitioning.refinement.volumes import connectivity_tables
from evener.plans.costs import Costs

# Set by hand; why was not recorded.
SLOW_RATIO = 0.5  # blocks above this fraction of the longest seconds determine the second_weight
EMPTY_LOAD = 1e-6  # load assumed for an empty block, as a fraction of the mean load


@dataclass(frozen=True, eq=False)
class Prices:
    """Costs, and the data derived from them, which do not change during refinement."""

    costs: Costs

    def __post_init__(self) -> None:
        # Kernels would be compiled again for read-only arrays.
        arrays: dict[str, Any] = {
            field.name: np.require(value, None, ["C", "W"])
            for field in fields(self.costs)
            if isinstance(value := getattr(self.costs, field.name), np.ndarray)
        }
        object.__setattr__(self, "costs", replace(self.costs, **arrays))

    @cached_property
    def slope(self) -> FloatArray:
        """Slope of speed (s,) after each knot [1/s]; 0 after the last knot of a device."""
        slope = np.zeros(self.costs.knot_load.size)
        with np.errstate(divide="ignore", invalid="ignore"):
            slope[:-1] = np.diff(self.costs.knot_speed) / np.diff(self.costs.knot_load)
        slope[self.costs.last - 1] = 0.0
        return slope

    @cached_property
    def _passes(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """For each entry (r,) of route_link: its pair of blocks (b, c) as b k + c, and b."""
        costs = self.costs
        pair = np.repeat(np.arange(costs.k**2), np.diff(costs.route_start))
        return pair, pair // costs.k

    def model(
        self,
        latency_ramp: float = 1.0,
        sent: npt.NDArray[np.int32] | None = None,
        second_weight: FloatArray | None = None,
    ) -> Model:
        """Return the Model by which kernels price moves; latency_ramp, second_weight: see Model.

        sent (k, k) int32: values that blocks send now; if given, delays on shared links count.
        """
        costs = self.costs
        per_value = costs.per_value if sent is None else self._dearer(sent)
        weight = np.ones(costs.k) if second_weight is None else second_weight
        return Model(
            costs.first, costs.last, costs.knot_load, costs.knot_speed, self.slope, costs.alpha,
            per_value, costs.fixed, weight, float(latency_ramp), bool(costs.overlap),
        )  # fmt: skip

    def held_up(self, values: FloatArray) -> tuple[FloatArray, npt.NDArray[np.int64]]:
        """Return the seconds (k,) that each block waits for its slowest shared link, and the link.

        The link is -1 for blocks that use no shared link. values (k, k): values that each pair
        exchanges in both directions.
        """
        costs, k = self.costs, self.costs.k
        floor, slowest = np.zeros(k), np.full(k, -1)
        if costs.shared_per_value.size:
            pair, block = self._passes
            passing = values.ravel()[pair]
            link = costs.route_link
            size = costs.shared_per_value.size
            seconds = costs.shared_per_value * np.bincount(link, passing, size)
            seconds /= 2  # every pair has two entries
            used = np.flatnonzero(passing > 0)
            used = used[np.argsort(seconds[link[used]], kind="stable")]
            slowest[block[used]] = link[used]  # the last one written is the slowest
            floor = np.where(slowest >= 0, seconds[slowest], 0.0)
        return floor, slowest

    def _dearer(self, sent: npt.NDArray[np.int32]) -> FloatArray:
        """Return the seconds per value (k, k), increased for shared links that blocks wait for.

        So one value less over such a link saves more. The increase does not cover the full wait,
        because all blocks that use the link react, and together they would remove too many values.
        """
        costs, k = self.costs, self.costs.k
        values = np.asarray(sent + sent.T, np.float64)
        floor, slowest = self.held_up(values)
        direct = exchanges(costs.alpha, costs.per_value, values)
        waits = floor > direct
        if not waits.any():
            return costs.per_value
        pair, block = self._passes
        over = pair[(costs.route_link == slowest[block]) & waits[block]]
        own = costs.per_value * values
        by_link = np.bincount(over // k, own.ravel()[over], k)
        factor = np.ones(k)
        some = by_link > 0
        factor[some] += (floor - direct)[some] / by_link[some]
        per_value = costs.per_value.copy()
        per_value.ravel()[over] *= np.sqrt(factor)[over // k]
        return per_value


def exchanges(alpha: FloatArray, per_value: FloatArray, values: FloatArray) -> FloatArray:
    """Return the seconds (k,) of each block's messages; values (k, k): in both directions."""
    return np.asarray((alpha * (values > 0) + per_value * values).sum(axis=1))


@dataclass(eq=False)
class SecondsState:
    """A partition (n,) that is refined in place, and the exact totals that determine its seconds.

    flag (n,): whether a vertex is or was at a boundary.
    """

    level: GraphLevel
    part: Part
    bounds: Bounds
    prices: Prices
    flag: Flags
    tables: ConnectivityTables
    scratch: MoveScratch
    totals: Totals

    @classmethod
    def opened(
        cls, level: GraphLevel, part: Part, bounds: Bounds, prices: Prices, threads: int
    ) -> SecondsState:
        """Return the state of `part`: compute the exchanged values and the totals of all blocks."""
        k = prices.costs.k
        flag = boundary_flags(level, part, threads)
        load = _sums(part, bounds.work, k)
        weight = load if bounds.weight is bounds.work else _sums(part, bounds.weight, k)
        memory = _sums(part, bounds.n_bytes, k) if np.isfinite(bounds.caps).any() else np.zeros(k)
        outer = np.zeros(k)
        if prices.costs.overlap:
            outer = _sums(part, np.where(flag > 0, bounds.work, 0.0), k)
        totals = Totals(
            load, weight.copy(), memory, np.bincount(part, minlength=k), outer, np.empty(k),
            np.empty(k), np.empty(k), np.empty(k), prices.costs.first.copy(),
        )  # fmt: skip
        tables = connectivity_tables(level, part, k, flag, of_faces=prices.costs.of_faces)
        scratch = move_scratch(level.n, k)
        scratch.lock[level.fixed] = 1
        return cls(level, part, bounds, prices, flag, tables, scratch, totals)

    def seconds(self) -> FloatArray:
        """Return the predicted seconds (k,) of an iteration."""
        costs, totals = self.prices.costs, self.totals
        values = np.asarray(self.tables.sent + self.tables.sent.T, np.float64)
        floor, _ = self.prices.held_up(values)
        exchange = np.maximum(exchanges(costs.alpha, costs.per_value, values), floor)
        compute, load = costs.compute_seconds(totals.load), totals.load
        total = compute + exchange
        if costs.overlap:
            share = np.divide(totals.outer, load, out=np.zeros_like(load), where=load > 0)
            edge = compute * np.clip(share, 0.0, 1.0)
            total = np.maximum(compute - edge, exchange) + edge
        used = (load > 0) | (values > 0).any(axis=1)
        return np.where(used, total + costs.fixed, 0.0)

    def second_weight(self) -> FloatArray:
        """Return the weights (k,) of the devices in the sum of powers, with geometric mean 1.

        If computing dominates, moving one unit of work shortens a slow device's time more than it
        lengthens a fast one's. Then equal times minimise the sum of powers only if each device is
        weighted with its speed. If exchange dominates, all weights are 1. In between, the weight is
        the speed to the power of the share of computing in the time of the slower blocks.
        """
        costs, seconds = self.prices.costs, self.seconds()
        if not self.totals.load.any():
            return np.ones(costs.k)
        slow = seconds > SLOW_RATIO * seconds.max()
        share = costs.compute_seconds(self.totals.load)[slow].sum() / seconds[slow].sum()
        load = np.maximum(self.totals.load, EMPTY_LOAD * self.totals.load.mean())
        speed = load / costs.compute_seconds(load)
        return np.asarray((speed / np.exp(np.log(speed).mean())) ** share)


def move_scratch(n: int, k: int) -> MoveScratch:
    """Return the work arrays for searches of n vertices in k blocks, initialised as required."""
    d = min(k, MOST_BLOCKS) + 2
    return MoveScratch(
        slot=np.full(k, -1, np.int32),
        block=np.empty(d, np.int32),
        n_neighbours=np.empty(d, np.int32),
        n_only=np.empty(d, np.int32),
        freed_work=np.empty(d),
        own_change=np.empty(d),
        other_change=np.empty(d),
        exchange_after=np.empty(d),
        touching=np.empty(d * d, np.int32),
        queue=np.empty(n, np.int32),
        lock=np.zeros(n, np.int8),
        front=np.empty(FRONTIER, np.int64),
        keys=np.empty(FRONTIER),
        moved=np.empty(DEPTH, np.int64),
        came_from=np.empty(DEPTH, np.int64),
        looks=np.zeros(1, np.int64),
    )


def _sums(part: Part, values: FloatArray, k: int) -> FloatArray:
    return np.bincount(part, weights=values, minlength=k).astype(np.float64, copy=False)

"""An order of devices in which neighbours have cheap links, and what slabs in that order exchange.

Blocks side by side along one line have two neighbours each. Next to a slab hardly thicker than its
border, they touch further ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evener.arrays import BoolArray, FloatArray, IntArray
from evener.planning.device_sets.set_loads import ExchangeLaw
from evener.plans.costs import Costs

MIN_THICKNESS = 1e-12  # of a vertex: thinner slabs are taken to be as thick, lest zero divides
# Further slabs that a side touches: twice (border / thickness of the next slab), at most 3. Set
# by hand with commit f8b625b, 2026-11.
FURTHER_PER_THINNESS, MAX_FURTHER = 2.0, 3.0


def line_of(costs: Costs, speeds: FloatArray, values: float) -> IntArray:
    """(k,) devices in an order in which messages of `values` between neighbours cost little work.

    The price of a message is its time times the speeds of both ends [units]: a fast device would
    do more in that time. Fast devices so come to the ends, with one neighbour, where links are
    alike. A greedy order by that price and one by time are made; the cheaper one is returned.
    """
    message = costs.alpha + costs.per_value * values
    lost = message * np.add.outer(speeds, speeds)
    order = np.argsort(message.sum(axis=1), kind="stable").tolist()
    lines = [_inserted(order, price) for price in (lost, message)]
    return min(lines, key=lambda line: float(lost[line[:-1], line[1:]].sum()))


def _inserted(order: list[int], price: FloatArray) -> IntArray:
    """Insert devices, in this order, where each adds least to the price (k, k) of neighbours."""
    line, to = np.array(order), np.ascontiguousarray(price.T)
    between = np.zeros(line.size + 1)  # price of the two devices at each place now
    for size, device in enumerate(order[1:], 1):
        before, after = np.zeros(size + 1), np.zeros(size + 1)
        before[1:], after[:-1] = to[device, line[:size]], price[device, line[:size]]
        at = int(np.argmin(before + after - between[: size + 1]))
        line[at + 1 : size + 1] = line[at:size]
        between[at + 2 : size + 2] = between[at + 1 : size + 1]
        line[at], between[at], between[at + 1] = device, before[at], after[at]
    return line


@dataclass(frozen=True, eq=False)
class LineArrangement:
    """Devices in line (k,), and their links: alpha and per_value [s] (k, k), in that order.

    each [units]: the work of a mean vertex.
    """

    line: IntArray
    alpha: FloatArray
    per_value: FloatArray
    each: float

    @classmethod
    def of(cls, line: IntArray, costs: Costs, each: float) -> LineArrangement:
        """Return the arrangement of devices in this order."""
        square = np.ix_(line, line)
        return cls(line, costs.alpha[square], costs.per_value[square], each)

    def exchanged(self, section: float) -> ExchangeLaw:
        """Return the exchange of slabs whose sides send `section` values each."""
        border, values = section * self.each, 2.0 * section
        thin = MIN_THICKNESS * self.each

        def exchange(loads: FloatArray, masks: BoolArray) -> tuple[FloatArray, FloatArray]:
            own = loads[:, self.line]
            used = masks[:, self.line] & (own > 0)
            seconds, sides = np.zeros_like(own), np.zeros_like(own)
            for other in (_before(used), _after(used)):
                some, at = used & (other >= 0), np.maximum(other, 0)
                thick = np.maximum(np.take_along_axis(own, at, axis=1), thin)
                touched = 1.0 + np.minimum(FURTHER_PER_THINNESS * border / thick, MAX_FURTHER)
                row = np.arange(own.shape[1])
                cost = touched * self.alpha[row, at] + values * self.per_value[row, at]
                seconds += np.where(some, cost, 0.0)
                sides += some
            part = np.where(used, np.minimum(sides * border / np.maximum(own, thin), 1.0), 0.0)
            result = np.zeros_like(own), np.zeros_like(own)
            result[0][:, self.line], result[1][:, self.line] = seconds, part
            return result

        return exchange


def _before(used: BoolArray) -> IntArray:
    """(s, k) the last used place before each place, -1 where there is none."""
    place = np.where(used, np.arange(used.shape[1]), -1)
    last = np.maximum.accumulate(place, axis=1)
    return np.concatenate([np.full((len(used), 1), -1), last[:, :-1]], axis=1)


def _after(used: BoolArray) -> IntArray:
    """(s, k) the first used place after each place, -1 where there is none."""
    k = used.shape[1]
    place = np.where(used, np.arange(k), k)
    first = np.minimum.accumulate(place[:, ::-1], axis=1)[:, ::-1]
    after = np.concatenate([first[:, 1:], np.full((len(used), 1), k)], axis=1)
    return np.where(after < k, after, -1)

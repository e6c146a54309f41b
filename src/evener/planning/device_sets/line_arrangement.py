"""Devices in line, so that those next to each other are near; what slabs in that order exchange.

Where blocks lie side by side along one line each has two neighbours and no more, unless it is
next to a slab hardly thicker than the border.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evener.arrays import BoolArray, FloatArray, IntArray
from evener.planning.device_sets.equal_finish import Exchanged
from evener.plans.costs import Costs

NEXT_TO_NOTHING = 1e-12  # of a vertex: no slab is thinner
BEYOND, MOST_BEYOND = 2.0, 3.0  # further slabs touched, over border / thickness, and at most


def line_of(costs: Costs, speeds: FloatArray, values: float) -> IntArray:
    """(k,) devices in line, so that messages of `values` between neighbours cost the least work.

    While a message is sent, a fast device would have done more: fast ones stand at the ends, with
    one neighbour, where links leave the choice. Of a line made by seconds and one made by lost work
    the better one.
    """
    message = costs.alpha + costs.per_value * values
    lost = message * np.add.outer(speeds, speeds)
    order = np.argsort(message.sum(axis=1), kind="stable").tolist()
    lines = [_lined_up(order, price) for price in (lost, message)]
    return min(lines, key=lambda line: float(lost[line[:-1], line[1:]].sum()))


def _lined_up(order: list[int], price: FloatArray) -> IntArray:
    """Put devices, in this order, where each adds least to the price (k, k) of neighbours."""
    line, to = np.array(order), np.ascontiguousarray(price.T)
    between = np.zeros(line.size + 1)  # what the two at each place pay each other now
    for size, device in enumerate(order[1:], 1):
        before, after = np.zeros(size + 1), np.zeros(size + 1)
        before[1:], after[:-1] = to[device, line[:size]], price[device, line[:size]]
        at = int(np.argmin(before + after - between[: size + 1]))
        line[at + 1 : size + 1] = line[at:size]
        between[at + 2 : size + 2] = between[at + 1 : size + 1]
        line[at], between[at], between[at + 1] = device, before[at], after[at]
    return line


@dataclass(frozen=True, eq=False)
class Lined:
    """What slabs exchange: devices in line (k,); alpha, per_value (k, k) [s] in that order.

    each [units]: the work of a vertex.
    """

    line: IntArray
    alpha: FloatArray
    per_value: FloatArray
    each: float

    @classmethod
    def of(cls, line: IntArray, costs: Costs, each: float) -> Lined:
        """Put costs in order."""
        square = np.ix_(line, line)
        return cls(line, costs.alpha[square], costs.per_value[square], each)

    def exchanged(self, section: float) -> Exchanged:
        """Return what slabs spend if one side of each sends `section` values."""
        border, values = section * self.each, 2.0 * section
        thin = NEXT_TO_NOTHING * self.each

        def exchange(loads: FloatArray, masks: BoolArray) -> tuple[FloatArray, FloatArray]:
            own = loads[:, self.line]
            used = masks[:, self.line] & (own > 0)
            seconds, sides = np.zeros_like(own), np.zeros_like(own)
            for other in (_before(used), _after(used)):
                some, at = used & (other >= 0), np.maximum(other, 0)
                thick = np.maximum(np.take_along_axis(own, at, axis=1), thin)
                touched = 1.0 + np.minimum(BEYOND * border / thick, MOST_BEYOND)
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
    """(s, k) the place of the last one used before each place, -1 where there is none."""
    place = np.where(used, np.arange(used.shape[1]), -1)
    last = np.maximum.accumulate(place, axis=1)
    return np.concatenate([np.full((len(used), 1), -1), last[:, :-1]], axis=1)


def _after(used: BoolArray) -> IntArray:
    """(s, k) the same for the first one used after each place."""
    k = used.shape[1]
    place = np.where(used, np.arange(k), k)
    first = np.minimum.accumulate(place[:, ::-1], axis=1)[:, ::-1]
    after = np.concatenate([first[:, 1:], np.full((len(used), 1), k)], axis=1)
    return np.where(after < k, after, -1)

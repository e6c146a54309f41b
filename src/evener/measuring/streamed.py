"""Streams a matrix through a device whose memory is too small for it: strips and their schedule.

C (rows x columns) += column (rows x b) times row (b x columns). The row stays on the device; strips
of rows of C and of the column are sent to it, computed, and sent back, each through one of `slots`
buffers. With two, a strip is computed while the next one is sent and the previous one comes back
(double buffering). `StreamedDevice` predicts the duration from stated costs of copies, for devices
that are not present ([Cla14]_, figure 1.1b, shows such a kernel).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from evener.errors import InfeasibleError, InputError

ENTRY = 8  # bytes of a float64
SLOTS = 2  # buffers of strips: one is used for computing while the other is filled and emptied


class Strips(NamedTuple):
    """Rows where strips begin, then the end of the last; in_core: whether C stays on the device."""

    edges: list[int]
    in_core: bool

    @property
    def height(self) -> int:
        """Number of rows of the highest strip."""
        return max(b - a for a, b in pairwise(self.edges))


def bytes_in_core(rows: int, columns: int, block: int) -> int:
    """Return the bytes on the device if C stays there: C, the column and the row."""
    return ENTRY * (rows * columns + block * (rows + columns))


def bytes_of_strips(height: int, columns: int, block: int, slots: int = SLOTS) -> int:
    """Return the bytes on the device with strips of `height` rows."""
    return ENTRY * (slots * height * (columns + block) + block * columns)


def strips_of(rows: int, columns: int, block: int, room: float, slots: int = SLOTS) -> Strips:
    """Return the fewest equal strips of rows that fit into `room` bytes; one if all of C fits.

    Raises InfeasibleError if not even strips of one row fit.
    """
    if bytes_in_core(rows, columns, block) <= room:
        return Strips([0, rows], True)
    most = int((room / ENTRY - block * columns) // (slots * (columns + block)))
    if most < 1:
        need = bytes_of_strips(1, columns, block, slots)
        raise InfeasibleError(
            f"{room:,.0f} bytes of the device are too few for a strip of {columns:,} "
            f"columns, which needs {need:,}",
            hint="Use narrower parts or smaller blocks.",
        )
    count = -(-rows // most)
    return Strips([rows * i // count for i in range(count + 1)], False)


@dataclass(frozen=True)
class StreamedDevice:
    """A device described by its costs: arithmetic, copies between it and its host, memory.

    flops [flop/s]; GB_per_s [10^9 B/s] and alpha [s]: of one copy in either direction; memory [B].
    both_ways: whether copies to the device and from it can overlap (two copy engines). slots:
    buffers of strips, 1 without double buffering.
    """

    flops: float
    GB_per_s: float
    alpha: float
    memory: float
    both_ways: bool = True
    slots: int = field(default=SLOTS)

    def __post_init__(self) -> None:
        values = (self.flops, self.GB_per_s, self.memory)
        if not (all(0 < v < np.inf for v in values) and 0 <= self.alpha < np.inf):
            raise InputError(f"a device's costs must be finite and above zero, not {self}")
        if self.slots < 1:
            raise InputError(f"strips need at least one buffer, not {self.slots}")

    def seconds(self, rows: int, columns: int, block: int) -> float:
        """Return the time of one product [s]; C is on the host if it does not fit on the device."""
        strips = strips_of(rows, columns, block, self.memory, self.slots)
        row = self._copy(block * columns)
        if strips.in_core:
            return row + self._copy(rows * block) + self._product(rows, columns, block)
        heights = [b - a for a, b in pairwise(strips.edges)]
        return self._schedule(heights, columns, block, row)

    def _schedule(self, heights: list[int], columns: int, block: int, begin: float) -> float:
        """Return when the last strip is back; copies and products run in the order of their calls.

        up, compute, down: when each engine is free; a slot is free when its strip is back.
        """
        free = {"up": begin, "compute": 0.0, "down": 0.0 if self.both_ways else begin}
        slot, sent = [0.0] * self.slots, [0.0] * len(heights)

        def copied(way: str, after: float, entries: int) -> float:
            engine = way if self.both_ways else "up"
            free[engine] = max(free[engine], after) + self._copy(entries)
            return free[engine]

        def send(i: int) -> None:
            height = heights[i]
            copied("up", slot[i % self.slots], height * block)
            sent[i] = copied("up", slot[i % self.slots], height * columns)

        for i in range(min(self.slots, len(heights))):
            send(i)
        for i, height in enumerate(heights):
            begin = max(free["compute"], sent[i])
            free["compute"] = begin + self._product(height, columns, block)
            slot[i % self.slots] = copied("down", free["compute"], height * columns)
            if i + self.slots < len(heights):
                send(i + self.slots)
        return max(slot)

    def _copy(self, entries: int) -> float:
        return self.alpha + ENTRY * entries / (self.GB_per_s * 1e9)

    def _product(self, rows: int, columns: int, block: int) -> float:
        return 2.0 * rows * columns * block / self.flops

"""Find whole sizes that sum to n, if each device may only take loads in given runs: a subset sum.

A run is an interval of whole numbers. The sums that the first i devices can reach are stored as
runs, for each i. Devices with a single run are added first: their sums form one wide run, which
closes the gaps of the other devices, so that few runs of sums remain. If many remain, the sums are
stored as the bits of one long integer, and adding a run of loads takes a few shifts.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from evener.arrays import IntArray
from evener.sizing.problems import Problem
from evener.sizing.segments import Runs

Span: TypeAlias = tuple[IntArray, IntArray]  # first and last of ascending runs

MANY_PAIRS = 20_000  # bits are faster if (runs of sums) x (runs of loads) is above this
MAX_PAIRS = 4_000_000  # limit on the same product if n is too large for bits: arrays of 64 MB
MAX_BITS = 2**18  # largest n for which sums may be stored as bits


class TooManyRunsError(Exception):
    """The sums fall into more runs than memory and time allow."""


class _Device(NamedTuple):
    number: int
    first: IntArray
    last: IntArray

    @property
    def gaps(self) -> int:
        return int((self.first[1:] - self.last[:-1]).sum())


def find_sizes(problem: Problem, runs: Runs, wanted: IntArray) -> IntArray | None:
    """Return whole sizes (k,) that lie in the runs and sum to n, or None if there are none.

    Sizes are chosen near `wanted` (k,). Raises TooManyRunsError if n is too large for bits and the
    sums are too scattered.
    """
    counts = np.bincount(runs.device, minlength=problem.k)
    if (counts == 0).any():
        return None
    start = np.cumsum(counts) - counts
    least, most = runs.first[start], runs.last[start + counts - 1]
    if not int(least.sum()) <= problem.n <= int(most.sum()):
        return None
    single = counts == 1
    several = [
        _Device(i, runs.first[start[i] : start[i] + counts[i]],
                runs.last[start[i] : start[i] + counts[i]])
        for i in np.flatnonzero(~single).tolist()
    ]  # fmt: skip
    several.sort(key=lambda device: (device.gaps, device.number))
    base = (int(least[single].sum()), int(most[single].sum()))
    chosen = _by_runs(problem.n, base, several, wanted)
    if chosen is None:
        return None
    sizes, left = np.zeros(problem.k, np.int64), problem.n
    for device, load in zip(several, chosen, strict=True):
        sizes[device.number] = load
        left -= load
    sizes[single] = shared_out(left, least[single], most[single])
    return sizes


def shared_out(n: int, low: IntArray, high: IntArray) -> IntArray:
    """Return whole numbers between low and high that sum to n.

    Each lies at about the same fraction of its range. n must lie between the sums of low and high.
    """
    room = high - low
    more, total = n - int(low.sum()), int(room.sum())
    if total == 0:
        return low.copy()
    extra = np.minimum(np.floor(room * (more / total)).astype(np.int64), room)
    surplus = int(extra.sum()) - more  # above zero only by rounding of large numbers
    if surplus > 0:
        taken = np.minimum(np.cumsum(extra), surplus)
        extra -= np.diff(taken, prepend=0)
    else:
        given = np.minimum(np.cumsum(room - extra), -surplus)
        extra += np.diff(given, prepend=0)
    return np.asarray(low + extra)


def _by_runs(
    n: int, base: tuple[int, int], several: list[_Device], wanted: IntArray
) -> list[int] | None:
    """Return one load per device such that n minus their sum lies in `base`, or None.

    base: first and last sum that the devices with a single run can reach.
    """
    after = _still_to_come(several)
    sums: Span = (np.array([base[0]]), np.array([base[1]]))
    steps = []
    limit = MANY_PAIRS if n <= MAX_BITS else MAX_PAIRS
    for device, (least, most) in zip(several, after, strict=True):
        if sums[0].size * device.first.size > limit:
            if n > MAX_BITS:
                raise TooManyRunsError
            return _by_bits(n, base, several, wanted)
        steps.append(sums)
        sums = _added(sums, device, n - most, n - least)
        if not sums[0].size:
            return None
    if not ((sums[0] <= n) & (sums[1] >= n)).any():
        return None
    chosen, left = [], n
    for device, before in zip(several[::-1], steps[::-1], strict=True):
        load = _nearest(device, before, left, int(wanted[device.number]))
        chosen.append(load)
        left -= load
    return chosen[::-1]


def _still_to_come(several: list[_Device]) -> list[tuple[int, int]]:
    """Return for each device the least and the largest sum of the loads of all later devices."""
    least = most = 0
    result = []
    for device in several[::-1]:
        result.append((least, most))
        least += int(device.first[0])
        most += int(device.last[-1])
    return result[::-1]


def _added(sums: Span, device: _Device, least: int, most: int) -> Span:
    """Return the runs of sums after adding one load of `device`.

    Runs that lie outside [least, most] are dropped.
    """
    first = np.add.outer(sums[0], device.first).ravel()
    last = np.add.outer(sums[1], device.last).ravel()
    useful = (first <= most) & (last >= least)
    first, last = first[useful], last[useful]
    order = np.argsort(first, kind="stable")
    first, last = first[order], np.maximum.accumulate(last[order])
    if not first.size:
        return first, last
    starts = np.flatnonzero(np.r_[True, first[1:] > last[:-1] + 1])
    return first[starts], last[np.r_[starts[1:] - 1, first.size - 1]]


def _nearest(device: _Device, before: Span, total: int, wanted: int) -> int:
    """Return the load nearest to `wanted` for which earlier devices can reach the remaining sum.

    before: runs of sums that the earlier devices can reach. total: sum with this device's load.
    """
    low = np.maximum.outer(device.first, total - before[1])
    high = np.minimum.outer(device.last, total - before[0])
    load = np.clip(wanted, low, high)
    off = np.where(low <= high, np.abs(load - wanted), np.iinfo(np.int64).max)
    return int(load.ravel()[int(np.argmin(off))])


def _by_bits(
    n: int, base: tuple[int, int], several: list[_Device], wanted: IntArray
) -> list[int] | None:
    """Like _by_runs, but the sums up to n are the bits of one integer."""
    mask = (1 << (n + 1)) - 1
    sums = ((1 << (min(base[1], n) + 1)) - (1 << base[0])) & mask if base[0] <= n else 0
    steps = []
    for device in several:
        steps.append(sums)
        bits = 0
        for first, last in zip(device.first.tolist(), device.last.tolist(), strict=True):
            bits |= _smeared(sums, last - first) << first
        sums = bits & mask
    if not sums >> n & 1:
        return None
    chosen, left = [], n
    for device, before in zip(several[::-1], steps[::-1], strict=True):
        load = _nearest_bit(device, before, left, int(wanted[device.number]))
        chosen.append(load)
        left -= load
    return chosen[::-1]


def _smeared(bits: int, width: int) -> int:
    """Return the bitwise or of `bits` shifted left by 0, 1, ..., width; takes log(width) steps."""
    done = 0
    while done < width:
        step = min(done + 1, width - done)
        bits |= bits << step
        done += step
    return bits


def _nearest_bit(device: _Device, before: int, total: int, wanted: int) -> int:
    counts = device.last - device.first + 1
    loads = np.repeat(device.first - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
    loads = loads[loads <= total]
    row = np.frombuffer(before.to_bytes(max(total, before.bit_length()) // 8 + 1, "little"), "u1")
    is_left = np.unpackbits(row, bitorder="little", count=total + 1)[total - loads]
    loads = loads[is_left == 1]
    return int(loads[np.argmin(np.abs(loads - wanted))])

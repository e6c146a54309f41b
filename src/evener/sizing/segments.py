"""Which whole loads are finished in a given time, for constant, piecewise and Akima models.

`CurvePieces` stores the speed curves of all devices in flat arrays, so that they are evaluated all
at once. A constant is one piece. Between neighbouring knots, a piecewise model has a linear piece
and an Akima model a cubic one. Before the first knot and behind the last, speed is constant.

Between two knots of a piecewise model, speed is a + b x, so time x / (a + b x) is monotone in load.
Cubic pieces are cut at the extrema of time. Time is then monotone within each segment, so the whole
loads that are finished in a given time form one run at one end of the segment. All segments are
evaluated at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from evener.arrays import BoolArray, FloatArray, IntArray
from evener.errors import InputError
from evener.platforms.models.akima import Akima
from evener.platforms.models.fitting import Constant, SpeedModel
from evener.platforms.models.piecewise import Piecewise
from evener.sizing.problems import Problem

ROOT_STEPS = 64  # halvings: more than the 53 bits of a double


@dataclass(frozen=True, eq=False)
class CurvePieces:
    """s pieces of the speed curves of k devices, sorted by device and load.

    device (s,) int64. left (s,) [units]: load at which a piece begins, 0 for a device's first
    piece. Speed at load x is the cubic with coefficients (4, s), highest power first, in x - base
    (s,). bernstein (4, s): Bernstein coefficients between base and end (s,), with which the cubic
    pieces of Akima models are evaluated; zero for other pieces. start (k + 1,): first piece of each
    device.
    """

    device: IntArray
    left: FloatArray
    base: FloatArray
    end: FloatArray
    coefficients: FloatArray
    bernstein: FloatArray
    start: IntArray
    is_linear: bool

    def speed(self, piece: IntArray | slice, load: FloatArray | IntArray) -> FloatArray:
        """Return the speed [units/s] at each load; `piece` is the piece in which it lies."""
        a = load - self.base[piece]
        linear = self.coefficients[3, piece] + self.coefficients[2, piece] * a
        if self.is_linear:
            return np.asarray(linear)
        p, q, r, s = self.bernstein[:, piece]
        width = self.end[piece] - self.base[piece]
        u, v = a / width, (self.end[piece] - load) / width
        cubic = ((p * v + 3 * q * u) * v + 3 * r * u * u) * v + s * u * u * u
        return np.where(p > 0, cubic, linear)

    def slope(self, piece: IntArray | slice, load: FloatArray | IntArray) -> FloatArray:
        """Return the derivative of speed [1/s] at each load.

        `piece` is the piece in which it lies.
        """
        u = load - self.base[piece]
        a, b, c, _ = self.coefficients[:, piece]
        return np.asarray(c if self.is_linear else (3 * a * u + 2 * b) * u + c)

    def of(self, device: IntArray, load: FloatArray) -> IntArray:
        """Return the piece (r,) in which each load (r,) of devices (r,) lies."""
        return last_begun(self.left, self.start, device, load)

    def split(self) -> CurvePieces:
        """Return the same curves, with pieces cut such that time is monotone in each piece."""
        if self.is_linear:
            return self
        after = np.r_[self.left[1:], np.inf]
        ends = np.r_[self.device[1:] != self.device[:-1], True]
        right = np.where(ends, self.left, after)  # the last piece of a device is constant
        cut, piece = self._turns(right)
        order = np.lexsort((np.r_[self.left, cut], np.r_[self.device, self.device[piece]]))
        source = np.r_[np.arange(self.device.size), piece][order]
        return CurvePieces(
            self.device[source],
            np.r_[self.left, cut][order],
            self.base[source],
            self.end[source],
            np.ascontiguousarray(self.coefficients[:, source]),
            np.ascontiguousarray(self.bernstein[:, source]),
            _starts(self.device[source], self.start.size - 1),
            False,
        )

    def _turns(self, right: FloatArray) -> tuple[FloatArray, IntArray]:
        """Return the loads at which pieces must be cut, and the piece of each.

        Time x / s has an extremum only where s - x s' is zero. The derivative of s - x s', which is
        -x s'', is zero at most once in a piece. That load is returned too; on either side of it
        there is at most one root.
        """
        a, b = self.coefficients[:2]
        with np.errstate(all="ignore"):
            bend = self.base - b / (3 * a)
        bend = np.where(np.isfinite(bend), np.clip(bend, self.left, right), self.left)
        loads, pieces = [bend], [np.arange(bend.size)]
        for low, high in ((self.left, bend), (bend, right)):
            at_low = np.sign(self._turning(slice(None), low))
            piece = np.flatnonzero(at_low * np.sign(self._turning(slice(None), high)) < 0)
            near, far = low[piece], high[piece]
            for _ in range(ROOT_STEPS):
                middle = near + (far - near) / 2
                same = np.sign(self._turning(piece, middle)) == at_low[piece]
                near, far = np.where(same, middle, near), np.where(same, far, middle)
            loads.append(far)
            pieces.append(piece)
        cut, piece = np.concatenate(loads), np.concatenate(pieces)
        inside = (cut > self.left[piece]) & (cut < right[piece])
        return cut[inside], piece[inside]

    def _turning(self, piece: IntArray | slice, load: FloatArray) -> FloatArray:
        u = load - self.base[piece]
        a, b, c, d = self.coefficients[:, piece]
        return np.asarray(((a * u + b) * u + c) * u + d - load * ((3 * a * u + 2 * b) * u + c))


def can_stack(models: Iterable[SpeedModel]) -> bool:
    """Return whether all models are constant, piecewise or Akima."""
    return set(map(type, models)) <= {Constant, Piecewise, Akima}


def stacked(models: Iterable[SpeedModel]) -> CurvePieces:
    """Return the CurvePieces of all models; capacities are ignored."""
    parts = [_pieces(model) for model in models]
    counts = np.array([left.size for left, _, _ in parts])
    device = np.repeat(np.arange(counts.size), counts)
    left, coefficients, bernstein = (np.concatenate(p, axis=-1) for p in zip(*parts, strict=True))
    last = np.r_[device[1:] != device[:-1], True]
    end = np.where(last, left + 1.0, np.r_[left[1:], 0.0])
    start = _starts(device, counts.size)
    is_linear = not bernstein.any()
    return CurvePieces(device, left, left, end, coefficients, bernstein, start, is_linear)


def follows(device: IntArray) -> BoolArray:
    """Return booleans (s - 1,): whether an entry has the same device as the previous entry."""
    return np.asarray(device[1:] == device[:-1])


def _starts(device: IntArray, k: int) -> IntArray:
    return np.searchsorted(device, np.arange(k + 1))


def _pieces(model: SpeedModel) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the left ends of a model's pieces, and their power and Bernstein coefficients."""
    if isinstance(model, Constant):
        return _ZERO, np.array([[0.0], [0.0], [0.0], [model.rate]]), np.zeros((4, 1))
    assert isinstance(model, Piecewise | Akima)
    loads = model.breaks if isinstance(model, Akima) else model.loads
    speeds = model.speeds
    coefficients, bernstein = np.zeros((2, 4, loads.size + 1))
    coefficients[3, 0], coefficients[3, 1:] = speeds[0], speeds
    if isinstance(model, Akima):
        coefficients[:, 1:-1], bernstein[:, 1:-1] = model.coefficients, model.bernstein
    else:
        coefficients[2, 1:-1] = np.diff(speeds) / np.diff(loads)
    return np.concatenate([_ZERO, loads]), coefficients, bernstein


_ZERO = np.zeros(1)


def last_begun(
    begin: FloatArray | IntArray, start: IntArray, device: IntArray, load: FloatArray | IntArray
) -> IntArray:
    """Return for each device (r,) its last entry whose `begin` is at most the load (r,).

    The entries of device d are start[d] to start[d + 1] - 1, in ascending order of `begin`. If all
    of them begin above the load, the device's first entry is returned. All binary searches run at
    once.
    """
    low, high = start[device], start[device + 1] - 1
    while (low < high).any():
        middle = (low + high + 1) // 2
        right = begin[middle] <= load
        low, high = np.where(right, middle, low), np.where(right, high, middle - 1)
    return low


NEWTON_STEPS = 6  # for a first guess within a cubic piece, which bisection then refines


@dataclass(frozen=True, eq=False)
class Runs:
    """Whole loads of all devices as runs first..last, ends included, with gaps between runs.

    device, first, last: (r,) int64, sorted by device and load.
    """

    device: IntArray
    first: IntArray
    last: IntArray


class Segments:
    """The whole loads above zero of k devices, in s segments with monotone time.

    It implements `Loads`. device, first, last: (s,) int64, sorted by device and load; devices that
    cannot take one unit have no segment.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._pieces = stacked(problem.models).split()
        device, left = self._pieces.device, self._pieces.left
        high = problem.high[device]
        # A whole knot belongs to the segment on its right.
        first = np.maximum(np.ceil(np.minimum(left, high + 1.0)).astype(np.int64), 1)
        last = np.where(np.r_[~follows(device), True], high, np.r_[first[1:] - 1, 0])
        first, last = np.maximum(first, problem.low[device]), np.minimum(last, high)
        self._piece = np.flatnonzero(first <= last)
        self.device = device[self._piece]
        self.first, self.last = first[self._piece], last[self._piece]
        self._fixed = problem.fixed[self.device]
        everything = np.arange(self.device.size)
        self._at_first = self._times(everything, self.first)
        self._at_last = self._times(everything, self.last)
        self._check()
        self._least = np.minimum(self._at_first, self._at_last)
        self._has_zero = problem.low == 0
        self._start = np.searchsorted(self.device, np.arange(problem.k + 1))

    def times(self, sizes: IntArray) -> FloatArray:
        """Return the seconds (k,) that the devices take for whole sizes (k,) within the limits."""
        seconds = np.zeros(self.problem.k)
        used = np.flatnonzero(np.asarray(sizes) > 0)
        if used.size:
            seconds[used] = self._times(self._segment_of(used, sizes[used]), sizes[used])
        return seconds

    def bounds(self) -> tuple[float, float]:
        """Return a time [s] too short for n units, and a time enough for all allowed sizes."""
        if not self.device.size:
            return 0.0, 0.0
        # Within a segment no load is done faster than at one of its ends.
        fastest = np.zeros(self.problem.k)
        for load in (self.first, self.last):
            np.maximum.at(fastest, self.device, self._pieces.speed(self._piece, load))
        early = self.problem.n / fastest.sum() * (1 - 1e-9)
        return float(early), float(self._latest().max())

    def needed(self) -> float:
        """Return the least time [s] by which every device can finish some load in its limits."""
        least = np.full(self.problem.k, np.inf)
        np.minimum.at(least, self.device, self._least)
        return float(least[~self._has_zero].max(initial=0.0))

    def largest(self, seconds: float) -> IntArray:
        """Return the largest whole loads (k,) that devices finish in `seconds`; at least `low`."""
        done = np.flatnonzero(self._least <= seconds)
        final = np.full(self.problem.k, -1)
        final[self.device[done]] = done  # the last segment of a device overwrites its others
        result = self.problem.low.copy()
        some = final >= 0
        _, result[some] = self._run(final[some], seconds)
        return result

    def runs(self, seconds: float) -> Runs:
        """Return all whole loads that the devices finish in `seconds`, including zero."""
        done = np.flatnonzero(self._least <= seconds)
        first, last = self._run(done, seconds)
        zeros = np.flatnonzero(self._has_zero)
        at = np.searchsorted(self.device[done], zeros)  # zero comes before all other loads
        device = np.insert(self.device[done], at, zeros)
        return joined(device, np.insert(first, at, 0), np.insert(last, at, 0))

    def next_time(self, seconds: float) -> float:
        """Return the least time above `seconds` that any whole load takes; infinity if none."""
        later = float(np.min(self._least, where=self._least > seconds, initial=np.inf))
        split = np.flatnonzero((self._least <= seconds) & (self._latest() > seconds))
        if split.size:
            first, last = self._run(split, seconds)
            rising = self._at_last[split] > seconds
            beyond = np.where(rising, last + 1, first - 1)
            later = min(later, float(self._times(split, beyond).min()))
        return later

    def _latest(self) -> FloatArray:
        return np.maximum(self._at_first, self._at_last)

    def _check(self) -> None:
        is_finite = np.isfinite(self._at_first + self._at_last)
        if not is_finite.all():
            name = self.problem.name(int(self.device[np.argmin(is_finite)]))
            raise InputError(
                f"device {name} takes too long: its time exceeds the largest floating-point number"
            )

    def _times(self, segment: IntArray, load: IntArray) -> FloatArray:
        with np.errstate(over="ignore"):
            speed = self._pieces.speed(self._piece[segment], load)
            return np.asarray(load / speed + self._fixed[segment])

    def _segment_of(self, device: IntArray, load: IntArray) -> IntArray:
        """Return the segment in which each load (r,) of devices (r,) lies."""
        return last_begun(self.first, self._start, device, load)

    def _run(self, segment: IntArray, seconds: float) -> tuple[IntArray, IntArray]:
        """Return the first and last load of each segment that is finished in `seconds`.

        At least one end of each segment must be finished in this time.
        """
        first, last = self.first[segment], self.last[segment]
        at_first = self._at_first[segment] <= seconds
        rising = at_first & (self._at_last[segment] > seconds)
        if rising.any():
            last[rising] = self._crossing(segment[rising], seconds)
        if not at_first.all():
            first[~at_first] = self._crossing(segment[~at_first], seconds)
        return first, last

    def _crossing(self, segment: IntArray, seconds: float) -> IntArray:
        """Return the load of each segment where the run of finished loads ends.

        One end of each segment is finished in `seconds` and the other is not; the run starts at the
        finished end.
        """
        rising = self._at_first[segment] <= seconds
        inside = np.where(rising, self.first[segment], self.last[segment])  # done
        outside = np.where(rising, self.last[segment], self.first[segment])  # not done
        guess = self._guess(segment, seconds)
        for step in range(200):
            ahead = np.abs(outside - inside) > 1
            if not ahead.any():
                break
            near, far = np.minimum(inside, outside) + 1, np.maximum(inside, outside) - 1
            near, far = np.minimum(near, far), np.maximum(near, far)
            # The formula is right up to rounding: its neighbours are tried before halving.
            around = np.floor(guess) + (0, 1, -1)[step % 3] if step < 3 else (near + far) // 2
            trial = np.clip(around, near, far).astype(np.int64)
            done = self._times(segment, trial) <= seconds
            inside = np.where(ahead & done, trial, inside)
            outside = np.where(ahead & ~done, trial, outside)
        return np.asarray(inside)

    def _guess(self, segment: IntArray, seconds: float) -> FloatArray:
        """Return the real load at which time crosses `seconds`.

        It is exact if speed is linear, else an approximation by Newton's method.
        """
        piece, left = self._piece[segment], seconds - self._fixed[segment]
        first, last = self.first[segment], self.last[segment]
        load: FloatArray = first + (last - first) / 2
        for _ in range(1 if self._pieces.is_linear else NEWTON_STEPS):
            speed, slope = self._pieces.speed(piece, load), self._pieces.slope(piece, load)
            with np.errstate(all="ignore"):
                load = load - (load - left * speed) / (1 - left * slope)
            load = np.clip(np.where(np.isfinite(load), load, first), first, last)
        return load


def joined(device: IntArray, first: IntArray, last: IntArray) -> Runs:
    """Return the Runs first..last of each device, with adjacent runs joined.

    The runs must be sorted by device and load and must not overlap.
    """
    if not device.size:
        return Runs(device, first, last)
    opens = np.r_[True, (device[1:] != device[:-1]) | (first[1:] > last[:-1] + 1)]
    starts = np.flatnonzero(opens)
    return Runs(device[starts], first[starts], last[np.r_[starts[1:] - 1, device.size - 1]])

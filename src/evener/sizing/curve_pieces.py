"""The pieces of the speed models of all devices in flat arrays, evaluated all at once.

A constant is one piece; a piecewise model has a linear piece between neighbouring knots, an Akima
model a cubic one. Before the first knot and behind the last, speed is constant.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from evener.arrays import BoolArray, FloatArray, IntArray
from evener.platforms.models.akima import Akima
from evener.platforms.models.fitting import Constant, SpeedModel
from evener.platforms.models.piecewise import Piecewise

ROOT_STEPS = 64  # halvings: more than the 53 bits of a double


@dataclass(frozen=True, eq=False)
class CurvePieces:
    """s pieces of the speed curves of k devices, by device and load.

    device (s,) int64; left (s,) [units]: load at which a piece begins, 0 for a device's first.
    Speed at x is the cubic with coefficients (4, s), highest power first, in x - base (s,).
    bernstein (4, s): coefficients of cubic pieces between base and end (s,), which Akima models
    are evaluated by; zero for the others. start (k + 1,): first piece of each device.
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
        """Return the speed at loads that lie in these pieces [units/s]."""
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
        """Return the derivative of speed at loads that lie in these pieces [1/s]."""
        u = load - self.base[piece]
        a, b, c, _ = self.coefficients[:, piece]
        return np.asarray(c if self.is_linear else (3 * a * u + 2 * b) * u + c)

    def of(self, device: IntArray, load: FloatArray) -> IntArray:
        """Return the piece in which the load of each device lies."""
        return last_begun(self.left, self.start, device, load)

    def split(self) -> CurvePieces:
        """Return the same curves with pieces cut so that time only rises or only falls in each."""
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
        """Return loads at which time turns within a piece, and these pieces.

        Time x / s turns where s - x s' is zero. The derivative of that, -x s'', is zero at most
        once in a piece: on either side of it there is one root or none.
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
    """Return the pieces of all models, without their capacities."""
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
    """Return (s - 1,) whether an entry is of the same device as the one before."""
    return np.asarray(device[1:] == device[:-1])


def _starts(device: IntArray, k: int) -> IntArray:
    return np.searchsorted(device, np.arange(k + 1))


def _pieces(model: SpeedModel) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the left ends of a model's pieces, and their coefficients in both forms."""
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
    """Return the last entry of each device (r,) that begins at its load (r,) or below.

    begin: ascending within [start[d], start[d + 1]) for each device d. The device's first entry
    where all begin above. Binary searches, all at once.
    """
    low, high = start[device], start[device + 1] - 1
    while (low < high).any():
        middle = (low + high + 1) // 2
        right = begin[middle] <= load
        low, high = np.where(right, middle, low), np.where(right, high, middle - 1)
    return low

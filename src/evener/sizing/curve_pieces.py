"""Speed models side by side: the pieces of all devices in flat arrays, asked all at once.

A constant is one piece, a piecewise model a linear piece between any two knots, an Akima model a
cubic one; before the first knot and behind the last, speed is constant.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from evener.arrays import BoolArray, FloatArray, IntArray
from evener.platforms.models.akima import Akima
from evener.platforms.models.fitting import Constant, SpeedModel
from evener.platforms.models.piecewise import Piecewise

ROOT_STEPS = 64  # halvings that bring any two floats together


@dataclass(frozen=True, eq=False)
class CurvePieces:
    """s pieces of the speed curves of k devices, by device and load.

    device (s,) int64; left (s,) load at which each begins, 0 for a device's first [units];
    speed at x is the cubic with coefficients (4, s), highest power first, in x - base (s,).
    bernstein (4, s): of cubic pieces, the same between base and end (s,), as Akima has it; zero
    for the others. start (k + 1,): of each device's pieces.
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
        """Speed at loads that lie in these pieces [units/s]."""
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
        """Derivative of speed at loads that lie in these pieces [1/s]."""
        u = load - self.base[piece]
        a, b, c, _ = self.coefficients[:, piece]
        return np.asarray(c if self.is_linear else (3 * a * u + 2 * b) * u + c)

    def of(self, device: IntArray, load: FloatArray) -> IntArray:
        """The piece in which each device's load lies."""
        return last_begun(self.left, self.start, device, load)

    def split(self) -> CurvePieces:
        """The same curves, cut where time turns: within a piece it only rises or only falls."""
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
        """Loads at which time turns, and their pieces.

        Time turns where s - x s' is zero. Its derivative is -x s'', which is zero once in a piece
        at most: on either side of that load there is one root or none.
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
    """Whether all models are of kinds that CurvePieces can hold."""
    return set(map(type, models)) <= {Constant, Piecewise, Akima}


def stacked(models: Iterable[SpeedModel]) -> CurvePieces:
    """Lay models side by side; their capacities stay behind."""
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
    """Whether each entry but the first is of the same device as the one before, (s - 1,)."""
    return np.asarray(device[1:] == device[:-1])


def _starts(device: IntArray, k: int) -> IntArray:
    return np.searchsorted(device, np.arange(k + 1))


def _pieces(model: SpeedModel) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Left ends of a model's pieces, and their coefficients in both forms."""
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
    """Index of the last that begins at `load` or below, by binary searches all at once.

    begin: ascending within [start[d], start[d + 1]) for each device d; device, load: as many. The
    device's first where all begin above.
    """
    low, high = start[device], start[device + 1] - 1
    while (low < high).any():
        middle = (low + high + 1) // 2
        right = begin[middle] <= load
        low, high = np.where(right, middle, low), np.where(right, high, middle - 1)
    return low

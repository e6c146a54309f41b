"""Which samples the thesis's rule of shape drops ([Cla14]_, 3.2.1).

GPA needs speed to rise, concave, up to some load and to fall from there on. Then a line through
the origin meets the curve once, and time rises with load. Noise breaks this on a small scale; the
rule takes out the points that break it.
"""

from __future__ import annotations

import numpy as np

from evener.arrays import BoolArray, FloatArray


def kept_by_shape(loads: FloatArray, speeds: FloatArray) -> BoolArray:
    """Return which points the rule keeps, (m,) bool; the fastest is always among them.

    loads [units] rise strictly from above zero, speeds [units/s] are above zero. "Concave" counts
    the origin as a point of the curve: only so does time never fall.
    """
    top = int(np.argmax(speeds))
    points = list(zip(loads.tolist(), speeds.tolist(), strict=True))
    kept = np.zeros(loads.size, dtype=np.bool_)
    kept[_rising(points, top)] = True
    kept[top:] = speeds[top:] <= np.minimum.accumulate(speeds[top:])
    return kept


def _rising(points: list[tuple[float, float]], top: int) -> list[int]:
    """Return the points up to the fastest that rise and turn only downward.

    A point from which the curve goes on more steeply than it came is taken out, and the one
    before it is looked at again: what remains is the upper hull, seen from the origin.
    """
    kept: list[int] = []
    for i in range(top + 1):
        if kept and points[i][1] < points[kept[-1]][1]:
            continue
        while kept:
            before = points[kept[-2]] if len(kept) > 1 else (0.0, 0.0)
            if _slope(points[kept[-1]], points[i]) <= _slope(before, points[kept[-1]]):
                break
            kept.pop()
        kept.append(i)
    return kept


def _slope(a: tuple[float, float], b: tuple[float, float]) -> float:
    return (b[1] - a[1]) / (b[0] - a[0])

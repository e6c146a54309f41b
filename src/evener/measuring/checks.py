"""Samples that stand out from those beside them: each is measured once more before it is believed.

A neighbour on the core, or a clock that jumped, makes one sample far slower or faster than the
next loads on either side. A curve may do so, too: then the second measurement agrees.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from evener.durations import duration
from evener.measuring.outcomes import Outcome, Point
from evener.samples import Sample

FAR = math.log(2.0)  # of the logarithm of speed
BESIDE = math.log(2.0)  # of the logarithm of load: nearer, one neighbour alone is enough


@dataclass(frozen=True)
class Check:
    """A point that stood out, and what came of measuring its load again."""

    first: Point
    second: Outcome

    @property
    def load(self) -> float:
        """The load of both [units]."""
        return self.first.load

    def kept(self, samples: Sequence[Sample]) -> Point:
        """Return the point that is nearer to the samples beside. samples: by load, of all loads."""
        if not (isinstance(self.second, Point) and self.second.sample.status == "ok"):
            return self.first
        i = next(i for i, sample in enumerate(samples) if sample.load == self.load)
        beside = [*samples[max(i - 1, 0) : i], *samples[i + 1 : i + 2]]

        def distance(point: Point) -> float:
            return sum(abs(math.log(point.sample.speed / other.speed)) for other in beside)

        return min(self.first, self.second, key=distance)

    def __str__(self) -> str:
        second = self.second
        again = duration(second.sample.seconds) if isinstance(second, Point) else second.message
        return f"{self.load:.0f}: {duration(self.first.sample.seconds)}, then {again}"


def odd_load(samples: Sequence[Sample], checked: Collection[float]) -> int | None:
    """Return a load whose speed is far above or far below those of both loads beside it.

    samples: by load. checked: loads that were measured again before. At the ends, where there is
    one neighbour, it has to be near.
    """
    fine = [sample for sample in samples if sample.status == "ok"]
    for i, sample in enumerate(fine):
        beside = [*fine[max(i - 1, 0) : i], *fine[i + 1 : i + 2]]
        if sample.load not in checked and _stands_out(sample, beside):
            return round(sample.load)
    return None


def _stands_out(sample: Sample, beside: Sequence[Sample]) -> bool:
    off = [math.log(sample.speed / other.speed) for other in beside]
    if not off or (len(off) == 1 and abs(math.log(sample.load / beside[0].load)) > BESIDE):
        return False
    return min(off) > FAR or max(off) < -FAR

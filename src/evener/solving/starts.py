"""Where rounds of sizes begin: which devices, and loads that hold an estimated halo."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evener.arrays import BoolArray, FloatArray
from evener.solving.estimates import Estimator
from evener.solving.evening import Exchanged
from evener.solving.found import signature


@dataclass(frozen=True, eq=False)
class Start:
    """Sizes to begin with: loads (k,) [units], estimated seconds [s]."""

    loads: FloatArray
    seconds: float

    @property
    def count(self) -> int:
        """How many devices have anything."""
        return int((self.loads > 0).sum())

    @property
    def name(self) -> str:
        """What a step is called that begins here."""
        return "one device" if self.count == 1 else f"{self.count} devices"


def starts_of(
    estimator: Estimator, sets: BoolArray, exchanged: Exchanged, within: float
) -> list[Start]:
    """Return where to begin, the most hopeful first, one of sets of devices alike.

    sets: masks (s, k), of which devices are dropped whose messages alone would last too long.
    within [s]: what is estimated to take longer is left out.
    """
    found = estimator.evening.evened(sets, exchanged, drop=True)
    kinds = estimator.kinds if len(sets) > 1 else np.arange(estimator.k)
    starts: dict[object, Start] = {}
    for i in found.seconds.argsort(kind="stable").tolist():
        if found.seconds[i] <= within:
            own = found.loads[i]
            alike = signature(np.flatnonzero(own > 0), own, kinds)
            starts.setdefault(alike, Start(own, float(found.seconds[i])))
    return list(starts.values())

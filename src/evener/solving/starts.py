"""Where rounds of sizes begin: which devices, and loads that hold an estimated halo."""

from __future__ import annotations

from dataclasses import dataclass

from evener.arrays import BoolArray, FloatArray
from evener.solving.evening import Evening, Exchanged


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
    evening: Evening, sets: BoolArray, exchanged: Exchanged, within: float
) -> list[Start]:
    """Return where to begin, the most hopeful first, one for each set of devices that remains.

    sets: masks (s, k), of which devices are dropped whose messages alone would last too long.
    within [s]: what is estimated to take longer is left out.
    """
    found = evening.evened(sets, exchanged, drop=True)
    starts: dict[bytes, Start] = {}
    for i in found.seconds.argsort(kind="stable").tolist():
        if found.seconds[i] <= within:
            own = found.loads[i]
            starts.setdefault((own > 0).tobytes(), Start(own, float(found.seconds[i])))
    return list(starts.values())

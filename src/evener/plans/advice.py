"""Choice, Advice: what using each set of devices of a machine would bring."""

from __future__ import annotations

from dataclasses import dataclass

from evener.arrays import IntVector
from evener.platforms.platform import Platform
from evener.wording import brief, ranges

MANY = 1e4  # times faster: digits beyond three are noise
WORTH = 1.005  # times faster: less is not worth a word


@dataclass(frozen=True, eq=False)
class Choice:
    """One set of devices, and what an iteration on it takes.

    devices: indices, ascending; nodes: how many, where rows are of whole nodes. seconds: per
    iteration [s]; planned: by a real partition, else an estimate that the plans of others
    correct. speed_up: over the best single device; efficiency: the time of all their speeds
    together, over seconds. cost, energy [J]: of 1,000 iterations, None where a device does not
    say.
    """

    devices: IntVector
    seconds: float
    planned: bool
    speed_up: float
    efficiency: float
    cost: float | None
    energy: float | None
    nodes: int | None = None

    def __repr__(self) -> str:
        return brief(self)


@dataclass(frozen=True, eq=False)
class Advice:
    """The best set of each size; all devices; the fewest that are nearly as fast as the best.

    choices: by number of devices, ascending; nodes: by number of whole nodes, empty where there
    are none. complete: whether every set left out of the plans is likely to be slower.
    """

    platform: Platform
    choices: tuple[Choice, ...]
    nodes: tuple[Choice, ...]
    best: Choice
    knee: Choice
    everyone: Choice | None
    complete: bool

    def __repr__(self) -> str:
        return brief(self)

    @property
    def gain(self) -> float:
        """How many times faster the best set is than all devices; infinity where all cannot."""
        if self.everyone is None:
            return float("inf")
        return self.everyone.seconds / self.best.seconds if self.best.seconds > 0 else 1.0

    @property
    def left_out(self) -> list[str]:
        """Names of the devices that the best set does without."""
        used = set(self.best.devices.tolist())
        return [name for i, name in enumerate(self.platform.names) if i not in used]

    def verdict(self) -> str:
        """The advice in one sentence."""
        k = self.platform.k
        if k == 1:
            return "There is one device: use it."
        if not self.left_out:
            return f"Use all {k} devices: no set of fewer is faster."
        out = ranges(self.left_out)
        if self.best.devices.size < len(self.left_out):
            alone = ranges([self.platform.names[i] for i in self.best.devices.tolist()])
            out = f"the other {len(self.left_out):,}"
            if self.everyone is not None:
                return f"Use {alone} alone, leave {out} out: {self._faster()}."
        if self.everyone is None:
            return f"Leave {out} out: not every device can have a part of this graph."
        return f"Leave {out} out: {self._faster()}."

    def _faster(self) -> str:
        if self.gain < WORTH:
            return "as fast without"
        if self.gain >= MANY:
            return f"{self.gain:.3g} times faster"
        return f"{self.gain:.{1 if self.gain >= 1.095 else 2}f} times faster"

"""Choice, Advice: predicted seconds of sets of devices, and which set to use."""

from __future__ import annotations

from dataclasses import dataclass

from evener.arrays import IntVector
from evener.platforms.platform import Platform
from evener.wording import all_of, brief, from_above, plural, ranges, time_of, two_lines

MANY = 1e4  # ratio from which three digits are shown
WORTH = 1.005  # ratio below which times count as equal


@dataclass(frozen=True, eq=False)
class Choice:
    """One set of devices and the predicted seconds of an iteration on it.

    devices: indices, ascending; nodes: number of whole nodes, for choices of whole nodes only.
    seconds [s]: per iteration; planned: whether seconds come from a real partition; otherwise they
    are an estimate, corrected by plans of other sets. speed_up: over the best single device;
    efficiency: (work / sum of speeds) / seconds. cost, energy [J]: of 1,000 iterations, None if a
    device does not state it.
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
    """The best set of devices of each size.

    choices: by ascending number of devices; nodes: by number of whole nodes, may be empty. best:
    the fastest; knee: the fewest devices that are nearly as fast; everyone: all devices, None if
    not all can have a block. complete: whether every set without a plan is likely slower than the
    best. ideal [s]: time of all devices together without exchange, if speeds are relative; else
    None.
    """

    platform: Platform
    choices: tuple[Choice, ...]
    nodes: tuple[Choice, ...]
    best: Choice
    knee: Choice
    everyone: Choice | None
    complete: bool
    ideal: float | None = None

    def __repr__(self) -> str:
        best, knee = self.best, self.knee
        first = f"best {best.devices.size:,} of {plural(self.platform.k, 'device')}"
        second = f"knee {plural(knee.devices.size, 'device')}, {time_of(knee.seconds, self.ideal)}"
        return two_lines("Advice", [first, f"{time_of(best.seconds, self.ideal)} per iteration"],
                         [second, f"{plural(len(self.choices), 'set')} considered"])  # fmt: skip

    def _repr_html_(self) -> str:
        html: str = from_above("evener.reporting.notebook:advice_html")(self)
        return html

    @property
    def gain(self) -> float:
        """Seconds of all devices / seconds of the best set.

        Infinity if not all devices can be used.
        """
        if self.everyone is None:
            return float("inf")
        return self.everyone.seconds / self.best.seconds if self.best.seconds > 0 else 1.0

    @property
    def left_out(self) -> list[str]:
        """Names of the devices that are not in the best set."""
        used = set(self.best.devices.tolist())
        return [name for i, name in enumerate(self.platform.names) if i not in used]

    def verdict(self) -> str:
        """Return the advice in one sentence."""
        k = self.platform.k
        if k == 1:
            return "There is one device: use it."
        if not self.left_out:
            return f"Use {all_of(k, 'device').lower()}: no smaller set is faster."
        out = ranges(self.left_out, len(self.left_out))
        if self.best.devices.size < len(self.left_out):
            used = [self.platform.names[i] for i in self.best.devices.tolist()]
            alone = ranges(used, len(used))
            out = f"the other {len(self.left_out):,}"
            if self.everyone is not None:
                return f"Use {alone} alone, leave {out} out: {self._faster()}."
        if self.everyone is None:
            return f"Leave {out} out: not every device can take a part of this graph."
        return f"Leave {out} out: {self._faster()}."

    def _faster(self) -> str:
        if self.gain < WORTH:
            return "as fast without"
        if self.gain >= MANY:
            return f"{self.gain:.3g} times faster"
        return f"{self.gain:.{1 if self.gain >= 1.095 else 2}f} times faster"

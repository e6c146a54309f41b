"""Searches for a better mapping by swaps, and shakes that lead searches out of where they end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evener.arrays import FloatArray, IntVector
from evener.partitioning.mapping import cost_kernels
from evener.partitioning.mapping import swap_kernels as kernels
from evener.partitioning.mapping.cost_kernels import Scene
from evener.partitioning.mapping.swap_kernels import Nearby
from evener.plans.partition import MappingScore

Aim = tuple[FloatArray, FloatArray]

SAME = 1e-12  # seconds that differ by less, relative, are the same
BUDGET = 20_000_000  # messages looked at by one search
SHAKE_SEED = 90_471  # any number does, the same one always
SHAKES, SHAKES_WORK = 24, 10_000_000  # times a mapping is shaken; times blocks x messages
SWAPS = (2, 5, 16)  # at random, around the block that is done last


@dataclass(frozen=True, eq=False)
class Search:
    """Improves mappings, (k,) the device of every block; each search returns a new one.

    alike (k,): equal for devices that take each other's blocks.
    """

    scene: Scene
    nearby: Nearby
    alike: IntVector

    @property
    def aims(self) -> tuple[Aim, Aim]:
        """What messages cost, fixed and a byte, by kind of link: in hops, and in seconds."""
        return (np.zeros_like(self.scene.alpha), self.scene.hops), (
            self.scene.alpha,
            self.scene.beta,
        )

    def cheaper(self, start: IntVector, aim: Aim, ceiling: float = np.inf) -> IntVector:
        """Swap while all messages together cost less; nobody becomes later than `ceiling` [s]."""
        device, at, seconds = self._state(start)
        kernels.lower_cost(self.scene, *aim, ceiling, self.nearby, BUDGET, device, at, seconds)
        return device

    def sooner(self, start: IntVector, goal: float = 0.0) -> IntVector:
        """Swap for the makespan until it is at most `goal` [s], or as low as swaps bring it."""
        device, at, seconds = self._state(start)
        kernels.lower_makespan(self.scene, SAME, goal, self.nearby, BUDGET, device, at, seconds)
        return device

    def soonest(self, start: IntVector) -> IntVector:
        """As sooner, shaken and searched again some times."""
        best, rng = start, np.random.default_rng(SHAKE_SEED)
        least = score_of(self.scene, best).seconds
        for turn in range(self.shakes):
            device = self.sooner(self._shaken(best, self.aims[1], turn, rng))
            seconds = score_of(self.scene, device).seconds
            if seconds <= least:
                best, least = device, seconds
        return best

    def nearest(self, start: IntVector, ceiling: float) -> IntVector:
        """Swap for bytes x hops, shaken and searched again some times; done by `ceiling` [s]."""
        best, rng = self._nearer(start, ceiling), np.random.default_rng(SHAKE_SEED)
        least = score_of(self.scene, best).hop_bytes
        for turn in range(self.shakes):
            shaken = self._shaken(best, self.aims[0], turn, rng)
            device = self._nearer(self.sooner(shaken, ceiling), ceiling)
            score = score_of(self.scene, device)
            if score.seconds <= ceiling and score.hop_bytes <= least:
                best, least = device, score.hop_bytes
        return best

    @property
    def shakes(self) -> int:
        """How many times: fewer for many blocks or messages, none for thousands."""
        work = self.alike.size * max(self.scene.other.size, 1)
        return int(np.clip(SHAKES_WORK // work, 0, SHAKES))

    def _nearer(self, start: IntVector, ceiling: float) -> IntVector:
        if score_of(self.scene, start).seconds > ceiling:
            return start
        device = self.cheaper(start, self.aims[0], ceiling)
        return device if score_of(self.scene, device).seconds <= ceiling else start

    def _shaken(self, start: IntVector, aim: Aim, turn: int, rng: np.random.Generator) -> IntVector:
        """Swap some blocks around the one done last at random; or, in every second turn, all
        blocks on devices like its own, after which the others follow.
        """
        device, at, seconds = self._state(start)
        last = int(seconds.argmax())
        if turn % 2 == 0:
            kind = self.alike[last]
            same = np.flatnonzero((self.alike == kind) & (self.alike[device] == kind))
            device[same] = device[rng.permutation(same)]
            return self.cheaper(device, aim)
        around = self.scene.other[self.scene.starts[last] : self.scene.starts[last + 1]]
        swaps = SWAPS[turn // 2 % len(SWAPS)]
        movers = rng.choice(np.r_[last, around], swaps)
        for b, c in zip(movers.tolist(), rng.integers(0, at.size, swaps).tolist(), strict=True):
            p, q = device[b], device[c]
            if cost_kernels.fits(self.scene, b, q) and cost_kernels.fits(self.scene, c, p):
                device[b], device[c] = q, p
        return device

    def _state(self, start: IntVector) -> tuple[IntVector, IntVector, FloatArray]:
        """Return a copy of the mapping, its inverse, and the seconds of every block."""
        seconds = np.empty(start.size)
        cost_kernels.count_seconds(self.scene, start, seconds)
        return start.copy(), np.argsort(start), seconds


def score_of(scene: Scene, device: IntVector) -> MappingScore:
    """Return what a mapping is judged by."""
    seconds = np.empty(device.size)
    hop_bytes = cost_kernels.count_seconds(scene, device, seconds)
    return MappingScore(float(seconds.max()), float(hop_bytes))

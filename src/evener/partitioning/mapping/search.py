"""Improves mappings by swaps of two blocks, and by perturbations that are searched again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray, IntVector
from evener.partitioning.mapping import mapping_kernels as kernels
from evener.partitioning.mapping.mapping_kernels import MappingProblem, Nearby
from evener.plans.partition import MappingScore

SAME = 1e-12  # relative: seconds that differ by less are equal
BUDGET = 20_000_000  # messages looked at by one search, at most
SEED = 90_471  # an arbitrary number, always the same: mappings are deterministic
# Perturbations of a mapping: fewer, where their number x blocks x messages would exceed the work.
MAX_PERTURBED, PERTURBED_WORK = 24, 10_000_000
SWAPS = (2, 5, 16)  # random swaps of a perturbation, in turn


class MessagePrice(NamedTuple):
    """What a message costs by kind of link: fixed, and rate per byte."""

    fixed: FloatArray
    rate: FloatArray


@dataclass(frozen=True, eq=False)
class SwapSearch:
    """Searches that improve a mapping, the device (k,) of every block; each returns a new one.

    alike (k,): equal numbers for devices that may take each other's blocks.
    """

    problem: MappingProblem
    nearby: Nearby
    alike: IntVector

    @property
    def in_hops(self) -> MessagePrice:
        """The price that adds up to bytes x hops."""
        return MessagePrice(np.zeros_like(self.problem.alpha), self.problem.hops)

    @property
    def in_seconds(self) -> MessagePrice:
        """The price that adds up to the seconds of all messages."""
        return MessagePrice(self.problem.alpha, self.problem.beta)

    def cheaper(self, start: IntVector, price: MessagePrice, ceiling: float = np.inf) -> IntVector:
        """Swap while all messages together cost less; no block takes longer than `ceiling` [s]."""
        device, at, seconds = self._state(start)
        kernels.lower_cost(self.problem, *price, ceiling, self.nearby, BUDGET, device, at, seconds)
        return device

    def sooner(self, start: IntVector, goal: float = 0.0) -> IntVector:
        """Swap while the makespan falls and is above `goal` [s]."""
        device, at, seconds = self._state(start)
        kernels.lower_makespan(self.problem, SAME, goal, self.nearby, BUDGET, device, at, seconds)
        return device

    def soonest(self, start: IntVector) -> IntVector:
        """As `sooner`, then perturb the best mapping and search again, several times."""
        best, rng = start, np.random.default_rng(SEED)
        least = score_of(self.problem, best).seconds
        for turn in range(self.perturbations):
            device = self.sooner(self._perturbed(best, self.in_seconds, turn, rng))
            seconds = score_of(self.problem, device).seconds
            if seconds <= least:
                best, least = device, seconds
        return best

    def nearest(self, start: IntVector, ceiling: float) -> IntVector:
        """Swap for fewer bytes x hops, perturb the best and search again, several times.

        No block takes longer than `ceiling` [s], unless one does in `start`.
        """
        best, rng = self._nearer(start, ceiling), np.random.default_rng(SEED)
        least = score_of(self.problem, best).hop_bytes
        for turn in range(self.perturbations):
            perturbed = self._perturbed(best, self.in_hops, turn, rng)
            device = self._nearer(self.sooner(perturbed, ceiling), ceiling)
            score = score_of(self.problem, device)
            if score.seconds <= ceiling and score.hop_bytes <= least:
                best, least = device, score.hop_bytes
        return best

    @property
    def perturbations(self) -> int:
        """How many times a mapping is perturbed: fewer for many blocks or messages, or never."""
        work = self.alike.size * max(self.problem.other.size, 1)
        return int(np.clip(PERTURBED_WORK // work, 0, MAX_PERTURBED))

    def _nearer(self, start: IntVector, ceiling: float) -> IntVector:
        if score_of(self.problem, start).seconds > ceiling:
            return start
        device = self.cheaper(start, self.in_hops, ceiling)
        return device if score_of(self.problem, device).seconds <= ceiling else start

    def _perturbed(
        self, start: IntVector, price: MessagePrice, turn: int, rng: np.random.Generator
    ) -> IntVector:
        """Return the mapping with random swaps around the block that finishes last.

        In every second turn, all blocks on devices like its own are permuted instead, and then
        the other blocks are swapped for cheaper messages.
        """
        device, at, seconds = self._state(start)
        last = int(seconds.argmax())
        if turn % 2 == 0:
            kind = self.alike[last]
            same = np.flatnonzero((self.alike == kind) & (self.alike[device] == kind))
            device[same] = device[rng.permutation(same)]
            return self.cheaper(device, price)
        around = self.problem.other[self.problem.starts[last] : self.problem.starts[last + 1]]
        swaps = SWAPS[turn // 2 % len(SWAPS)]
        movers = rng.choice(np.r_[last, around], swaps)
        for b, c in zip(movers.tolist(), rng.integers(0, at.size, swaps).tolist(), strict=True):
            p, q = device[b], device[c]
            if kernels.fits(self.problem, b, q) and kernels.fits(self.problem, c, p):
                device[b], device[c] = q, p
        return device

    def _state(self, start: IntVector) -> tuple[IntVector, IntVector, FloatArray]:
        """Return a copy of the mapping, its inverse, and the seconds of every block."""
        seconds = np.empty(start.size)
        kernels.count_seconds(self.problem, start, seconds)
        return start.copy(), np.argsort(start), seconds


def score_of(problem: MappingProblem, device: IntVector) -> MappingScore:
    """Return the makespan and the bytes x hops of a mapping."""
    seconds = np.empty(device.size)
    hop_bytes = kernels.count_seconds(problem, device, seconds)
    return MappingScore(float(seconds.max()), float(hop_bytes))

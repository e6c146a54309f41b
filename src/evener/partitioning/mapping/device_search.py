"""Searches for mappings: an initial mapping along the machine's tree, then swaps of two blocks.

The initial mapping is made by dual recursive bipartitioning [PR96]_ of the quotient graph: from the
root down, the devices are divided into two halves between groups of the tree, and the blocks into
two halves with few bytes between them. A half gets as many blocks of every kind as it has devices
of this kind. Later, mappings are perturbed and improved again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntVector
from evener.partitioning.initial import halving_kernels
from evener.partitioning.initial.trees import Tree, leaf_order
from evener.partitioning.mapping import mapping_kernels as kernels
from evener.partitioning.mapping.mapping_kernels import MappingProblem, Nearby
from evener.plans.partition import MappingScore

PASSES = 8  # of Kernighan-Lin improvement of a division
# Number of divisions tried: TRIES_WORK / (number of blocks)^2, within these limits.
TRIES_WORK, MIN_TRIES, MAX_TRIES = 1 << 22, 3, 12


def multisection(problem: MappingProblem, tree: Tree, alike: IntVector) -> IntVector:
    """Return the device (k,) of every block; that of block b is in the same group as device b.

    alike (k,): group numbers; devices of a group can take each other's blocks.
    """
    order = leaf_order(tree)
    device = np.arange(order.size)
    everyone = np.arange(order.size)
    waiting = [(order, 0, everyone)]
    while waiting:
        devices, depth, blocks = waiting.pop()
        # Levels at which all of these devices are in one group are skipped.
        while depth < len(tree) and np.ptp(tree[depth, devices]) == 0:
            depth += 1
        if depth == len(tree):
            device[blocks] = _one_to_one(devices, blocks, alike)
            continue
        half = _half(tree[depth, devices])
        blocks_of = _halved(problem, devices[:half], blocks, alike)
        waiting.append((devices[:half], depth, blocks_of[0]))
        waiting.append((devices[half:], depth, blocks_of[1]))
    return device


def _half(groups: IntVector) -> int:
    """Return the position between two groups of devices that is nearest to the middle."""
    ends = np.flatnonzero(np.diff(groups)) + 1
    return int(ends[np.abs(ends - groups.size / 2).argmin()])


def _one_to_one(devices: IntVector, blocks: IntVector, alike: IntVector) -> IntVector:
    """Return devices (m,) for these blocks; that of block b is in the same group as device b."""
    result = np.empty_like(blocks)
    by_kind = np.argsort(alike[blocks], kind="stable")
    result[by_kind] = np.sort(devices)[np.argsort(alike[np.sort(devices)], kind="stable")]
    return result


def _halved(
    problem: MappingProblem, first: IntVector, blocks: IntVector, alike: IntVector
) -> tuple[IntVector, IntVector]:
    """Divide the blocks in two: those for the `first` devices, and the others."""
    k = alike.size
    kind = np.zeros(k, np.int64)
    names, kind[blocks] = np.unique(alike[blocks], return_inverse=True)
    room = np.bincount(np.searchsorted(names, alike[first]), minlength=names.size)
    here = np.zeros(k, np.bool_)
    here[first] = True
    given = np.full(k, -1, np.int8)
    given[blocks] = np.where(here[blocks], 0, 1)
    starts = (
        [given]
        if (np.bincount(kind[blocks[here[blocks]]], minlength=names.size) == room).all()
        else []
    )
    starts += _grown(problem, blocks, kind, room)
    best, least = given, np.inf
    for side in starts:
        bytes_between = halving_kernels.improve(
            problem.starts, problem.other, problem.n_bytes, blocks, kind, names.size, PASSES, side
        )
        if bytes_between < least:
            best, least = side, bytes_between
    return blocks[best[blocks] == 0], blocks[best[blocks] == 1]


def _grown(
    problem: MappingProblem, blocks: IntVector, kind: IntVector, room: IntVector
) -> list[npt.NDArray[np.int8]]:
    """Return several divisions (k,): 0 for the first half, 1 for the second, -1 for other blocks.

    Each first half is grown from one block. Every second division starts at the block that the
    previous one reached last, which lies at the rim.
    """
    tries = int(np.clip(TRIES_WORK // blocks.size**2, MIN_TRIES, MAX_TRIES))
    tie = np.empty(kind.size)
    grown: list[npt.NDArray[np.int8]] = []
    first = int(blocks[0])
    for turn in range(tries):
        side = np.full(kind.size, -1, np.int8)
        side[blocks] = 1
        last = halving_kernels.grow(
            problem.starts, problem.other, problem.n_bytes, blocks, kind, room.copy(), first, side,
            tie,
        )  # fmt: skip
        grown.append(side)
        first = int(last) if turn % 2 == 0 else int(blocks[turn * blocks.size // tries])
    return grown


SAME = 1e-12  # seconds with a smaller relative difference are equal
BUDGET = 20_000_000  # limit on the messages that one search examines
SEED = 90_471  # arbitrary, but constant, so that mappings are deterministic
# Number of perturbations: at most MAX_PERTURBED, and PERTURBED_WORK / (blocks x messages).
MAX_PERTURBED, PERTURBED_WORK = 24, 10_000_000
SWAPS = (2, 5, 16)  # numbers of random swaps in successive perturbations


class MessagePrice(NamedTuple):
    """The cost of a message for each kind of link: fixed + rate x bytes."""

    fixed: FloatArray
    rate: FloatArray


@dataclass(frozen=True, eq=False)
class SwapSearch:
    """Searches that improve a mapping (the device (k,) of every block); each returns a new mapping.

    alike (k,): group numbers; devices of a group can take each other's blocks.
    """

    problem: MappingProblem
    nearby: Nearby
    alike: IntVector

    @property
    def in_hops(self) -> MessagePrice:
        """The price with which the cost of all messages is bytes x hops."""
        return MessagePrice(np.zeros_like(self.problem.alpha), self.problem.hops)

    @property
    def in_seconds(self) -> MessagePrice:
        """The price with which the cost of all messages is their total seconds."""
        return MessagePrice(self.problem.alpha, self.problem.beta)

    def cheaper(self, start: IntVector, price: MessagePrice, ceiling: float = np.inf) -> IntVector:
        """Swap blocks while this reduces the cost of all messages.

        No swap lets a block take longer than `ceiling` [s].
        """
        device, at, seconds = self._state(start)
        kernels.lower_cost(self.problem, *price, ceiling, self.nearby, BUDGET, device, at, seconds)
        return device

    def sooner(self, start: IntVector, goal: float = 0.0) -> IntVector:
        """Swap blocks while this reduces the makespan and the makespan is above `goal` [s]."""
        device, at, seconds = self._state(start)
        kernels.lower_makespan(self.problem, SAME, goal, self.nearby, BUDGET, device, at, seconds)
        return device

    def soonest(self, start: IntVector) -> IntVector:
        """Perturb the best mapping and call `sooner`, several times; return the best mapping."""
        best, rng = start, np.random.default_rng(SEED)
        least = score_of(self.problem, best).seconds
        for turn in range(self.perturbations):
            device = self.sooner(self._perturbed(best, self.in_seconds, turn, rng))
            seconds = score_of(self.problem, device).seconds
            if seconds <= least:
                best, least = device, seconds
        return best

    def nearest(self, start: IntVector, ceiling: float) -> IntVector:
        """Swap blocks for fewer bytes x hops; perturb the best mapping and repeat, several times.

        No block takes longer than `ceiling` [s], unless one already does in `start`.
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
        """Number of perturbations of a mapping; fewer, or none, for many blocks and messages."""
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
        """Return the mapping after random swaps around the block that finishes last.

        In every second turn, the blocks of its group (see alike) on devices of this group are
        permuted instead, and then blocks are swapped for cheaper messages.
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
    """Return the makespan [s] and the bytes x hops of a mapping."""
    seconds = np.empty(device.size)
    hop_bytes = kernels.count_seconds(problem, device, seconds)
    return MappingScore(float(seconds.max()), float(hop_bytes))

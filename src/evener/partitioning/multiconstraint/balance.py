"""Brings blocks of several weights within all their limits, at little cut.

Vertices move to neighbouring blocks as long as that brings blocks nearer to their targets; where
it does no more, to any block, as a weight may be missing wherever a block has neighbours. Where
nothing helps, limits that are not kept are made to weigh more, as in breakout local search, and
pairs of vertices are exchanged.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, Part
from evener.partitioning.multiconstraint import multiconstraint_kernels as kernels
from evener.partitioning.multiconstraint.loads import Bounds, Loaded
from evener.partitioning.refinement.fm import boundary_flags

ROUNDS = 24
WITHIN = 0.8  # of the way from a limit to its target: blocks give and take up to there
LOOKS = 20_000_000  # of a vertex at a block, in one round of moves to anywhere
MOVES = 4  # for each vertex, in one descent
PRESSURE = 3.0  # how much more limits weigh, each time, that are not kept
MOST_SWAPS = 500
PAIRS, LEAST_SAMPLE = 300_000, 8  # tried for a swap; vertices of a block that are


@dataclass(frozen=True)
class Care:
    """How long balancing goes on.

    anywhere: also with moves to blocks that are not next door. breakouts: how often limits that
    are not kept are made to weigh more. swaps: pairs exchanged in each, for each block.
    """

    anywhere: bool = True
    breakouts: int = 12
    swaps: int = 20


THOROUGH, PLAIN, NEXT_DOOR = Care(), Care(breakouts=2, swaps=0), Care(False, 0, 0)


def balance(loaded: Loaded, part: Part, bounds: Bounds, care: Care = THOROUGH) -> FloatArray:
    """Move vertices in `part`, in place, until all limits hold or nothing helps.

    Returns what the blocks weigh then, (k, c).
    """
    work = _Work.of(loaded, part, bounds)
    work.settle(anywhere=care.anywhere)
    for _ in range(care.breakouts):
        if work.done:
            break
        work.press()
        work.settle(anywhere=care.anywhere)
        work.swap(care.swaps)
    return work.weight


@dataclass(eq=False)
class _Work:
    """A level, its blocks and their weight (k, c), and scratch (n,)."""

    loaded: Loaded
    part: Part
    bounds: Bounds
    cost: FloatArray
    weight: FloatArray
    place: npt.NDArray[np.int32]
    items: npt.NDArray[np.int32]
    keys: FloatArray

    @classmethod
    def of(cls, loaded: Loaded, part: Part, bounds: Bounds) -> _Work:
        n = loaded.n
        return cls(
            loaded, part, bounds, bounds.cost.copy(), loaded.weight(part, bounds.k),
            np.full(n, -1, np.int32), np.empty(n, np.int32), np.empty(n),
        )  # fmt: skip

    @property
    def done(self) -> bool:
        return bool(kernels.count_off(self.weight, self.bounds.low, self.bounds.high) == 0)

    def press(self) -> None:
        """Let limits that are not kept weigh more: what was a lowest point is none any more."""
        self.cost[self.bounds.off(self.weight) > 0] *= PRESSURE

    def settle(self, *, anywhere: bool) -> None:
        """Descend until all limits hold or no move helps, next door before anywhere."""
        for share in (WITHIN, 0.0):
            for _ in range(ROUNDS):
                if self.done:
                    return
                if self.descend(share, anywhere=False):
                    continue
                if not (anywhere and self.descend(share, anywhere=True)):
                    break

    def descend(self, share: float, *, anywhere: bool) -> bool:
        """Return whether moves lowered what blocks are off."""
        level = self.loaded.level
        before = float(self.bounds.off(self.weight).sum())
        moved = kernels.descend(
            level.xadj, level.adjncy, level.adjwgt, self.loaded.loads, self.part, self.weight,
            self.bounds.low, self.bounds.high, *self.bounds.inner(share), self.cost,
            self._anyone() if anywhere else self._boundary(), anywhere, MOVES * self.loaded.n,
            self.place, self.items, self.keys,
        )  # fmt: skip
        return moved > 0 and float(self.bounds.off(self.weight).sum()) < 0.999 * before

    def _boundary(self) -> npt.NDArray[np.int64]:
        return np.flatnonzero(boundary_flags(self.loaded.level, self.part, 1))

    def _anyone(self) -> npt.NDArray[np.int64]:
        """Vertices spread over all, those of blocks outside their limits first."""
        most = max(LOOKS // self.weight.size, 64)
        off = self.bounds.off(self.weight).max(axis=1) > 0
        order = np.argsort(~off[self.part], kind="stable")
        pressing = int(off[self.part].sum())
        return np.concatenate(
            [own[:: 1 + 2 * own.size // most] for own in (order[:pressing], order[pressing:])]
        )

    def swap(self, most: int) -> None:
        """Exchange pairs, for the block that is most off first, up to `most` for each block."""
        k = self.bounds.k
        if self.done or most == 0:
            return
        starts, members = np.zeros(k + 1, np.int64), np.empty(self.loaded.n, np.int64)
        kernels.list_members(self.part, starts, members)
        sample = max(int((PAIRS / k) ** 0.5), LEAST_SAMPLE)
        stuck = np.zeros(k, np.bool_)
        for _ in range(min(most * k, MOST_SWAPS)):
            off = np.where(stuck, 0.0, self.bounds.off(self.weight).max(axis=1))
            p = int(off.argmax())
            if off[p] <= 0:
                return
            stuck[p] = not kernels.swap_best(
                starts, members, p, sample, self.loaded.loads, self.weight, self.bounds.low,
                self.bounds.high, self.cost, self.part,
            )  # fmt: skip
            stuck &= stuck[p]

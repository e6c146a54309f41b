"""Balances blocks in several weights, and reduces their cut within the limits.

Vertices move to neighbouring blocks as long as that brings blocks nearer to their targets. Then
they move to any block, as a block that needs more of a weight may have neighbours that cannot give
any. If no move helps, violated limits get a higher cost, as in breakout local search, and pairs of
vertices are exchanged. The cut is reduced by localized k-way FM.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import BoolArray, FloatArray, Part, flags_of
from evener.partitioning.levels.heap_kernels import IndexedHeap
from evener.partitioning.multiconstraint import multiconstraint_kernels as kernels
from evener.partitioning.multiconstraint.loads import LoadBounds, Loaded
from evener.partitioning.refinement.fm import (
    EVEN_PRICE,
    MOST_LOOKS,
    Flags,
    FMEffort,
    boundary_flags,
    least_won,
    search_in_rounds,
    shuffle,
    stopping_rule,
)
from evener.partitioning.refinement.fm_kernels import BlockState, Marks, WeightLimits

MAX_DESCENTS = 24  # largest number of descents in a row with the same limits
INSIDE = 0.8  # blocks first give and take up to this fraction of the way from limit to target
PLACES_LOOKED_AT = 20_000_000  # pairs (vertex, block) tried in one descent with moves to any block
MOVES_PER_VERTEX = 4  # largest number in one descent
LEAST_PROGRESS = 0.001  # a descent must reduce the violation by at least this fraction
PRESSURE = 3.0  # factor by which the cost of violated limits grows in each breakout
MAX_SWAPS = 500  # largest number in one breakout
SWAPS_TRIED = 300_000  # pairs of vertices tried for one swap
LEAST_SAMPLE = 8  # least number of vertices of each block among these


@dataclass(frozen=True)
class BalanceEffort:
    """The effort of balancing.

    anywhere: whether vertices also move to blocks in which they have no neighbour. breakouts: how
    often the cost of violated limits is raised. swaps: pairs exchanged per block in each breakout.
    """

    anywhere: bool = True
    breakouts: int = 12
    swaps: int = 20


THOROUGH = BalanceEffort()
COARSE = BalanceEffort(breakouts=2, swaps=0)
NEIGHBOURS_ONLY = BalanceEffort(anywhere=False, breakouts=0, swaps=0)


def balance(
    loaded: Loaded, part: Part, bounds: LoadBounds, effort: BalanceEffort = THOROUGH
) -> FloatArray:
    """Change `part` (n,) in place until blocks satisfy all limits or no move helps.

    Returns the weights (k, c) of the blocks.
    """
    work = _Balancing.of(loaded, part, bounds)
    work.settle(anywhere=effort.anywhere)
    for _ in range(effort.breakouts):
        if work.done:
            break
        work.press()
        work.settle(anywhere=effort.anywhere)
        work.swap(effort.swaps)
    return work.weight


@dataclass(eq=False)
class _Balancing:
    """A level with its blocks, their weights (k, c), and the cost of violations (k, c)."""

    loaded: Loaded
    part: Part
    bounds: LoadBounds
    cost: FloatArray
    weight: FloatArray
    heap: IndexedHeap
    fixed: BoolArray

    @classmethod
    def of(cls, loaded: Loaded, part: Part, bounds: LoadBounds) -> _Balancing:
        n, fixed = loaded.n, loaded.level.fixed
        return cls(
            loaded, part, bounds, bounds.cost.copy(), loaded.weight(part, bounds.k),
            IndexedHeap(np.empty(n, np.int32), np.empty(n), np.full(n, -1, np.int32)),
            flags_of(fixed, n if fixed.size else 0),
        )  # fmt: skip

    @property
    def done(self) -> bool:
        return bool(kernels.count_off(self.weight, self.bounds.limits) == 0)

    def press(self) -> None:
        """Raise the cost of violated limits, so that moves help again."""
        self.cost[self.bounds.off(self.weight) > 0] *= PRESSURE

    def settle(self, *, anywhere: bool) -> None:
        """Descend until all limits are satisfied or no move helps.

        Moves to neighbouring blocks are tried first, then, with `anywhere`, moves to any block.
        """
        for share in (INSIDE, 0.0):
            for _ in range(MAX_DESCENTS):
                if self.done:
                    return
                if self.descend(share, anywhere=False):
                    continue
                if not (anywhere and self.descend(share, anywhere=True)):
                    break

    def descend(self, share: float, *, anywhere: bool) -> bool:
        """Descend once; return whether the violation fell.

        share: moves bring weights toward narrower limits, which lie between the limits (share 0)
        and the targets (share 1).
        """
        before = float(self.bounds.off(self.weight).sum())
        moved = kernels.descend(
            self.loaded.level.arrays, self.loaded.loads, self.part, self.fixed, self.weight,
            self.bounds.limits, self.bounds.inner(share), self.cost,
            self._anyone() if anywhere else self._boundary(), anywhere,
            MOVES_PER_VERTEX * self.loaded.n, self.heap,
        )  # fmt: skip
        after = float(self.bounds.off(self.weight).sum())
        return moved > 0 and after < (1 - LEAST_PROGRESS) * before

    def _boundary(self) -> npt.NDArray[np.int64]:
        return np.flatnonzero(boundary_flags(self.loaded.level, self.part, 1))

    def _anyone(self) -> npt.NDArray[np.int64]:
        """Return a sample of all vertices; first those of blocks that violate their limits."""
        most = max(PLACES_LOOKED_AT // self.weight.size, 64)
        off = self.bounds.off(self.weight).max(axis=1) > 0
        order = np.argsort(~off[self.part], kind="stable")
        pressing = int(off[self.part].sum())
        return np.concatenate(
            [own[:: 1 + 2 * own.size // most] for own in (order[:pressing], order[pressing:])]
        )

    def swap(self, most: int) -> None:
        """Exchange up to `most` pairs of vertices per block, first for the worst block."""
        k = self.bounds.k
        if self.done or most == 0:
            return
        starts, members = np.zeros(k + 1, np.int64), np.empty(self.loaded.n, np.int64)
        kernels.list_members(self.part, self.fixed, starts, members)
        sample = max(int((SWAPS_TRIED / k) ** 0.5), LEAST_SAMPLE)
        stuck = np.zeros(k, np.bool_)
        for _ in range(min(most * k, MAX_SWAPS)):
            off = np.where(stuck, 0.0, self.bounds.off(self.weight).max(axis=1))
            p = int(off.argmax())
            if off[p] <= 0:
                return
            stuck[p] = not kernels.swap_best(
                starts, members, p, sample, self.loaded.loads, self.weight, self.bounds.limits,
                self.cost, self.part,
            )  # fmt: skip
            stuck &= stuck[p]


ROUNDING = 1e-11  # in targets: changing the order of weights changes their sum by less


def refine_loaded(
    loaded: Loaded,
    part: Part,
    weight: FloatArray,
    bounds: LoadBounds,
    flag: Flags,
    slack: float,
    effort: FMEffort,
    seed: int,
) -> int:
    """Reduce the cut of `part` in place; return the gain, 2 * EVEN_PRICE per unit of edge weight.

    weight (k, c): the weights of the blocks, updated in place. No block violates its limits more
    than before. flag (n,): whether searches start at a vertex. slack: how far searches may violate
    the limits temporarily, in units of the targets. effort: its `rounds` applies on every level.
    """
    level, n = loaded.level, loaded.n
    limits = WeightLimits(
        bounds.low, bounds.high,
        *bounds.soft(slack, loaded.heaviest), bounds.scale,
    )  # fmt: skip
    blocks = BlockState(part, weight, np.full(bounds.k, EVEN_PRICE, np.int64), limits)
    graph = level.arrays._replace(vwgt=loaded.loads)
    rule = stopping_rule(effort, MOST_LOOKS * (level.adjncy.size + n), ROUNDING)

    def one(marks: Marks, seeds: npt.NDArray[np.int32], turn: int) -> int:
        shuffle(seeds, seed * 100 + turn)
        return int(kernels.search(graph, blocks, seeds, marks, turn + 1, rule))

    return int(search_in_rounds(flag, effort.rounds, least_won(effort, flag), one, level.fixed))

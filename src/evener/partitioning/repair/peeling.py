"""Hands weight over between blocks that no chain of neighbours joins, in balls of vertices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import IntVector
from evener.partitioning.repair import peeling_kernels as kernels
from evener.partitioning.repair.state import State

MAX_PARTNERS = 64  # other blocks asked, for one block, in one round


@dataclass(eq=False)
class Peeling:
    """One round of handing balls over.

    connected: a block that is not empty receives only vertices without any neighbour. members (n,)
    and starts (k + 1,): the vertices of each block when the round began. seen (n,): scratch.
    givers: the blocks that gave so far, by (block, whether only vertices without neighbours).
    """

    state: State
    connected: bool
    members: npt.NDArray[np.int64]
    starts: IntVector
    seen: IntVector
    givers: dict[tuple[int, bool], kernels.Giver]
    balls: int = 0

    @classmethod
    def of(cls, state: State, connected: bool) -> Peeling:
        """Start a round: group the vertices by block."""
        members = np.argsort(state.part, kind="stable")
        starts = np.concatenate([[0], np.cumsum(state.size)])
        return cls(state, connected, members, starts, np.zeros(state.graph.n, np.int64), {})

    def help(self, b: int) -> int:
        """Bring block `b` nearer to its contract by any partner; return the vertices moved."""
        state = self.state
        partners = np.ones(state.k, np.bool_)
        partners[b] = False
        moved = 0
        for _ in range(MAX_PARTNERS):
            lacks = state.low[b] > state.weight[b] or state.size[b] == 0
            over = state.weight[b] > state.high[b] or state.memory[b] > state.caps[b]
            if not (lacks or over):
                break
            other = self._roomiest_giver(partners) if lacks else self._roomiest_taker(partners)
            if other < 0:
                break
            partners[other] = False
            moved += self._hand_over(other, b) if lacks else self._hand_over(b, other)
        return moved

    def _roomiest_giver(self, partners: npt.NDArray[np.bool_]) -> int:
        state = self.state
        able = partners & (state.size > 1)
        spare = np.where(able, state.weight - state.low, -np.inf)
        b = int(spare.argmax())
        return b if able[b] else -1

    def _roomiest_taker(self, partners: npt.NDArray[np.bool_]) -> int:
        state = self.state
        able = partners & (state.memory < state.caps)
        # Relative to the target: an empty small block comes before a large one nearly full.
        room = np.where(able, (state.high - state.weight) / state.scale, -np.inf)
        b = int(room.argmax())
        return b if able[b] and room[b] > 0 else -1

    def _hand_over(self, giver: int, taker: int) -> int:
        state = self.state
        room = state.high[taker] - state.weight[taker]
        lacking = max(state.low[taker] - state.weight[taker], 0.0)
        over = max(state.weight[giver] - state.high[giver], 0.0)
        if state.memory[giver] > state.caps[giver] and state.memory[giver] > 0:
            share = 1 - state.caps[giver] / state.memory[giver]
            over = max(over, share * state.weight[giver])
        wanted = max(state.contract.targets[taker] - state.weight[taker], 0.0)
        least = max(lacking, min(over, max(wanted, room / 2)))
        most = min(room, max(state.weight[giver] - state.low[giver], 0.0))
        bytes_left = state.caps[taker] - state.memory[taker]
        taken = self._ball(giver, taker, min(least, most), most, bytes_left)
        if taken == 0 and state.size[taker] == 0:
            taken = self._one(giver, taker, room, bytes_left)
        return taken

    def _ball(self, giver: int, taker: int, least: float, most: float, n_bytes: float) -> int:
        state = self.state
        self.balls += 1
        size = kernels.BallSize(least, most, n_bytes, int(state.size[giver]) - 1)
        taken, weight, memory = kernels.peel(
            state.csr, state.n_bytes, state.part, giver, taker, size, self._giver(giver, taker),
            self.seen, self.balls,
        )  # fmt: skip
        for totals, amount in (
            (state.weight, weight), (state.memory, memory), (state.size, taken),
        ):  # fmt: skip
            totals[giver] -= amount
            totals[taker] += amount
        return int(taken)

    def _one(self, giver: int, taker: int, most: float, n_bytes: float) -> int:
        """Give an empty block the lightest vertex, even if the giver is then too light."""
        state = self.state
        order = self._giver(giver, taker).order
        v = kernels.smallest_that_fits(
            state.weights, state.n_bytes, state.part, order, giver, most, n_bytes
        )
        if v < 0:
            return 0
        state.move(int(v), taker)
        return 1

    def _giver(self, giver: int, taker: int) -> kernels.Giver:
        alone = self.connected and bool(self.state.size[taker] > 0)
        if (giver, alone) not in self.givers:
            # Only its vertices of the round's beginning: what it was given since stays.
            members = self.members[self.starts[giver] : self.starts[giver + 1]]
            if alone:
                members = members[self.state.graph.degrees[members] == 0]
            inside = np.empty(members.size, np.int64)
            kernels.count_inside(self.state.csr, self.state.part, members, inside)
            order = members[np.argsort(inside, kind="stable")]
            places = np.zeros(3, np.int64)
            self.givers[giver, alone] = kernels.Giver(order, np.empty_like(order), places)
        return self.givers[giver, alone]

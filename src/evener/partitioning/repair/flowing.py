"""Moves weight between neighbouring blocks, from blocks with too much to blocks with too little.

A round routes the excess weight over the quotient graph (routing_kernels.py) and moves border
vertices along each arc (flowing_kernels.py). Between blocks that no chain of neighbours connects,
it moves balls of vertices (Peeling). A ball is a set of vertices near each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntVector
from evener.partitioning.repair import connecting_kernels, routing_kernels
from evener.partitioning.repair import flowing_kernels as kernels
from evener.partitioning.repair.block_kernels import Border
from evener.partitioning.repair.state import State

MAX_PARTNERS = 64  # limit on the partner blocks that are tried for one block in one round


@dataclass(eq=False)
class Peeling:
    """One round in which balls of vertices move between blocks that need not be neighbours.

    connected: blocks that are not empty only receive isolated vertices (of degree 0). members (n,)
    and starts (k + 1,): the vertices of each block at the beginning of the round. seen (n,): work
    array. givers: data of the blocks that gave vertices so far, by (block, whether it gave only
    isolated vertices). balls: number of balls so far.
    """

    state: State
    connected: bool
    members: npt.NDArray[np.int64]
    starts: IntVector
    seen: IntVector
    givers: dict[tuple[int, bool], routing_kernels.Giver]
    balls: int = 0

    @classmethod
    def of(cls, state: State, connected: bool) -> Peeling:
        """Start a round: group the vertices by block."""
        members = np.argsort(state.part, kind="stable")
        starts = np.concatenate([[0], np.cumsum(state.size)])
        return cls(state, connected, members, starts, np.zeros(state.graph.n, np.int64), {})

    def help(self, b: int) -> int:
        """Reduce the violation of block b by exchange with partners; return the vertices moved."""
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
        spare = np.where(able, state.weight - np.maximum(state.low, state.held), -np.inf)
        b = int(spare.argmax())
        return b if able[b] else -1

    def _roomiest_taker(self, partners: npt.NDArray[np.bool_]) -> int:
        state = self.state
        able = partners & (state.memory < state.caps)
        # Relative to the target, so that an empty small block precedes a large, nearly full one.
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
        size = routing_kernels.BallSize(least, most, n_bytes, int(state.size[giver]) - 1)
        taken, weight, memory = routing_kernels.peel(
            state.csr, state.n_bytes, state.part, state.fixed, giver, taker, size,
            self._giver(giver, taker), self.seen, self.balls,
        )  # fmt: skip
        for totals, amount in (
            (state.weight, weight), (state.memory, memory), (state.size, taken),
        ):  # fmt: skip
            totals[giver] -= amount
            totals[taker] += amount
        return int(taken)

    def _one(self, giver: int, taker: int, most: float, n_bytes: float) -> int:
        """Move the lightest vertex to an empty block, even if the giver is then too light."""
        state = self.state
        order = self._giver(giver, taker).order
        v = routing_kernels.smallest_that_fits(
            state.weights, state.n_bytes, state.part, order, giver, most, n_bytes
        )
        if v < 0:
            return 0
        state.move(int(v), taker)
        return 1

    def _giver(self, giver: int, taker: int) -> routing_kernels.Giver:
        alone = self.connected and bool(self.state.size[taker] > 0)
        if (giver, alone) not in self.givers:
            # Use only vertices that it had at the beginning of the round, not those received later.
            members = self.state.may_move(self.members[self.starts[giver] : self.starts[giver + 1]])
            if alone:
                members = members[self.state.graph.degrees[members] == 0]
            inside = np.empty(members.size, np.int64)
            routing_kernels.count_inside(self.state.csr, self.state.part, members, inside)
            order = members[np.argsort(inside, kind="stable")]
            places = np.zeros(3, np.int64)
            self.givers[giver, alone] = routing_kernels.Giver(order, np.empty_like(order), places)
        return self.givers[giver, alone]


MAX_ROUNDS = 80
PATIENCE = 6  # stop after this many rounds in a row without less violation
SMOOTH_PASSES = 12  # largest number of sweeps over the border
SLOW = 0.9  # if a round leaves more than this fraction of the violation, balls are moved too
HUB = 16.0  # a move along an arc adds at most HUB x (mean edge weight per vertex) to the cut
DENSE_BLOCKS = 4096  # up to this number, neighbours are found in a (k, k) table: 16 MiB


@dataclass(eq=False)
class _Front:
    """The border vertices, and work arrays that are used in all rounds."""

    border: Border
    count: int
    gains: FloatArray
    known: IntVector
    clock: IntVector
    trees: kernels.SpanningTrees

    @classmethod
    def of(cls, state: State, connected: bool) -> _Front:
        n = state.graph.n
        in_trees = n if connected else 0
        front = cls(
            Border(np.empty(n, state.graph.adjncy.dtype), np.empty(n, np.bool_)), 0,
            np.empty(n), np.zeros(n, np.int64), np.zeros(1, np.int64),
            kernels.SpanningTrees(np.empty(in_trees, np.int64), np.empty(in_trees, np.int64)),
        )  # fmt: skip
        front.list_anew(state)
        return front

    @property
    def vertices(self) -> npt.NDArray[np.int32]:
        """The list of border vertices."""
        return np.asarray(self.border.vertices[: self.count])

    def list_anew(self, state: State) -> None:
        """Update the list: find all vertices with a neighbour in another block."""
        self.count = kernels.list_border(state.csr, state.part, self.border)

    def grow_trees(self, state: State, turn: int) -> None:
        """Compute spanning trees of the blocks, with other roots for each `turn`."""
        connecting_kernels.grow_trees(state.csr, state.part, turn, self.known, self.trees)
        self.known[:] = 0


@dataclass(eq=False)
class _Arcs:
    """The quotient graph in CSR form.

    starts (k + 1,): first arc of each block. block, other, reverse: for each arc, its two blocks
    and the number of the opposite arc.
    """

    starts: IntVector
    block: IntVector
    other: IntVector
    reverse: IntVector


def flow_until_kept(state: State, *, connected: bool = False, rerootings: int = 0) -> bool:
    """Repair in rounds of routing and moving until all blocks satisfy their contracts.

    Returns whether they do; it stops if nothing helps. With `connected`, no move disconnects a
    block: only leaves of spanning trees of the blocks move, and if none of them helps, trees with
    other roots are tried, up to `rerootings` times.
    """
    if state.holds():
        return True
    front = _Front.of(state, connected)
    best, waited, turn = np.inf, 0, 0
    rooted = False
    for _ in range(MAX_ROUNDS):
        total = float(state.violations().sum())
        if total == 0:
            return True
        waited = 0 if total < best * (1 - 1e-6) else waited + 1
        best = min(best, total)
        if waited > PATIENCE:
            return False
        if connected and not rooted:
            front.grow_trees(state, turn)
        # Moves keep the trees valid, unless an empty block receives a vertex it does not touch.
        rooted = waited == 0 and bool((state.size > 0).all())
        if not _round(state, front, connected, total):
            turn += 1
            rooted = False
            if not connected or turn > rerootings:
                return False
        state.sum_up()
    return state.holds()


def smooth(state: State) -> None:
    """Reduce the cut by greedy moves of border vertices that violate no contract."""
    front = _Front.of(state, connected=False)
    kernels.smooth(
        state.csr, state.n_bytes, state.limits, state.blocks, front.border, front.count,
        SMOOTH_PASSES,
    )  # fmt: skip


def _round(state: State, front: _Front, connected: bool, violation: float) -> bool:
    """Route the excess weight and move vertices; return whether any vertex moved."""
    arcs, flow, stuck = _routed(state, front)
    moved = _carry_out(state, front, arcs, flow, connected) if flow.any() else 0
    off = state.violations()
    if off.sum() > SLOW * violation:
        stuck |= off > 0
    stuck &= off > 0
    if stuck.any():
        moved += _hand_over(state, stuck, off, connected)
        front.list_anew(state)
    return moved > 0


def _routed(state: State, front: _Front) -> tuple[_Arcs, FloatArray, npt.NDArray[np.bool_]]:
    """Return the quotient graph, the weight to move along each arc, and which blocks are stuck.

    A block is stuck if its excess or lack cannot be routed.
    """
    arcs = _touching(state, front)
    excess, deficit, room, spare = _needs(state)
    order = np.argsort(-state.violations(), kind="stable")
    flow, stuck = np.zeros(arcs.other.size), np.zeros(state.k, np.bool_)
    routing_kernels.route(
        arcs.starts, arcs.other, arcs.reverse, order, excess, np.stack([deficit, room]),
        spare[None, :], state.size > 0, flow, stuck,
    )  # fmt: skip
    return arcs, flow, stuck


def _hand_over(state: State, stuck: npt.NDArray[np.bool_], off: FloatArray, connected: bool) -> int:
    """Move balls of vertices to or from blocks that are stuck; return the number of vertices moved.

    Empty blocks come first, then blocks in descending order of violation.
    """
    peeling = Peeling.of(state, connected)
    order = np.lexsort((-off, state.size > 0))
    return sum(peeling.help(int(b)) for b in order if stuck[b])


def _needs(state: State) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the weight that each block must give, must get, may get and may give (k,) [units]."""
    with np.errstate(invalid="ignore", divide="ignore"):
        per_byte = np.where(state.memory > 0, state.weight / state.memory, 0)
        too_much = np.where(state.memory > state.caps, state.memory - state.caps, 0) * per_byte
        headroom = np.where(
            np.isfinite(state.caps) & (per_byte > 0), (state.caps - state.memory) * per_byte, np.inf
        )
    excess = np.maximum(state.weight - state.high, too_much)
    least = np.where(state.size == 0, _some_weight(state), 0)
    deficit = np.maximum(state.low - state.weight, least)
    room = np.minimum(state.high - np.maximum(state.weight, state.low), headroom)
    spare = np.minimum(state.weight, state.high) - np.maximum(state.low, state.held)
    clip = 1e-12 * state.scale
    return tuple(  # type: ignore[return-value]
        np.where(values > clip, values, 0.0) for values in (excess, deficit, room, spare)
    )


def _some_weight(state: State) -> float:
    """Return the weight that an empty block needs: the least vertex weight above zero, or 1."""
    heavy = state.weights[state.weights > 0]
    return float(heavy.min()) if heavy.size else 1.0


def _touching(state: State, front: _Front) -> _Arcs:
    k = state.k
    if k <= DENSE_BLOCKS:
        touches = np.zeros((k, k), np.bool_)
        routing_kernels.mark_pairs(state.csr, state.part, front.vertices, touches)
        keys = np.flatnonzero(touches)
    else:
        xadj, adjncy, v = state.csr.xadj, state.csr.adjncy, front.vertices
        counts = xadj[v + 1] - xadj[v]
        entries = np.repeat(xadj[v + 1] - np.cumsum(counts), counts) + np.arange(counts.sum())
        one, other = np.repeat(state.part[v], counts), state.part[adjncy[entries]]
        keys = np.unique((one.astype(np.int64) * k + other)[one != other])
    block, other = keys // k, keys % k
    starts = np.searchsorted(block, np.arange(k + 1))
    return _Arcs(starts, block, other, np.searchsorted(keys, other * k + block))


def _carry_out(state: State, front: _Front, arcs: _Arcs, flow: FloatArray, connected: bool) -> int:
    """Move vertices along all arcs with flow; arcs into blocks that pass no weight on come first.

    Returns the number of vertices moved.
    """
    starts = np.zeros(arcs.other.size + 1, np.int64)
    pattern = (state.csr, state.part, front.vertices, arcs.starts, arcs.other, flow, starts)
    kernels.seeds_of_arcs(*pattern, front.vertices[:0], np.empty(0))
    # At least one entry, as seeds_of_arcs only counts if the array is empty.
    seeds = np.empty(int(starts[-1]) + 1, front.vertices.dtype)
    gains = np.empty(seeds.size)
    kernels.seeds_of_arcs(*pattern, seeds, gains)
    order = _receivers_first(arcs, flow)
    stale = np.zeros(state.graph.n, np.bool_)
    front.count, moved = kernels.carry_out(
        state.csr, state.n_bytes, state.limits, state.blocks, front.border, front.count,
        kernels.ArcFlows(order, arcs.block, arcs.other, flow, starts, seeds, gains),
        kernels.GainTable(front.gains, front.known, stale, front.clock), front.trees,
        np.minimum(0.5 * state.weight, state.low), _worst_gain(state), connected,
    )  # fmt: skip
    return int(moved)


def _worst_gain(state: State) -> float:
    """Return the least gain [edge weight] permitted for a move along an arc; it excludes hubs."""
    total = float(state.adjwgt.sum()) if state.adjwgt.size else float(state.graph.adjncy.size)
    return -HUB * max(total / state.graph.n, 1e-300)


def _receivers_first(arcs: _Arcs, flow: FloatArray) -> IntVector:
    """Return the arcs with flow, ordered such that each block gives before it receives.

    So a block that passes weight on has room for it. Arcs of cycles come last.
    """
    used = np.flatnonzero(flow > 0)
    gives = np.bincount(arcs.block[used], minlength=arcs.starts.size - 1)
    into: dict[int, list[int]] = {}
    for used_arc in used.tolist():
        into.setdefault(int(arcs.other[used_arc]), []).append(used_arc)
    ready = [b for b in sorted(into) if gives[b] == 0]
    ordered: list[int] = []
    while ready:
        b = ready.pop()
        for arc in into.pop(b):
            ordered.append(arc)
            giver = int(arcs.block[arc])
            gives[giver] -= 1
            if gives[giver] == 0 and giver in into:
                ready.append(giver)
    rest = [arc for block in sorted(into) for arc in into[block]]
    return np.array(ordered + rest, np.int64)

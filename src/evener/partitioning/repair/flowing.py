"""Moves weight from blocks that have too much to blocks that lack it, along their neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntVector
from evener.partitioning.repair import connecting_kernels as trees
from evener.partitioning.repair import enforce_kernels as kernels
from evener.partitioning.repair import routing_kernels
from evener.partitioning.repair import routing_kernels as smoothing_kernels
from evener.partitioning.repair.peeling import Peeling
from evener.partitioning.repair.state import State

MAX_ROUNDS = 80
PATIENCE = 6  # rounds without less violation before the search is left to single moves
SMOOTH_PASSES = 12
SLOW = 0.9  # a round that leaves more than this of the violation is helped by handing over
HUB = 16.0  # a vertex that ties its block by this many times the average is left in it
DENSE_BLOCKS = 4096  # up to here a k x k table of touching blocks is small beside the graph


@dataclass(eq=False)
class _Front:
    """The vertices that touch another block, and scratch that lives through all rounds."""

    boundary: npt.NDArray[np.int32]
    listed: npt.NDArray[np.bool_]
    count: int
    known: IntVector
    gains: FloatArray
    clock: IntVector
    parent: IntVector
    children: IntVector

    @classmethod
    def of(cls, state: State, connected: bool) -> _Front:
        n = state.graph.n
        in_trees = n if connected else 0
        front = cls(
            np.empty(n, state.graph.adjncy.dtype), np.empty(n, np.bool_), 0, np.zeros(n, np.int64),
            np.empty(n), np.zeros(1, np.int64), np.empty(in_trees, np.int64),
            np.empty(in_trees, np.int64),
        )  # fmt: skip
        front.list_anew(state)
        return front

    def list_anew(self, state: State) -> None:
        """List the vertices that touch another block now."""
        self.listed[:] = False
        self.count = kernels.list_boundary(*state.csr[:2], state.part, self.listed, self.boundary)

    def grow_trees(self, state: State, turn: int) -> None:
        """Span the blocks by trees; other ones every turn."""
        xadj, adjncy, _ = state.csr
        trees.grow_trees(xadj, adjncy, state.part, turn, self.known, self.parent, self.children)
        self.known[:] = 0


@dataclass(eq=False)
class _Arcs:
    """The quotient graph in CSR form: which blocks touch, and each arc's way back."""

    starts: IntVector
    block: IntVector
    other: IntVector
    reverse: IntVector


def flow_until_kept(state: State, *, connected: bool = False, rerootings: int = 0) -> bool:
    """Repair in rounds of routing and moving until all contracts hold or nothing helps.

    With `connected`, no move takes a block apart: only leaves of trees that span it move, and
    where none of them helps, leaves of other trees, up to `rerootings` times. Returns whether all
    hold.
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
        # Moves keep the trees; a vertex from afar in an empty block does not.
        rooted = waited == 0 and bool((state.size > 0).all())
        if not _round(state, front, connected, total):
            turn += 1
            rooted = False
            if not connected or turn > rerootings:
                return False
        state.sum_up()
    return state.holds()


def smooth(state: State) -> None:
    """Lower the cut of a partition that holds by greedy moves at its boundary; it still holds."""
    front = _Front.of(state, connected=False)
    smoothing_kernels.smooth(
        *state.csr, state.weights, state.n_bytes, state.low, state.high, state.caps, SMOOTH_PASSES,
        state.part, state.weight, state.size, state.memory, front.listed, front.boundary,
        front.count,
    )  # fmt: skip


def _round(state: State, front: _Front, connected: bool, violation: float) -> bool:
    """Route what is too much, carry it out; return whether anything moved."""
    arcs = _touching(state, front)
    excess, deficit, room, spare = _needs(state)
    order = np.argsort(-state.violations(), kind="stable")
    flow, stuck = np.zeros(arcs.other.size), np.zeros(state.k, np.bool_)
    routing_kernels.route(
        arcs.starts, arcs.other, arcs.reverse, order, excess, deficit, room, spare,
        state.size > 0, flow, stuck,
    )  # fmt: skip
    moved = _carry_out(state, front, arcs, flow, connected) if flow.any() else 0
    off = state.violations()
    if off.sum() > SLOW * violation:
        stuck |= off > 0
    stuck &= off > 0
    if stuck.any():
        moved += _hand_over(state, stuck, off, connected)
        front.list_anew(state)
    return moved > 0


def _hand_over(state: State, stuck: npt.NDArray[np.bool_], off: FloatArray, connected: bool) -> int:
    """Give or take what no chain of neighbours can, empty blocks first."""
    peeling = Peeling.of(state, connected)
    order = np.lexsort((-off, state.size > 0))
    return sum(peeling.help(int(b)) for b in order if stuck[b])


def _needs(state: State) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """What each block must give, must get, may get and may give [units]."""
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
    spare = np.minimum(state.weight, state.high) - state.low
    clip = 1e-12 * state.scale
    return tuple(  # type: ignore[return-value]
        np.where(values > clip, values, 0.0) for values in (excess, deficit, room, spare)
    )


def _some_weight(state: State) -> float:
    """A weight that asks for at least one vertex."""
    heavy = state.weights[state.weights > 0]
    return float(heavy.min()) if heavy.size else 1.0


def _touching(state: State, front: _Front) -> _Arcs:
    xadj, adjncy, _ = state.csr
    k = state.k
    if k <= DENSE_BLOCKS:
        touches = np.zeros((k, k), np.bool_)
        routing_kernels.mark_pairs(xadj, adjncy, state.part, front.boundary, front.count, touches)
        keys = np.flatnonzero(touches)
    else:
        arguments = (xadj, adjncy, state.part, front.boundary, front.count, k)
        keys = np.empty(routing_kernels.pair_keys(*arguments, np.empty(0, np.int64)), np.int64)
        routing_kernels.pair_keys(*arguments, keys)
        keys = np.unique(keys)
    block, other = keys // k, keys % k
    starts = np.searchsorted(block, np.arange(k + 1))
    return _Arcs(starts, block, other, np.searchsorted(keys, other * k + block))


def _carry_out(state: State, front: _Front, arcs: _Arcs, flow: FloatArray, connected: bool) -> int:
    """Move vertices along every arc with flow, those into final receivers first."""
    seed_starts = np.zeros(arcs.other.size + 1, np.int64)
    pattern = (*state.csr, state.part, front.boundary, front.count, arcs.starts, arcs.other, flow,
               np.zeros(state.k))  # fmt: skip
    kernels.seeds_of_arcs(*pattern, seed_starts, front.boundary[:0], np.empty(0))
    # Not empty even without seeds: an empty array asks for counting.
    seeds = np.empty(int(seed_starts[-1]) + 1, front.boundary.dtype)
    seed_gains = np.empty(seeds.size)
    kernels.seeds_of_arcs(*pattern, seed_starts, seeds, seed_gains)
    front.count, moved = kernels.carry_out(
        *state.csr, state.weights, state.n_bytes, state.low, state.high, state.caps,
        state.scale, _receivers_first(arcs, flow), arcs.block, arcs.other, flow, seed_starts, seeds,
        seed_gains, np.minimum(0.5 * state.weight, state.low), _worst_gain(state), connected,
        state.part, state.weight, state.size, state.memory, front.listed, front.boundary,
        front.count, front.known, front.gains, np.zeros(state.graph.n, np.bool_), front.clock,
        front.parent, front.children,
    )  # fmt: skip
    return int(moved)


def _worst_gain(state: State) -> float:
    """The cut a move along an arc may cost [edge weight]: hubs stay, others are found instead."""
    _, adjncy, adjwgt = state.csr
    total = float(adjwgt.sum()) if adjwgt.size else float(adjncy.size)
    return -HUB * max(total / state.graph.n, 1e-300)


def _receivers_first(arcs: _Arcs, flow: FloatArray) -> IntVector:
    """Arcs with flow, so ordered that a block gives before it gets what it passes on."""
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
    # Flow that runs in a circle has no last receiver: any order will do.
    rest = [arc for block in sorted(into) for arc in into[block]]
    return np.array(ordered + rest, np.int64)

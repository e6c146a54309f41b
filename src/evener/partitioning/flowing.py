"""Moves weight from blocks that have too much to blocks that lack it, along their neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.partitioning import enforce_kernels as kernels
from evener.partitioning import smoothing_kernels
from evener.partitioning.state import IntVector, State

MAX_ROUNDS = 80
PATIENCE = 6  # rounds without less violation before the search is left to single moves
SMOOTH_PASSES = 12
DENSE_BLOCKS = 4096  # up to here a k x k table of touching blocks is small beside the graph
CONNECTIVITY_REACH = 4096  # vertices visited to prove that a block stays in one piece


@dataclass(eq=False)
class _Front:
    """The vertices that touch another block, and scratch that lives through all rounds."""

    boundary: npt.NDArray[np.int32]
    listed: npt.NDArray[np.bool_]
    count: int
    mark: IntVector
    search: IntVector

    @classmethod
    def of(cls, state: State, connected: bool) -> _Front:
        n = state.graph.n
        boundary, listed = np.empty(n, np.int32), np.zeros(n, np.bool_)
        count = kernels.list_boundary(*state.csr[:2], state.part, listed, boundary)
        reach = CONNECTIVITY_REACH if connected else 0
        mark = np.zeros(n if connected else 0, np.int64)
        return cls(boundary, listed, count, mark, np.zeros(reach + 1, np.int64))


@dataclass(eq=False)
class _Arcs:
    """The quotient graph in CSR form: which blocks touch, and each arc's way back."""

    starts: IntVector
    block: IntVector
    other: IntVector
    reverse: IntVector


def flow_until_kept(state: State, *, connected: bool = False) -> bool:
    """Repair in rounds of routing and moving until all contracts hold or nothing helps.

    With `connected`, no move takes a block apart, as far as a bounded search can tell. Returns
    whether all hold.
    """
    if state.holds():
        return True
    front = _Front.of(state, connected)
    best, waited = np.inf, 0
    for _ in range(MAX_ROUNDS):
        total = float(state.violations().sum())
        if total == 0:
            return True
        waited = 0 if total < best * (1 - 1e-6) else waited + 1
        best = min(best, total)
        if waited > PATIENCE:
            return False
        if not _round(state, front, connected):
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


def _round(state: State, front: _Front, connected: bool) -> bool:
    """Route what is too much, carry it out; return whether anything moved."""
    arcs = _touching(state, front)
    excess, deficit, room, spare = _needs(state)
    order = np.argsort(-state.violations(), kind="stable")
    flow, stuck = np.zeros(arcs.other.size), np.zeros(state.k, np.bool_)
    kernels.route(
        arcs.starts, arcs.other, arcs.reverse, order, excess, deficit, room, spare,
        state.size > 0, flow, stuck,
    )  # fmt: skip
    moved = _carry_out(state, front, arcs, flow, connected) if flow.any() else 0
    for b in np.flatnonzero(stuck):
        moved += _jump(state, front, int(b), connected)
    return moved > 0


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
        kernels.mark_pairs(xadj, adjncy, state.part, front.boundary, front.count, touches)
        keys = np.flatnonzero(touches)
    else:
        arguments = (xadj, adjncy, state.part, front.boundary, front.count, k)
        keys = np.empty(kernels.pair_keys(*arguments, np.empty(0, np.int64)), np.int64)
        kernels.pair_keys(*arguments, keys)
        keys = np.unique(keys)
    block, other = keys // k, keys % k
    starts = np.searchsorted(block, np.arange(k + 1))
    return _Arcs(starts, block, other, np.searchsorted(keys, other * k + block))


def _carry_out(state: State, front: _Front, arcs: _Arcs, flow: FloatArray, connected: bool) -> int:
    """Move vertices along every arc with flow, those into final receivers first."""
    xadj, adjncy, adjwgt = state.csr
    seed_starts = np.zeros(arcs.other.size + 1, np.int64)
    pattern = (xadj, adjncy, state.part, front.boundary, front.count, arcs.starts, arcs.other, flow)
    kernels.seeds_of_arcs(*pattern, seed_starts, np.empty(0, np.int32))
    seeds = np.empty(max(int(seed_starts[-1]), 1), np.int32)
    kernels.seeds_of_arcs(*pattern, seed_starts, seeds)
    front.count, moved = kernels.carry_out(
        xadj, adjncy, adjwgt, state.weights, state.n_bytes, state.low, state.high, state.caps,
        state.scale, _receivers_first(arcs, flow), arcs.block, arcs.other, flow, seed_starts, seeds,
        np.minimum(0.5 * state.weight, state.low), connected, state.part, state.weight, state.size,
        state.memory, front.listed, front.boundary, front.count, front.mark, front.search,
    )  # fmt: skip
    return int(moved)


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


def _jump(state: State, front: _Front, b: int, connected: bool) -> int:
    """Give block `b`, which no chain of neighbours can help, vertices of (or to) a far block."""
    lacking = state.low[b] > state.weight[b] or state.size[b] == 0
    if connected and state.size[b] > 0:
        return 0  # vertices from afar would be a second piece
    _, deficit, room, spare = _needs(state)
    far = (spare if lacking else deficit + room).copy()
    far[b] = -1
    far[state.size < (2 if lacking else 0)] = -1
    other = int(far.argmax())
    if far[other] <= 0:
        return 0
    giver, taker = (other, b) if lacking else (b, other)
    over = max(state.weight[b] - state.high[b], state.memory[b] - state.caps[b], 0)
    wanted = max(state.low[b] - state.weight[b], 0) if lacking else over
    chosen = _loose_vertices(state, giver, min(float(wanted), float(far[other])))
    for v in chosen:
        state.move(int(v), taker)
        fresh = [int(u) for u in (v, *_neighbours(state, int(v))) if not front.listed[u]]
        front.boundary[front.count : front.count + len(fresh)] = fresh
        front.listed[fresh] = True
        front.count += len(fresh)
    return len(chosen)


def _loose_vertices(state: State, giver: int, amount: float) -> list[int]:
    """Vertices of `giver` without neighbours in it, up to `amount`; else its loosest one."""
    members = np.flatnonzero(state.part == giver)
    xadj, adjncy, _ = state.csr
    lengths = np.diff(xadj)[members]
    entries = np.repeat(xadj[members] - np.cumsum(lengths) + lengths, lengths) + np.arange(
        lengths.sum()
    )
    inside = state.part[adjncy[entries]] == giver
    held = np.bincount(np.repeat(np.arange(members.size), lengths)[inside], minlength=members.size)
    loose = members[(held == 0) & (state.weights[members] > 0)]
    taken = loose[np.cumsum(state.weights[loose]) <= amount * (1 + 1e-9)][: members.size - 1]
    if taken.size:
        return [int(v) for v in taken]
    first = np.lexsort((members, held, state.weights[members] == 0))[0]
    return [int(members[first])]


def _neighbours(state: State, v: int) -> npt.NDArray[np.integer]:
    xadj, adjncy, _ = state.csr
    return np.asarray(adjncy[xadj[v] : xadj[v + 1]])

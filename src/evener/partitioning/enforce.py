"""Makes any partition keep its contract, moving as little as possible; or says why it cannot.

First it is proved where no partition can keep the contract. Then weight flows along the quotient
graph from blocks that have too much to blocks that lack it, over the shortest chain of neighbours;
border vertices of best gain carry it. Heavy vertices make the rest bin packing: single moves,
swaps, then packing afresh. Where connected blocks are asked for, stray pieces are joined to
neighbouring blocks. Limits on several weights: multiconstraint/enforce_several.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import NO_VERTICES, IntVector, Part, as_flags
from evener.errors import InputError, NotFoundError, UsageError
from evener.graphs.graph import Graph
from evener.graphs.graph_kernels import block_pieces
from evener.io.accept import GraphLike, PartitionLike, as_graph, as_partition
from evener.partitioning.multiconstraint.enforce_several import kept_blocks
from evener.partitioning.repair import connecting_kernels as kernels
from evener.partitioning.repair.flowing import flow_until_kept, smooth
from evener.partitioning.repair.packing import pack_afresh, polish
from evener.partitioning.repair.proofs import prove_possible
from evener.partitioning.repair.state import MANY_MOVED, REPAIR_SEED, State
from evener.plans.partition import Contract, Partition
from evener.wording import brief, memory

STEP_WORK = 10_000_000  # vertices looked at by single moves and swaps, in all steps together


@dataclass(frozen=True, eq=False)
class Enforced:
    """A partition that keeps its contract, and what that took.

    moved: vertices in another block than before; moved_weight: their weight [units].
    disconnected: blocks in several pieces although their part of the graph is connected; filled
    only where connected blocks were asked for.
    """

    partition: Partition
    moved: int
    moved_weight: float
    disconnected: tuple[int, ...] = ()

    def __repr__(self) -> str:
        return brief(self)


def enforce(
    graph: GraphLike,
    partition: PartitionLike,
    contract: Contract,
    *,
    connected: bool = False,
    constraint: int = 0,
    names: list[str] | None = None,
    fixed: npt.ArrayLike | None = None,
) -> Enforced:
    """Return a partition of `graph` in which every block keeps `contract`, close to the given one.

    graph, partition: as of `evaluate`. connected: blocks end in one piece wherever the contract and
    the graph allow it. constraint: which weight of several the contract is on; a contract on
    several weights is kept on all of them, and `connected` is refused there (UsageError). fixed:
    flags (n,) of vertices that keep the block they are given; None: all may move. names (k,): the
    devices, for messages. Raises InfeasibleError with block and shortfall where
    impossibility is proved, NotFoundError where none is and no solution was found either.
    Deterministic.
    """
    graph = as_graph(graph)
    partition = as_partition(partition, graph, contract.k)
    if partition.k != contract.k:
        raise InputError(f"the partition has {partition.k} blocks, the contract {contract.k}")
    names = names or [f"block {b}" for b in range(contract.k)]
    disconnected: tuple[int, ...] = ()
    stays = NO_VERTICES if fixed is None else np.flatnonzero(as_flags(fixed, graph.n, "fixed"))
    if not contract.further:
        state = State.of(graph, partition, contract, constraint, stays)
        part = _kept(state, connected, names)
        disconnected = pieces_left(state) if connected else ()
    elif connected:
        raise UsageError(
            "connected blocks work with one weight per vertex; this graph has several",
            hint="--constraint I selects one weight, counted from 0.",
        )
    else:
        part, constraint = kept_blocks(graph, partition, contract, names, stays), 0
    return _enforced(graph, partition, part, constraint, disconnected)


def _enforced(
    graph: Graph, given: Partition, part: Part, constraint: int, disconnected: tuple[int, ...]
) -> Enforced:
    changed = part != given.part
    weight = np.asarray(graph.weights(constraint)[changed], np.float64)
    return Enforced(Partition(part, given.k), int(changed.sum()), float(weight.sum()), disconnected)


def _kept(state: State, connected: bool, names: list[str]) -> Part:
    """Return blocks (n,) that keep the contract on one weight; `state` is left with them."""
    if connected or not state.holds():
        prove_possible(state, names)
        _repair(state)
        if connected:
            connect(state)
    _check(state, names)
    return state.part


def _repair(state: State) -> None:
    # A step looks at every vertex a few times; together they are bounded on large graphs.
    steps = min(200 + 4 * state.k, max(STEP_WORK // state.graph.n, 8))
    given = state.part.copy()
    if flow_until_kept(state) or polish(state, steps=steps):
        if np.count_nonzero(state.part != given) > MANY_MOVED * state.free.size:
            connect(state, quickly=True)
            smooth(state)
        return
    pack_afresh(state, steps=steps, seed=REPAIR_SEED)


def _check(state: State, names: list[str]) -> None:
    """Raise NotFoundError, with the block that is furthest off, where some contract is broken."""
    state.sum_up()
    if state.holds():
        return
    violations = state.violations()
    b = int(violations.argmax())
    if state.size[b] == 0:
        what = "stays empty"
    elif state.memory[b] > state.caps[b]:
        over, cap = memory(state.memory[b] - state.caps[b]), memory(state.caps[b])
        what = f"exceeds its memory of {cap} by {over}"
    else:
        low, high = state.contract.low[b], state.contract.high[b]
        what = f"has {state.weight[b]:,.9g} units instead of {low:,.9g} to {high:,.9g}"
    off = int((violations > 0).sum())
    heaviest = float(state.weights[state.free].max(initial=0.0))
    raise NotFoundError(
        f"found no partition that keeps every contract: {names[b]} {what} ({off} block(s) off)",
        hint=f"Vertices weigh up to {heaviest:,.6g}; a larger --epsilon gives them room.",
    )


# Rules of joining, tried in this order.
JOIN_RULES = (kernels.JOIN_ALL, kernels.JOIN_FITTING, kernels.JOIN_SPARED)
JOIN_PATIENCE = 4  # attempts without fewer stray pieces before the next rule
REROOTINGS = 8  # times that other spanning trees are tried where no leaf may move


def connect(state: State, *, quickly: bool = False) -> None:
    """Join stray pieces to neighbouring blocks and balance again without taking blocks apart.

    A stray piece is a connected part of a block that is not its heaviest; one that is a whole
    component of the graph stays where it is. Where the blocks cannot be balanced after all have
    been joined, fewer are. The result is the partition that keeps the contract with the fewest
    stray pieces. quickly: one attempt.
    """
    rules = JOIN_RULES[:1] if quickly else JOIN_RULES
    patience, rerootings = (1, 0) if quickly else (JOIN_PATIENCE, REROOTINGS)
    best, fewest = state.part.copy(), len(_strays_that_may_move(state)[1])
    for rule in rules:
        state.part[:] = best
        state.sum_up()
        waited = 0
        while fewest > 0 and waited < patience:
            _join_strays(state, rule)
            kept = flow_until_kept(state, connected=True, rerootings=rerootings)
            left = len(_strays_that_may_move(state)[1])
            waited += 1
            if kept and left < fewest:
                best, fewest, waited = state.part.copy(), left, 0
    state.part[:] = best
    state.sum_up()


def pieces_left(state: State) -> tuple[int, ...]:
    """Return the blocks that have stray pieces."""
    return tuple(sorted({int(b) for b in _strays(state)[1]}))


def _strays(state: State) -> tuple[IntVector, IntVector, IntVector]:
    """Return the label (n,) of each vertex's piece, and block and label of every stray piece."""
    n = state.graph.n
    label, queue = np.empty(n, np.int64), np.empty(n, np.int32)
    has_cut = np.zeros(n, np.bool_)
    graph = state.graph
    count = block_pieces(graph.xadj, graph.adjncy, state.part, queue, label, has_cut)
    weight = np.bincount(label, weights=state.weights, minlength=count)
    first = np.full(count, n, np.int64)
    np.minimum.at(first, label, np.arange(n))
    block = state.part[first].astype(np.int64)
    # Of pieces of equal weight, the one with the smallest vertex is the block's heaviest.
    order = np.lexsort((first, -weight, block))
    is_heaviest = np.zeros(count, np.bool_)
    is_heaviest[order[np.unique(block[order], return_index=True)[1]]] = True
    stray = np.flatnonzero(~is_heaviest & has_cut[:count])
    return label, block[stray], stray


def _strays_that_may_move(state: State) -> tuple[IntVector, IntVector]:
    """Return the label (n,) of each vertex's piece, and those of stray pieces that may move.

    Those with a fixed vertex stay.
    """
    label, _, strays = _strays(state)
    return label, np.setdiff1d(strays, label[np.flatnonzero(state.fixed)])


def _join_strays(state: State, rule: int) -> None:
    """Move every stray piece, small ones first, to a block that it touches, as `rule` allows."""
    label, strays = _strays_that_may_move(state)
    order = np.argsort(label, kind="stable")
    starts = np.searchsorted(label[order], np.arange(label.max() + 2))
    sizes = np.diff(starts)[strays]
    kernels.join_pieces(
        state.csr, state.n_bytes, state.limits, state.blocks, rule,
        strays[np.argsort(sizes, kind="stable")], starts, order,
    )  # fmt: skip

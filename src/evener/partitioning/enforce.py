"""enforce: changes a partition so that it satisfies its contract, or explains why that fails.

As few vertices as possible move. First, simple proofs are tried that no partition can satisfy the
contract. Then weight flows along the quotient graph from blocks with too much weight to blocks with
too little, over the shortest chain of neighbours, by moving border vertices of best gain. With
heavy vertices, the remaining problem is bin packing: single moves and swaps are tried, then blocks
are packed from scratch. If connected blocks are requested, stray pieces are joined to neighbouring
blocks. For limits on several weights see multiconstraint/enforce_several.py.

Of a graph in slices, only the graph of its clusters is enforced (sliced/blocks.py);
planning/slice_blocks.py divides again where blocks are too large.
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
from evener.partitioning.repair import connecting_kernels as kernels
from evener.partitioning.repair.flowing import flow_until_kept, smooth
from evener.partitioning.repair.packing import pack_afresh, polish
from evener.partitioning.repair.proofs import prove_possible
from evener.partitioning.repair.state import MANY_MOVED, REPAIR_SEED, State
from evener.plans.partition import Contract, Partition
from evener.wording import brief, memory

STEP_WORK = 10_000_000  # limit on the vertices examined by all steps of single moves and swaps


@dataclass(frozen=True, eq=False)
class Enforced:
    """A partition that satisfies its contract, and how much was changed.

    moved: number of vertices that changed block; moved_weight: their weight [units]. disconnected:
    blocks in several pieces although their component of the graph is connected; empty unless
    connected blocks were requested.
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
    """Return a partition close to the given one in which every block satisfies `contract`.

    graph, partition: like the arguments of `evaluate`. connected: whether each block shall be
    connected, as far as the contract and the graph allow. constraint: index of the vertex weight to
    which the contract applies, if vertices have several; a contract with limits on several weights
    is satisfied for all of them, and then `connected` raises UsageError. fixed: flags (n,) of
    vertices that must stay in their blocks; None: all may move. names (k,): device names for
    messages. Raises InfeasibleError, with block and missing amount, if it is proved that no
    partition satisfies the contract; NotFoundError if there is no such proof but no solution was
    found. Deterministic.
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
            "connected blocks (--connected) need one weight per vertex, but this graph has several",
            hint="--constraint I selects one weight, counted from 0.",
        )
    else:
        from evener.partitioning.multiconstraint.enforce_several import kept_blocks

        part, constraint = kept_blocks(graph, partition, contract, names, stays), 0
    return _enforced(graph, partition, part, constraint, disconnected)


def _enforced(
    graph: Graph, given: Partition, part: Part, constraint: int, disconnected: tuple[int, ...]
) -> Enforced:
    changed = part != given.part
    weight = np.asarray(graph.weights(constraint)[changed], np.float64)
    return Enforced(Partition(part, given.k), int(changed.sum()), float(weight.sum()), disconnected)


def _kept(state: State, connected: bool, names: list[str]) -> Part:
    """Return blocks (n,) that satisfy the contract on one weight.

    `state` is changed to these blocks.
    """
    if connected or not state.holds():
        prove_possible(state, names)
        _repair(state)
        if connected:
            connect(state)
    _check(state, names)
    return state.part


def _repair(state: State) -> None:
    # A step examines every vertex a few times, so large graphs get fewer steps.
    steps = min(200 + 4 * state.k, max(STEP_WORK // state.graph.n, 8))
    given = state.part.copy()
    if flow_until_kept(state) or polish(state, steps=steps):
        if np.count_nonzero(state.part != given) > MANY_MOVED * state.free.size:
            connect(state, quickly=True)
            smooth(state)
        return
    pack_afresh(state, steps=steps, seed=REPAIR_SEED)


def _check(state: State, names: list[str]) -> None:
    """Raise NotFoundError, with the worst block, if a block violates its contract."""
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
        f"found no partition that satisfies every block's limits: {names[b]} {what} (blocks that "
        f"violate limits: {off})",
        hint=f"The heaviest vertex weighs {heaviest:,.6g}. Increase --epsilon.",
    )


# Rules for joining stray pieces, tried in this order.
JOIN_RULES = (kernels.JOIN_ALL, kernels.JOIN_FITTING, kernels.JOIN_SPARED)
JOIN_PATIENCE = 4  # attempts without fewer stray pieces before the next rule
REROOTINGS = 8  # number of other spanning trees to try if no leaf may move


def connect(state: State, *, quickly: bool = False) -> None:
    """Join stray pieces to neighbouring blocks, and balance again without disconnecting blocks.

    A stray piece is a connected part of a block other than the block's heaviest one; a piece that
    is a whole component of the graph does not count and stays. If the blocks cannot be balanced
    after all stray pieces were joined, fewer are joined. The result is, among the partitions found
    that satisfy the contract, the one with the fewest stray pieces. quickly: make one attempt only.
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
    """Return the label (n,) of each vertex's piece, and the block and label of every stray piece.

    See `connect` for stray pieces.
    """
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
    """Return the label (n,) of each vertex's piece, and the labels of stray pieces that may move.

    Pieces with a fixed vertex may not move.
    """
    label, _, strays = _strays(state)
    return label, np.setdiff1d(strays, label[np.flatnonzero(state.fixed)])


def _join_strays(state: State, rule: int) -> None:
    """Move every stray piece, small ones first, to a neighbouring block if `rule` allows it."""
    label, strays = _strays_that_may_move(state)
    order = np.argsort(label, kind="stable")
    starts = np.searchsorted(label[order], np.arange(label.max() + 2))
    sizes = np.diff(starts)[strays]
    kernels.join_pieces(
        state.csr, state.n_bytes, state.limits, state.blocks, rule,
        strays[np.argsort(sizes, kind="stable")], starts, order,
    )  # fmt: skip

"""Makes any partition keep its contract, moving as little as possible; or says why it cannot.

Weight flows along the quotient graph from blocks that have too much to blocks that lack it, each
over the shortest chain of neighbours; every arc of that flow is carried out by moving the boundary
vertices of best gain. Heavy vertices make the rest bin packing: single moves, swaps, then packing
afresh. What no partition can keep is proved impossible first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evener.errors import InputError, NotFoundError, UsageError
from evener.graphs.graph import Graph
from evener.io.accept import GraphLike, PartitionLike, as_graph, as_partition
from evener.partitioning.multiconstraint.enforce import kept_blocks
from evener.partitioning.repair.connecting import connect, pieces_left
from evener.partitioning.repair.flowing import flow_until_kept, smooth
from evener.partitioning.repair.packing import pack_afresh, polish
from evener.partitioning.repair.proofs import prove_possible
from evener.partitioning.repair.state import State
from evener.plans.partition import Contract, Partition
from evener.wording import brief, memory

# Orders of packing are shaken by this; any number does, the same one always.
PACKING_SEED = 20_613
# Vertices looked at by single moves and swaps, in all steps together.
STEP_WORK = 10_000_000
# A repair that moved more than this share of the vertices has left scraps and worn borders.
MANY_MOVED = 0.02


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
) -> Enforced:
    """Return a partition of `graph` in which every block keeps `contract`, close to the given one.

    graph, partition: as of `evaluate`.
    With `connected`, blocks end in one piece wherever the contract and the graph allow it. names
    (k,): the devices, for messages. Raises InfeasibleError with block and shortfall where a proof
    of impossibility is known, NotFoundError where none is and no solution was found either.
    Deterministic. With limits on several weights all are kept; `connected` is refused there
    (UsageError), and `constraint` has no meaning.
    """
    graph = as_graph(graph)
    partition = as_partition(partition, graph, contract.k)
    if partition.k != contract.k:
        raise InputError(f"the partition has {partition.k} blocks, the contract {contract.k}")
    if contract.further:
        return _enforce_several(graph, partition, contract, connected, names)
    state = State.of(graph, partition, contract, constraint)
    if not (state.holds() and not connected):
        prove_possible(state, names or [f"block {b}" for b in range(contract.k)])
        _repair(state)
        if connected:
            connect(state)
    _check(state, names)
    changed = state.part != partition.part
    return Enforced(
        Partition(state.part, contract.k),
        moved=int(changed.sum()),
        moved_weight=float(state.weights[changed].sum()),
        disconnected=pieces_left(state) if connected else (),
    )


def _enforce_several(
    graph: Graph, partition: Partition, contract: Contract, connected: bool, names: list[str] | None
) -> Enforced:
    if connected:
        raise UsageError(
            "blocks cannot be kept in one piece where vertices have several weights",
            hint="--constraint I divides one of the weights alone.",
        )
    names = names or [f"block {b}" for b in range(contract.k)]
    part = kept_blocks(graph, partition, contract, names)
    changed = part != partition.part
    moved_weight = float(graph.weights()[changed].sum())
    return Enforced(Partition(part, contract.k), int(changed.sum()), moved_weight)


def _repair(state: State) -> None:
    # A step looks at every vertex a few times; together they are bounded on large graphs.
    steps = min(200 + 4 * state.k, max(STEP_WORK // state.graph.n, 8))
    given = state.part.copy()
    if flow_until_kept(state) or polish(state, steps=steps):
        if np.count_nonzero(state.part != given) > MANY_MOVED * given.size:
            # Scraps left by large flows cost more cut than all else.
            connect(state, quickly=True)
            smooth(state)
        return
    pack_afresh(state, steps=steps, seed=PACKING_SEED)


def _check(state: State, names: list[str] | None) -> None:
    state.sum_up()
    if state.holds():
        return
    violations = state.violations()
    b = int(violations.argmax())
    name = names[b] if names else f"block {b}"
    if state.size[b] == 0:
        what = "stays empty"
    elif state.memory[b] > state.caps[b]:
        over, cap = memory(state.memory[b] - state.caps[b]), memory(state.caps[b])
        what = f"ends {over} over its memory of {cap}"
    else:
        low, high = state.contract.low[b], state.contract.high[b]
        what = f"ends with {state.weight[b]:,.9g} units where {low:,.9g} to {high:,.9g} are asked"
    off = int((violations > 0).sum())
    heaviest = float(np.max(state.weights))
    raise NotFoundError(
        f"no partition found that keeps every contract: {name} {what} ({off} block(s) off)",
        hint=f"Vertices weigh up to {heaviest:,.6g}; a larger --epsilon gives them room.",
    )

"""Changes a partition so that it satisfies limits on several weights, or explains why that fails.

The proofs of impossibility are those of repair/proofs.py for each weight, and one for two weights.
"""

from __future__ import annotations

import itertools

import numpy as np

from evener.arrays import FloatArray, IntVector, Part
from evener.errors import InfeasibleError, NotFoundError
from evener.graphs.graph import Graph
from evener.partitioning.levels.levels import finest
from evener.partitioning.multiconstraint.balance import NEIGHBOURS_ONLY, balance
from evener.partitioning.multiconstraint.loads import LoadBounds, Loaded, loads_of, mean_shares
from evener.partitioning.multiconstraint.multiconstraint import cycle_loaded, several_blocks
from evener.partitioning.multilevel.multilevel import edge_weights
from evener.partitioning.multilevel.presets import PRESETS
from evener.partitioning.repair.proofs import (
    SUMS_DIFFER,
    prove_blocks,
    prove_fixed_fit,
    prove_heaviest,
    prove_totals,
)
from evener.partitioning.repair.state import MANY_MOVED, REPAIR_SEED
from evener.plans.partition import Contract, Partition

NAMED = 4  # largest number of limits in a message


def kept_blocks(
    graph: Graph, partition: Partition, contract: Contract, names: list[str], fixed: IntVector
) -> Part:
    """Return blocks (n,) near `partition` that satisfy all limits of `contract`.

    First a few vertices are moved between neighbouring blocks. If that does not suffice, the graph
    is coarsened inside the blocks, so that clusters move before vertices. If that fails and no
    vertex is fixed, the graph is divided from scratch. names (k,): device names. fixed: the
    vertices that must not move, ascending. Raises InfeasibleError if it is proved that the limits
    cannot be satisfied, NotFoundError, with blocks and weights, if no partition was found.
    """
    loads, bounds = loads_of(graph, contract)
    level = finest(
        graph, np.arange(graph.n), mean_shares(loads[:, : bounds.asked]),
        edge_weights(graph), 1,
    )  # fmt: skip
    level.fixed = fixed
    loaded = Loaded(level, loads)
    if not bounds.off(loaded.weight(partition.part, bounds.k)).any():
        return partition.part
    prove_several(graph, contract, names, partition.part, fixed)
    part = partition.part.copy()
    off = bounds.off(balance(loaded, part, bounds, NEIGHBOURS_ONLY))
    if not off.any() and np.count_nonzero(part != partition.part) <= MANY_MOVED * graph.n:
        return part
    part = cycle_loaded(loaded, partition.part.copy(), bounds, PRESETS["default"], REPAIR_SEED, 1)
    if fixed.size == 0 and bounds.off(loaded.weight(part, bounds.k)).any():
        afresh = several_blocks(graph, contract, seed=REPAIR_SEED)
        if _total_off(loaded, bounds, afresh) < _total_off(loaded, bounds, part):
            part = afresh
    _check(loaded, bounds, part, contract, names)
    return part


def prove_several(
    graph: Graph, contract: Contract, names: list[str], part: Part, fixed: IntVector
) -> None:
    """Raise InfeasibleError if a simple proof shows that no partition satisfies all limits.

    fixed: the vertices that must stay in their block of `part` (n,).
    """
    prove_blocks(graph.n, contract.k)
    low, high = contract.table("low"), contract.table("high")
    columns = [np.asarray(graph.weights(i), np.float64) for i in range(contract.n_constraints)]
    for i, weights in enumerate(columns):
        held = np.bincount(part[fixed], weights[fixed], contract.k).astype(np.float64)
        prove_fixed_fit(held, high[:, i], names, f"units of weight {i}")
        prove_totals(weights, np.maximum(low[:, i], held), high[:, i], f"units of weight {i}")
        prove_heaviest(weights, high[:, i], names, f"units of weight {i}")
    for i, j in itertools.permutations(range(len(columns)), 2):
        _prove_ratio(columns, i, j, low, high, names)


def _prove_ratio(
    columns: list[FloatArray], i: int, j: int, low: FloatArray, high: FloatArray, names: list[str]
) -> None:
    """Raise InfeasibleError if a block's low on weight j implies more of weight i than its high.

    The proof uses that every vertex has at least `ratio` units of weight i per unit of weight j.
    """
    some = columns[j] > 0
    if not some.any():
        return
    ratio = float((columns[i][some] / columns[j][some]).min())
    needs, most = ratio * low[:, j], high[:, i]
    wrong = needs > most * (1 + SUMS_DIFFER)
    if wrong.any():
        b = int(np.argmax(wrong))
        raise InfeasibleError(
            f"{names[b]} needs at least {low[b, j]:,.6g} units of weight {j}, whose vertices have "
            f"at least {needs[b]:,.6g} of weight {i}, of which it may hold at most {most[b]:,.6g}",
            hint="The same vertices have both weights: divide both in the same way "
            "(--constraints), or increase --epsilon.",
        )


def _total_off(loaded: Loaded, bounds: LoadBounds, part: Part) -> float:
    return float(bounds.off(loaded.weight(part, bounds.k)).sum())


def _check(
    loaded: Loaded, bounds: LoadBounds, part: Part, contract: Contract, names: list[str]
) -> None:
    """Raise NotFoundError, with the worst violations, if a block violates a limit."""
    off = bounds.off(loaded.weight(part, bounds.k))
    if not off.any():
        return
    worst = np.argsort(-off, axis=None, kind="stable")[: min(NAMED, np.count_nonzero(off))]
    said = ", ".join(_limit(int(at), bounds, off, contract, names) for at in worst)
    blocks, limits = np.count_nonzero(off.any(axis=1)), np.count_nonzero(off)
    raise NotFoundError(
        f"found no partition that satisfies every limit on all weights: {said} (violated limits: "
        f"{limits}, in {blocks} block(s))",
        hint="Increase --epsilon, or select one weight with --constraint I.",
    )


def _limit(
    at: int, bounds: LoadBounds, off: FloatArray, contract: Contract, names: list[str]
) -> str:
    b, i = divmod(at, off.shape[1])
    if i < contract.n_constraints:
        return f"{names[b]} violates its limits on weight {i} by {off[b, i]:.2%} of its target"
    if np.isfinite(bounds.high[b, i]):
        return f"{names[b]} needs {off[b, i]:.2%} more bytes than it has"
    return f"{names[b]} stays empty"

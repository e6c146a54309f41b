"""Makes any partition keep limits on several weights; or says which of them it cannot keep."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evener.arrays import Part
from evener.errors import InfeasibleError, NotFoundError
from evener.graphs.graph import Graph
from evener.partitioning.levels.levels import finest
from evener.partitioning.multiconstraint.balance import NEIGHBOURS_ONLY, balance
from evener.partitioning.multiconstraint.loads import Bounds, Loaded, loads_of, mean_shares
from evener.partitioning.multiconstraint.multiconstraint import cycle_loaded, several_blocks
from evener.partitioning.multilevel.multilevel import edge_weights
from evener.partitioning.multilevel.presets import PRESETS
from evener.plans.partition import Contract, Partition

SEED = 20_613  # any does, the same one always
MANY_MOVED = 0.02  # of the vertices: a repair that moves more has worn the borders
NAMED = 4


def kept_blocks(
    graph: Graph, partition: Partition, contract: Contract, names: list[str]
) -> npt.NDArray[np.int32]:
    """Return blocks (n,) near `partition` that keep every limit of `contract`.

    Few moves at the borders where they do; else the graph is shrunk inside the blocks, and
    clusters are moved before vertices; else it is divided afresh. names (k,): the devices. Raises
    InfeasibleError where limits are proved to contradict each other, NotFoundError with the
    blocks and weights that are off where no partition was found.
    """
    loads, bounds = loads_of(graph, contract)
    level = finest(
        graph, np.arange(graph.n), mean_shares(loads[:, : bounds.asked]),
        edge_weights(graph), 1,
    )  # fmt: skip
    loaded = Loaded(level, loads)
    if not bounds.off(loaded.weight(partition.part, bounds.k)).any():
        return partition.part
    prove_several(graph, contract, names)
    part = partition.part.copy()
    off = bounds.off(balance(loaded, part, bounds, NEIGHBOURS_ONLY))
    if not off.any() and np.count_nonzero(part != partition.part) <= MANY_MOVED * graph.n:
        return part
    part = cycle_loaded(loaded, partition.part.copy(), bounds, PRESETS["default"], SEED, 1)
    if bounds.off(loaded.weight(part, bounds.k)).any():
        afresh = several_blocks(graph, contract, seed=SEED)
        if _total_off(loaded, bounds, afresh) < _total_off(loaded, bounds, part):
            part = afresh
    _check(loaded, bounds, part, contract, names)
    return part


def prove_several(graph: Graph, contract: Contract, names: list[str]) -> None:
    """Raise InfeasibleError where no partition can keep the limits on several weights.

    Known proofs: lows of a weight that ask for more than there is, highs that hold less, a vertex
    heavier than every high, and two weights whose ratio is bounded over all vertices.
    """
    low, high = contract.table("low"), contract.table("high")
    columns = [np.asarray(graph.weights(i), np.float64) for i in range(contract.n_constraints)]
    for i, weights in enumerate(columns):
        total, heaviest = float(weights.sum()), float(weights.max(initial=0.0))
        hair = 1e-9 * total
        if low[:, i].sum() > total + hair or high[:, i].sum() < total - hair:
            raise InfeasibleError(
                f"the blocks ask for {low[:, i].sum():,.9g} to {high[:, i].sum():,.9g} units of "
                f"weight {i} together, and there are {total:,.9g}"
            )
        if heaviest > high[:, i].max() * (1 + 1e-9):
            raise InfeasibleError(
                f"vertex {int(weights.argmax())} has {heaviest:,.6g} of weight {i}, more than any "
                f"block may hold: {high[:, i].max():,.6g}",
                hint="Split the vertex, or give a larger --epsilon or a larger device.",
            )
        for j, others in enumerate(columns):
            if i != j:
                _ratio_allows(weights, others, i, j, low[:, j], high[:, i], names)


def _ratio_allows(
    weights: npt.NDArray[np.float64],
    others: npt.NDArray[np.float64],
    i: int,
    j: int,
    low: npt.NDArray[np.float64],
    high: npt.NDArray[np.float64],
    names: list[str],
) -> None:
    """Refuse a block that is to have much of weight j, and little of weight i that goes with it."""
    some = others > 0
    if not some.any():
        return
    ratio = float((weights[some] / others[some]).min())
    needs = ratio * low
    wrong = needs > high * (1 + 1e-9)
    if wrong.any():
        b = int(np.argmax(wrong))
        raise InfeasibleError(
            f"{names[b]} asks for {low[b]:,.6g} units of weight {j} or more, which bring "
            f"{needs[b]:,.6g} of weight {i} at least, and may hold {high[b]:,.6g}",
            hint="The two weights go together: let them be shared alike (--constraints), or give "
            "a larger --epsilon.",
        )


def _total_off(loaded: Loaded, bounds: Bounds, part: Part) -> float:
    return float(bounds.off(loaded.weight(part, bounds.k)).sum())


def _check(
    loaded: Loaded, bounds: Bounds, part: Part, contract: Contract, names: list[str]
) -> None:
    """Raise NotFoundError that names what is off, the worst first."""
    off = bounds.off(loaded.weight(part, bounds.k))
    if not off.any():
        return
    worst = np.argsort(-off, axis=None, kind="stable")[: min(NAMED, np.count_nonzero(off))]
    said = ", ".join(_limit(int(at), bounds, off, contract, names) for at in worst)
    blocks, limits = np.count_nonzero(off.any(axis=1)), np.count_nonzero(off)
    raise NotFoundError(
        f"no partition found that keeps every limit on all weights: {said} "
        f"({limits} limit(s) of {blocks} block(s) off)",
        hint="A larger --epsilon gives room; --constraint I divides one of the weights alone.",
    )


def _limit(
    at: int, bounds: Bounds, off: npt.NDArray[np.float64], contract: Contract, names: list[str]
) -> str:
    b, i = divmod(at, off.shape[1])
    if i < contract.n_constraints:
        return f"{names[b]} is {off[b, i]:.2%} of its target off its limits on weight {i}"
    if np.isfinite(bounds.high[b, i]):
        return f"{names[b]} needs {off[b, i]:.2%} more bytes than it has"
    return f"{names[b]} stays empty"

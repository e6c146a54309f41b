"""Blocks of graphs whose degrees are uneven, by label propagation.

    strip vertices without edges -> start -> propagate -> fill up

Where a few vertices have most of the edges, clusters of the graph are no smaller graph of the same
kind: blocks are filled in the order of degrees, and the graph is refined as it is. Where degrees
are less uneven, as in social networks, there are clusters: the graph is shrunk, bisected and
refined on the way back. Vertices without edges go where weight is missing in the end. Everything
is deterministic; one thread.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.graphs import Graph
from evener.partitioning import coarsening_kernels
from evener.partitioning import propagation_kernels as kernels
from evener.partitioning.bisection import recursive_bisection
from evener.partitioning.levels import Level, Part, finest, shrink
from evener.partitioning.propagation_kernels import Board
from evener.partitioning.propagation_rounds import (
    board_for_cut,
    lower_cut,
    lower_max_volume,
    lower_total_volume,
    with_nets,
)
from evener.partitioning.skew import SKEWED, skewness
from evener.partitions import Contract

NEXT_TO_NOTHING = 1e-9
COARSEST, PER_BLOCK = 1000, 15  # vertices that the smallest graph keeps, in all and a block
LARGEST_CLUSTER = 1 / 2  # of the smallest block's target
GROWTH = 6.0  # heaviest cluster of a level, in mean vertices
LEAST_SHRINKAGE = 0.95
EPSILON = 0.03  # what bisection leaves a block off its target


@dataclass(frozen=True)
class Rounds:
    """Rounds of sweeps: for the cut; before and for the volumes, total and then largest."""

    cut: int
    before: int
    total_volume: int
    max_volume: int


ROUNDS = {
    "fast": Rounds(cut=3, before=2, total_volume=3, max_volume=4),
    "default": Rounds(cut=8, before=4, total_volume=6, max_volume=8),
    "strong": Rounds(cut=16, before=6, total_volume=12, max_volume=20),
}


def propagation_blocks(
    graph: Graph,
    contract: Contract,
    edge_weights: npt.NDArray[np.int32],
    *,
    preset: str = "default",
    objective: str = "cut",
    seed: int = 7,
) -> Part:
    """Return the block (n,) of every vertex; with unit weights, within `contract`.

    edge_weights (2m,) whole, from 1 on, or (0,): all 1. Heavy vertices may be left for `enforce`
    to settle, as are caps in bytes. objective: "cut", which counts edge weights, "total_volume"
    or "max_volume".
    """
    weights, degrees = graph.weights(), graph.degrees
    hubs_first = skewness(graph) > SKEWED
    order = np.lexsort((-weights, -degrees if hubs_first else degrees, degrees == 0))
    level = finest(graph, order, weights, edge_weights, 1)
    linked = int(np.count_nonzero(degrees))
    part, weight = np.zeros(graph.n, np.int32), np.zeros(contract.k)
    if linked:
        whole = replace(level, xadj=level.xadj[: linked + 1], vwgt=level.vwgt[:linked])
        alone = float(level.vwgt[linked:].sum())
        rng = np.random.default_rng(seed)
        start = _in_order if hubs_first else _by_clusters
        rounds = ROUNDS[preset]
        first = rounds.cut if objective == "cut" else rounds.before
        blocks = start(whole, contract, alone, first, rng)
        board = board_for_cut(whole, blocks, contract.low, contract.high, alone)
        _refine(board, rounds, objective, rng)
        part[:linked], weight = board.part, board.weight
    kernels.fill(
        level.vwgt[linked:], contract.low, contract.targets, contract.high, part[linked:], weight
    )
    result = np.empty(graph.n, np.int32)
    result[order] = part
    return result


def _refine(board: Board, rounds: Rounds, objective: str, rng: np.random.Generator) -> None:
    """Minimise the objective in place; what is good for it begins with a low cut."""
    if objective == "cut":
        lower_cut(board, rounds.cut, rng)
        return
    lower_cut(board, rounds.before, rng)
    board = with_nets(board)
    lower_total_volume(board, rounds.total_volume, rng)
    if objective == "max_volume":
        lower_max_volume(board, rounds.max_volume, rng)


def _in_order(
    level: Level, contract: Contract, alone: float, _rounds: int, _rng: np.random.Generator
) -> Part:
    """Fill blocks, largest first, so that vertices without edges, weighing `alone`, can do the
    rest; most of the edges are then between the first blocks.
    """
    low, high = contract.low, contract.high
    held = float(level.vwgt.sum())
    needed = float(low.sum()) - alone
    # Blocks at `caps` hold all; those still empty then need no more than what stands alone.
    caps = high if needed <= NEXT_TO_NOTHING * held else np.minimum(high, low * (held / needed))
    following = np.argsort(-contract.targets, kind="stable")
    part = np.empty(level.n, np.int32)
    kernels.start(level.vwgt, caps, following, part, np.zeros(contract.k))
    return part


def _by_clusters(
    level: Level, contract: Contract, alone: float, rounds: int, rng: np.random.Generator
) -> Part:
    """Bisect a small graph of clusters, and lower the cut on every level but the finest."""
    above = []
    total, enough = float(level.vwgt.sum()), max(COARSEST, PER_BLOCK * contract.k)
    heaviest = LARGEST_CLUSTER * float(contract.targets.min())
    while level.n > enough:
        cap = min(heaviest, GROWTH * total / level.n)
        shrunk = shrink(level, np.zeros(level.n, np.int32), np.array([cap]), 1)
        if shrunk.level.n > LEAST_SHRINKAGE * level.n:
            break
        above.append((level, shrunk))
        level = shrunk.level
    part = recursive_bisection(level, contract.targets, EPSILON, int(rng.integers(2**31)))
    for finer, shrunk in reversed(above):
        _lower_coarse(level, part, contract, alone, rounds, rng)
        fine = np.empty(finer.n, np.int32)
        coarsening_kernels.project(part, shrunk.coarse_of, fine)
        level, part = finer, fine
    return part


def _lower_coarse(
    level: Level, part: Part, contract: Contract, alone: float, rounds: int,
    rng: np.random.Generator,
) -> None:  # fmt: skip
    """Lower the cut in place; blocks may be short by the heaviest cluster."""
    low: FloatArray = np.maximum(contract.low - float(level.vwgt.max()), 0.0)
    lower_cut(board_for_cut(level, part, low, contract.high, alone), rounds, rng)

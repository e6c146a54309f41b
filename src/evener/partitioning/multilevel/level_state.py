"""The blocks of one level (Placed): made, rounded, refined, and projected to the next finer one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, Part
from evener.graphs.graph import Graph
from evener.partitioning.initial.diffusion import Spread, diffused_blocks
from evener.partitioning.levels.levels import LARGEST_CLUSTER, GraphLevel, Shrunk, projected
from evener.partitioning.multilevel.presets import Preset
from evener.partitioning.refinement import fm_kernels as kernels
from evener.partitioning.refinement.cutting import cut_anew
from evener.partitioning.refinement.fm import (
    EVEN_PRICE,
    Flags,
    boundary_flags,
    boundary_flags_below,
    refine_level,
)
from evener.partitioning.repair.flowing import flow_until_kept
from evener.partitioning.repair.state import State
from evener.plans.partition import Contract, Partition

DEARER = 1.5  # the price of the longest border is higher by this share
STEEPNESS = 6  # power of a border's share of the longest one, in what its price is higher by


@dataclass(frozen=True, eq=False)
class MultilevelTask:
    """What is asked of blocks, and how much is done for it."""

    contract: Contract
    preset: Preset
    seed: int
    threads: int


@dataclass(eq=False)
class Placed:
    """Blocks `part` (n,) of a level, their weights and the prices of their borders (k,).

    flag (n,): the vertices at a border. finer_rounding: how they are rounded on finer graphs,
    where that makes these blocks better.
    """

    level: GraphLevel
    part: Part
    weight: FloatArray
    price: npt.NDArray[np.int64]
    flag: Flags
    finer_rounding: Spread | None


def placed(
    level: GraphLevel,
    part: Part,
    task: MultilevelTask,
    depth: int,
    *,
    finer_rounding: Spread | None,
) -> Placed:
    """Return blocks as near to the contract as a small graph's vertices allow; depth as below."""
    part = balanced(level, part, eased(task.contract, level, depth))
    k = task.contract.k
    return Placed(
        level, part, block_weights(level, part, k), prices(level, part, k),
        boundary_flags(level, part, task.threads), finer_rounding,
    )  # fmt: skip


def rounded(
    level: GraphLevel,
    part: Part,
    task: MultilevelTask,
    depth: int,
    spread: Spread,
    finer_rounding: Spread | None,
) -> Placed:
    """Return blocks rounded by diffusion, now by `spread` and later on finer graphs; see refine."""
    part = diffused_blocks(level, task.contract.targets, part, spread, task.threads)
    return placed(level, part, task, depth, finer_rounding=finer_rounding)


def refine(blocks: Placed, task: MultilevelTask, depth: int) -> Placed:
    """Refine in place, by localized FM, then by cuts of pairs of blocks; return the same.

    depth: of the level, 0 for the finest.
    """
    effort, cutting = task.preset.fm_with_cuts, task.preset.cutting
    rounds = effort.finest_rounds if depth == 0 else effort.rounds
    cuts = cutting.finest_rounds if depth == 0 else cutting.rounds
    level, seed = blocks.level, task.seed * 50 + depth
    limits = limits_on(level, task, depth)
    state = kernels.BlockState(blocks.part, blocks.weight, blocks.price, limits)
    refine_level(level, state, blocks.flag, rounds, effort, seed, task.threads)
    cut_anew(level, state, cuts, cutting.reach, seed, task.threads)
    return blocks


def descend(blocks: Placed, finer: GraphLevel, shrunk: Shrunk, task: MultilevelTask) -> Placed:
    """Return the same blocks on the finer level."""
    coarse_flag = boundary_flags(blocks.level, blocks.part, task.threads)
    part = projected(shrunk, blocks.part, task.threads)
    flag = boundary_flags_below(finer, part, coarse_flag, shrunk.coarse_of, task.threads)
    return Placed(finer, part, blocks.weight, blocks.price, flag, blocks.finer_rounding)


def balanced(level: GraphLevel, blocks: Part, contract: Contract) -> Part:
    """Return blocks of a small graph as near to the contract as its vertices allow."""
    weight = block_weights(level, blocks, contract.k)
    if within(weight, contract):
        return blocks
    weighted = level.adjwgt.size > 0
    graph = Graph(
        level.xadj.astype(np.int64),
        level.adjncy.astype(np.int32),
        vwgt=level.vwgt,
        adjwgt=level.adjwgt.astype(np.int64) if weighted else None,
    )
    without_caps = Contract(contract.targets, contract.low, contract.high)
    state = State.of(graph, Partition(blocks, contract.k), without_caps, 0)
    flow_until_kept(state)
    return state.part


def within(weight: FloatArray, contract: Contract) -> bool:
    """Return whether blocks of these weights (k,) are within the limits."""
    return bool(((weight >= contract.low) & (weight <= contract.high)).all())


def block_weights(level: GraphLevel, part: Part, k: int) -> FloatArray:
    """Return the weights of the blocks (k,)."""
    return np.bincount(part, weights=level.vwgt, minlength=k).astype(np.float64)


def prices(level: GraphLevel, blocks: Part, k: int) -> npt.NDArray[np.int64]:
    """Return the prices (k,) of the blocks' borders: long ones cost more per edge."""
    border = np.zeros(k, np.int64)
    kernels.block_borders(level.xadj, level.adjncy, level.adjwgt, blocks, border)
    share = border / max(int(border.max()), 1)
    return np.asarray(np.rint(EVEN_PRICE * (1 + DEARER * share**STEEPNESS)), np.int64)


def limits_on(level: GraphLevel, task: MultilevelTask, depth: int) -> kernels.WeightLimits:
    """Return limits of searches: on the way a little wider, or by the heaviest vertex."""
    contract = eased(task.contract, level, depth)
    slack: FloatArray = np.maximum(task.preset.slack * contract.targets, level.vwgt.max())
    return kernels.WeightLimits(
        contract.low, contract.high, contract.low - slack, contract.high + slack
    )


def eased(contract: Contract, level: GraphLevel, depth: int) -> Contract:
    """Return the contract, on coarse levels (depth above 0) with limits wider by about a vertex.

    Vertices are so heavy there that closer limits would raise the cut.
    """
    if depth == 0:
        return contract
    targets = contract.targets
    room = np.minimum(float(level.vwgt.max()), LARGEST_CLUSTER * targets)
    low, high = np.minimum(contract.low, targets - room), np.maximum(contract.high, targets + room)
    return Contract(targets, low, high)

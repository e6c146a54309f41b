"""Improves any edge partition by directly reducing copies of vertices, within limits of blocks."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evener.arrays import FloatArray, Part
from evener.errors import InputError
from evener.graphs.edge_list import EdgeList
from evener.plans.edge_partition import EdgePartition
from evener.splitting import copies_kernels as kernels
from evener.splitting.copies_kernels import EdgeGroups, Limits, Tables
from evener.splitting.groups import coarser_part, levels_of, single_edges

# Rounds end if a round saves fewer copies than this fraction of the groups examined; set by hand.
WORTH_A_ROUND = 0.0005
GROUPS_PER_BLOCK = 40  # number of groups per block on the coarsest level of a cycle
LEAST_SHARE = 16  # a group has at most 1 / LEAST_SHARE of the mean work of a block
# Least gain in copies of a move that brings blocks within their limits, for each pass.
LEAST_GAINS = (0, -1, -1, -2, -2, -2, -2)
LOOKS = 200  # limit on the groups that the searches of a round examine, per boundary group


@dataclass(frozen=True)
class Effort:
    """How long to refine.

    rounds: largest number of rounds of moves that gain. patience: a search (a sequence of moves of
    which some may lose) ends after this many moves without gain; 0: no searches. searches: largest
    number of rounds of searches. cycles: how often to coarsen edges to groups inside blocks and
    move groups of all sizes. gives_up: if searches found almost nothing on a level, skip them on
    finer levels.
    """

    rounds: int = 10
    patience: int = 0
    searches: int = 2
    cycles: int = 0
    gives_up: bool = False


def refine_copies(
    edges: EdgeList,
    partition: EdgePartition,
    low: FloatArray,
    high: FloatArray,
    *,
    rounds: int = 10,
    patience: int = 0,
    cycles: int = 0,
    seed: int = 7,
) -> tuple[EdgePartition, int]:
    """Return an edge partition with at most as many copies, and the number of copies saved.

    low, high (k,) [units]: limits on the loads of blocks; if a block violates a limit, its
    violation does not grow. Edges move one by one, in an order shuffled by `seed`, to a block that
    already contains one of their ends, for up to `rounds` rounds. patience: if above 0, searches
    also make moves that lose, and end after this many moves without gain. cycles: how often groups
    of edges of all sizes are moved too. Raises InputError for limits of other lengths.
    """
    partition.checked_for(edges)
    edges = edges.opened()
    low, high = np.asarray(low, np.float64), np.asarray(high, np.float64)
    if low.shape != (partition.k,) or high.shape != (partition.k,):
        raise InputError(f"limits have {low.size} and {high.size} blocks, not {partition.k}")
    effort = Effort(rounds, patience, cycles=cycles)
    part: Part = partition.part.copy()
    limits = Limits(partition.loads(edges), low, high)
    total = refine_groups(single_edges(edges), part, limits, effort, np.random.default_rng(seed))
    return EdgePartition(part, partition.k), total


def refine_groups(
    finest: EdgeGroups, part: Part, limits: Limits, effort: Effort, rng: np.random.Generator
) -> int:
    """Refine blocks (edges,) in place; return the number of copies saved.

    This makes up to effort.cycles cycles, or refines single edges only if that is 0.
    """
    total = 0
    for _ in range(effort.cycles):
        saved = refine_inside(finest, part, part, limits, effort, rng)
        total += saved
        if saved == 0:
            break
    if effort.cycles == 0:
        total, _ = refine_level(finest, part, limits, effort, rng)
    return total


def refine_inside(
    finest: EdgeGroups,
    part: Part,
    inside: Part,
    limits: Limits,
    effort: Effort,
    rng: np.random.Generator,
) -> int:
    """Refine blocks (edges,) in place by moving groups of all sizes; return the copies saved.

    inside (edges,) int32: a group only joins edges with the same number here; edges with the same
    number must be in the same block.
    """
    k = limits.load.size
    most = finest.work.sum() / (LEAST_SHARE * k)
    levels = levels_of(finest, inside, GROUPS_PER_BLOCK * k, most, rng)
    parts = [part]
    for cluster, coarse in zip(levels.clusters, levels.groups[1:], strict=True):
        parts.append(coarser_part(parts[-1], cluster, coarse.work.size))
    total = 0
    for depth in range(len(parts) - 1, -1, -1):
        saved, found = refine_level(levels.groups[depth], parts[depth], limits, effort, rng)
        total += saved
        if effort.gives_up and not found:
            effort = replace(effort, searches=0)
        if depth:
            parts[depth - 1][:] = parts[depth][levels.clusters[depth - 1]]
    return total


def refine_level(
    groups: EdgeGroups, part: Part, limits: Limits, effort: Effort, rng: np.random.Generator
) -> tuple[int, bool]:
    """Refine blocks (groups,) in place by moves that gain, then by searches.

    limits.load is updated. Returns the number of copies saved, and whether the first round of
    searches saved enough.
    """
    tables = tables_of(groups, part, limits.load.size)
    n, count = tables.sizes.size, groups.work.size
    changed, looked = np.zeros(n, np.int32), np.zeros(count, np.int32)
    room, total, worth = np.empty(count, np.int32), 0, False
    for now in range(1, effort.rounds + 1):
        order = _boundary(groups, tables, room, rng)
        saved, moved = kernels.improve(groups, part, tables, limits, order, changed, looked, now)
        total += int(saved)
        if moved == 0 or saved < WORTH_A_ROUND * order.size:
            break
    for _ in range(effort.searches if effort.patience else 0):
        seeds = _boundary(groups, tables, room, rng)
        budget = LOOKS * seeds.size
        saved = kernels.search(groups, part, tables, limits, seeds, effort.patience, budget)
        total += int(saved)
        if saved < WORTH_A_ROUND * seeds.size:
            break
        worth = True
    return total, worth


def levelled(groups: EdgeGroups, part: Part, limits: Limits, rng: np.random.Generator) -> bool:
    """Move groups, in place, until blocks satisfy their limits; return whether they do.

    Few copies are added. Groups move only between blocks that share a vertex.
    """
    if (limits.low <= limits.load).all() and (limits.load <= limits.high).all():
        return True
    tables = tables_of(groups, part, limits.load.size)
    room = np.empty(groups.work.size, np.int32)
    for least_gain in LEAST_GAINS:
        order = _boundary(groups, tables, room, rng)
        if kernels.level_out(groups, part, tables, limits, order, least_gain):
            return True
    return False


def _boundary(groups: EdgeGroups, tables: Tables, room: Part, rng: np.random.Generator) -> Part:
    """Return the groups with a vertex that is in several blocks, in random order."""
    found = room[: int(kernels.list_boundary(groups, tables, room))].copy()
    rng.shuffle(found)
    return found


def tables_of(groups: EdgeGroups, part: Part, k: int) -> Tables:
    """Return the tables of the blocks that contain each vertex, from the blocks of its groups."""
    degrees = np.diff(groups.offsets)
    first = np.zeros(degrees.size + 1, np.int64)
    np.cumsum(np.minimum(degrees, k), out=first[1:])
    has_places = degrees >= max(k, 8)
    direct = np.where(has_places, k * (np.cumsum(has_places) - 1), -1)
    tables = Tables(
        first,
        np.empty(first[-1], np.int32),
        np.empty(first[-1], np.int32),
        np.empty(degrees.size, np.int32),
        direct,
        np.empty(k * int(has_places.sum()), np.int32),
    )
    kernels.fill_tables(groups, part, tables)
    return tables

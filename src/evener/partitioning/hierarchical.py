"""Divides a graph along the tree of a machine, so that few edges join distant devices.

    order -> for each level of the tree: divide every group's part, refine all borders -> volumes

The graph is divided among the groups of the first level (for example nodes), each part among the
groups inside this group, and so on down to the devices. The target of a group is the sum of its
devices' targets. If the graph has coordinates, parts are divided by balanced k-means; otherwise by
the multilevel partitioner, or by label propagation if degrees are uneven. After each level all
borders are refined, including those of earlier levels. There may be any number of groups, of any
size and depth.

[LDHT]_, section V, divides by k-means on every level and smooths all borders once, at the end;
geohier_blocks does the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, Part
from evener.errors import InputError
from evener.graphs.graph import Graph
from evener.partitioning.initial.kmeans import (
    BALANCE,
    Centres,
    FloatMatrix,
    along_curve,
    unit_box,
)
from evener.partitioning.initial.trees import Tree, simplest
from evener.partitioning.label_propagation.cycles import lower_cut, state_for_cut
from evener.partitioning.label_propagation.propagation import ROUNDS, is_uneven, propagation_blocks
from evener.partitioning.levels.levels import GraphLevel, finest, scattered, subgraph
from evener.partitioning.multilevel.level_state import MultilevelTask, balanced, eased
from evener.partitioning.multilevel.multilevel import (
    edge_weights,
    lower_volumes,
    place_by_levels,
    v_cycle,
    vertex_order,
)
from evener.partitioning.multilevel.presets import PRESETS, Preset
from evener.partitioning.refinement.volumes import AIMS
from evener.plans.partition import Contract

MAX_STEPS = 4  # largest number of tree levels used, not counting the level of the devices


@dataclass(eq=False)
class _Task:
    """The data that all divisions share: the reordered graph, points (d, n) or None, and options.

    uneven: whether degrees are uneven; label propagation then divides graphs without points.
    """

    level: GraphLevel
    points: FloatMatrix | None
    uneven: bool
    preset: str
    seed: int
    threads: int

    @property
    def chosen(self) -> Preset:
        return PRESETS[self.preset]


def hierarchical_blocks(
    graph: Graph,
    contract: Contract,
    tree: Tree,
    *,
    preset: str = "default",
    objective: str = "cut",
    seed: int = 7,
    threads: int = 1,
) -> Part:
    """Return the block (n,) of every vertex; block b belongs to device b of the tree.

    tree (depth, k): see initial/trees.py; if it has no rows, all devices are on one level. The
    other options are those of multilevel_blocks. Most blocks satisfy `contract`, the others nearly;
    `enforce` corrects these.
    """
    order = vertex_order(graph, threads)
    level = finest(graph, order, graph.weights(), edge_weights(graph), threads)
    points = None if graph.coords is None else unit_box(graph.coords, order, threads)
    task = _Task(level, points, is_uneven(graph), preset, seed, threads)
    part, owner = np.zeros(graph.n, np.int32), np.zeros(contract.k, np.int64)
    for depth, row in enumerate([*_steps(simplest(tree)), np.arange(contract.k)]):
        groups = _summed(contract, row)
        part = _divided(task, part, owner, row, groups, depth)
        # If a group violated its limits, all groups inside it would miss their targets.
        limits = eased(groups, level, depth=0)
        part = balanced(level, _refined(task, part, groups, depth), limits)
        owner = row
    if objective != "cut":
        whole = MultilevelTask(contract, task.chosen, seed, threads)
        lower_volumes(level, part, whole, AIMS[objective])
    return scattered(part, order, threads)


def geohier_blocks(
    graph: Graph, contract: Contract, tree: Tree, *, threads: int = 1, smooth: bool = True
) -> Part:
    """Return the block (n,) of every vertex, by k-means along the tree and no other method.

    This is the hierarchical k-means of [LDHT]_, section V. smooth: whether k-means finally runs
    once more on all blocks, from their centres; the borders between groups then move freely. The
    result is not random. Raises InputError for a graph without coordinates, InfeasibleError if a
    target or the weight of all vertices is 0.
    """
    if graph.coords is None:
        raise InputError("k-means along a tree needs coordinates, and the graph has none")
    order = vertex_order(graph, threads)
    points, weights = unit_box(graph.coords, order, threads), graph.weights()
    vwgt = np.asarray(weights if graph.is_unit else weights[order], np.float64)
    no_edges = np.zeros(graph.n + 1, np.uint32), np.empty(0, np.uint32), np.empty(0, np.int32)
    task = _Task(GraphLevel(*no_edges, vwgt), points, uneven=False, preset="fast", seed=0,
                 threads=threads)  # fmt: skip
    part, owner = np.zeros(graph.n, np.int32), np.zeros(contract.k, np.int64)
    for depth, row in enumerate([*_steps(simplest(tree)), np.arange(contract.k)]):
        part = _divided(task, part, owner, row, _summed(contract, row), depth)
        owner = row
    if smooth:
        centres = _centres_of(part, points, vwgt, contract.targets)
        unit = np.empty(0) if graph.is_unit else vwgt
        part, _ = along_curve(
            points, unit, contract.targets, BALANCE, threads, centres, persistent=True
        )
    return scattered(part, order, threads)


def _centres_of(
    part: Part, points: FloatMatrix, weights: FloatArray, targets: FloatArray
) -> Centres:
    """Return the Centres of all blocks: weighted means of their points (d, n).

    The centre of an empty block is the mean of all points.
    """
    d, k = points.shape[0], targets.size
    mass = np.bincount(part, weights, k)
    sums = np.stack([np.bincount(part, weights * x, k) for x in points], axis=1)
    middle = sums.sum(axis=0) / mass.sum()
    places = np.where(mass[:, None] > 0, sums / np.maximum(mass, 1e-300)[:, None], middle)
    return Centres(places.astype(np.float32), (targets / targets.mean()) ** (1 / d))


def _steps(tree: Tree) -> Tree:
    """Return the tree with at most MAX_STEPS levels, by repeatedly removing every second level.

    Trees of bisections, for example, are too deep.
    """
    while len(tree) > MAX_STEPS:
        tree = tree[1::2]
    return tree


def _summed(contract: Contract, row: npt.NDArray[np.int64]) -> Contract:
    """Return the contract of groups: sums of the limits of their blocks.

    row (k,): the group of each block.
    """
    low, targets, high = (
        np.bincount(row, limits).astype(np.float64)
        for limits in (contract.low, contract.targets, contract.high)
    )
    return Contract(targets, low, high)


def _divided(
    task: _Task,
    part: Part,
    owner: npt.NDArray[np.int64],
    row: npt.NDArray[np.int64],
    groups: Contract,
    depth: int,
) -> Part:
    """Divide every group of the level above into its groups on this level; return groups (n,).

    owner, row (k,): the group of each device on the level above, and on this level. part (n,): the
    group of each vertex on the level above. groups: contract of the groups on this level.
    """
    parents = np.zeros(groups.k, np.int64)
    parents[row] = owner
    by_owner = np.argsort(part, kind="stable")
    ends = np.searchsorted(part[by_owner], np.arange(parents.max() + 2))
    rank = np.empty(part.size, np.uint32)
    divided = np.empty_like(part)
    for parent in range(parents.max() + 1):
        members = by_owner[ends[parent] : ends[parent + 1]]
        children = np.flatnonzero(parents == parent)
        if children.size == 1 or members.size == 0:
            divided[members] = children[0]
            continue
        seed = task.seed + 1009 * (depth + 1) + parent
        inside = Contract(groups.targets[children], groups.low[children], groups.high[children])
        own = _divided_one(task, part, members, rank, inside, seed)
        divided[members] = children[own]
    return divided


def _divided_one(
    task: _Task,
    part: Part,
    members: npt.NDArray[np.int64],
    rank: npt.NDArray[np.uint32],
    groups: Contract,
    seed: int,
) -> Part:
    """Divide the vertices `members` among the groups; return the group (members.size,) of each."""
    weights = task.level.vwgt[members]
    total = float(weights.sum())
    if not (total > 0 and members.size > groups.k):
        # No weight, or no more vertices than groups: equal numbers, in order.
        return np.asarray(np.arange(members.size) * groups.k // members.size, np.int32)
    scaled = _scaled(groups, total, float(weights.max()))
    if task.points is not None:
        return _placed(task.points[:, members], weights, scaled.targets, task.threads)
    sub = subgraph(task.level, part, members, rank)
    if task.uneven:
        return propagation_blocks(_as_graph(sub), scaled, sub.adjwgt, preset=task.preset, seed=seed)
    return place_by_levels(sub, MultilevelTask(scaled, task.chosen, seed, task.threads))


def _scaled(groups: Contract, total: float, heaviest: float) -> Contract:
    """Return a contract with targets that add up to `total`.

    Its limits differ from the targets by at least the weight of the heaviest vertex.
    """
    factor = total / float(groups.targets.sum())
    targets = groups.targets * factor
    low = np.minimum(groups.low * min(factor, 1.0), targets - heaviest)
    high = np.maximum(groups.high * max(factor, 1.0), targets + heaviest)
    return Contract(targets, np.maximum(low, 0.0), high)


def _placed(points: FloatMatrix, weights: FloatArray, targets: FloatArray, threads: int) -> Part:
    """Return blocks (m,), by k-means, of points (d, m) sorted along a space-filling curve."""
    low = points.min(axis=1, keepdims=True)
    extent = float((points.max(axis=1, keepdims=True) - low).max()) or 1.0
    boxed = np.ascontiguousarray((points - low) / np.float32(extent))
    unit = weights if np.ptp(weights) > 0 else np.empty(0)
    return along_curve(boxed, unit, targets, BALANCE, threads)[0]


def _refined(task: _Task, part: Part, groups: Contract, depth: int) -> Part:
    """Return the groups (n,) of the vertices after refining all borders between groups."""
    seed = task.seed + 31 * depth
    if task.uneven:
        part = part.copy()
        state = state_for_cut(task.level, part, groups.low, groups.high, 0.0)
        lower_cut(state, ROUNDS[task.preset].cut, np.random.default_rng(seed))
        return part
    for cycle in range(task.chosen.cycles):
        own = MultilevelTask(groups, task.chosen, seed + cycle, task.threads)
        part = v_cycle(task.level, part, own)
    return part


def _as_graph(level: GraphLevel) -> Graph:
    return Graph(
        level.xadj.astype(np.int64),
        level.adjncy.astype(np.int32),
        vwgt=level.vwgt,
        adjwgt=level.adjwgt.astype(np.int64) if level.adjwgt.size else None,
    )

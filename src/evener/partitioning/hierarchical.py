"""Divides a graph along the tree of a machine, so that few edges join distant devices.

    order -> for each level of the tree: divide every group's part, refine all borders -> volumes

The graph is divided among the groups of the first level (nodes, say), every part among the groups
inside, and so on down to the devices; the target of a group is the sum of its devices' targets.
A part is divided by balanced k-means where there are coordinates, else by the multilevel
partitioner, or by label propagation where degrees are uneven. After each level all borders are
refined, including those of the levels above. Groups may be of any number, size and depth.

[LDHT]_, section V, divides by k-means on every level and smooths all borders once, at the end: that
is geohier_blocks.
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

MAX_STEPS = 4  # levels of the tree at which the graph is divided, besides that of the devices


@dataclass(eq=False)
class _Task:
    """What all divisions share: the graph in its order, points (d, n) or None, and options.

    uneven: whether degrees are uneven, so that label propagation divides the graph.
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
    """Return the block (n,) of every vertex, block b being that of device b of the tree.

    tree (depth, k): as in `trees`; without rows, all devices are on one level. Other options as
    of multilevel_blocks. Blocks are near `contract`, mostly within it; `enforce` does the rest.
    """
    order = vertex_order(graph, threads)
    level = finest(graph, order, graph.weights(), edge_weights(graph), threads)
    points = None if graph.coords is None else unit_box(graph.coords, order, threads)
    task = _Task(level, points, is_uneven(graph), preset, seed, threads)
    part, owner = np.zeros(graph.n, np.int32), np.zeros(contract.k, np.int64)
    for depth, row in enumerate([*_steps(simplest(tree)), np.arange(contract.k)]):
        groups = _summed(contract, row)
        part = _divided(task, part, owner, row, groups, depth)
        # A group outside its limits would push all the groups inside it off their targets.
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
    """Return the block (n,) of every vertex by k-means alone: along the tree, then smoothed.

    The hierarchical k-means of [LDHT]_, section V. smooth: whether k-means runs once more on all
    blocks, from their centres, which takes the borders of groups away again. Nothing is random.
    Raises InputError without coordinates, InfeasibleError where a target or all weight is 0.
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
    """Return the weighted middle of every block of points (d, n); of all where it is empty."""
    d, k = points.shape[0], targets.size
    mass = np.bincount(part, weights, k)
    sums = np.stack([np.bincount(part, weights * x, k) for x in points], axis=1)
    middle = sums.sum(axis=0) / mass.sum()
    places = np.where(mass[:, None] > 0, sums / np.maximum(mass, 1e-300)[:, None], middle)
    return Centres(places.astype(np.float32), (targets / targets.mean()) ** (1 / d))


def _steps(tree: Tree) -> Tree:
    """Return the tree without every second level while it is too deep, as trees of halves are."""
    while len(tree) > MAX_STEPS:
        tree = tree[1::2]
    return tree


def _summed(contract: Contract, row: npt.NDArray[np.int64]) -> Contract:
    """Return the contract of groups, the sums of their members'; row (k,): each one's group."""
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
    """Divide every group of `owner` (k,) into those of `row` (k,); part (n,) holds owners."""
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
        own = _divided_one(task, part, members, rank, _of(groups, children), seed)
        divided[members] = children[own]
    return divided


def _of(groups: Contract, children: npt.NDArray[np.int64]) -> Contract:
    return Contract(groups.targets[children], groups.low[children], groups.high[children])


def _divided_one(
    task: _Task,
    part: Part,
    members: npt.NDArray[np.int64],
    rank: npt.NDArray[np.uint32],
    groups: Contract,
    seed: int,
) -> Part:
    """Return which of the groups (members,) each of these vertices goes to."""
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
    """Return targets that add up to `total`, and limits at least one vertex away from them."""
    factor = total / float(groups.targets.sum())
    targets = groups.targets * factor
    low = np.minimum(groups.low * min(factor, 1.0), targets - heaviest)
    high = np.maximum(groups.high * max(factor, 1.0), targets + heaviest)
    return Contract(targets, np.maximum(low, 0.0), high)


def _placed(points: FloatMatrix, weights: FloatArray, targets: FloatArray, threads: int) -> Part:
    """Return blocks (m,) of points (d, m), which lie in the order of a curve, by k-means."""
    low = points.min(axis=1, keepdims=True)
    extent = float((points.max(axis=1, keepdims=True) - low).max()) or 1.0
    boxed = np.ascontiguousarray((points - low) / np.float32(extent))
    unit = weights if np.ptp(weights) > 0 else np.empty(0)
    return along_curve(boxed, unit, targets, BALANCE, threads)[0]


def _refined(task: _Task, part: Part, groups: Contract, depth: int) -> Part:
    """Return the blocks (n,) after refinement of all borders between groups."""
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

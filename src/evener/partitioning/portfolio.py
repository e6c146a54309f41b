"""Evener's partitioner: one partition of a large graph, or the best of several of a small graph.

For thousands of vertices, one attempt (initial blocks, refined once) is as good as the best of
several. For dozens of vertices, single moves matter and an attempt takes very little time.
Therefore several initial partitions are made (with other seeds, without coordinates, at random, by
perturbing the best), and each is refined, repaired and scored. Sparse graphs of uneven degrees are
divided both by label propagation and by the multilevel method, whatever their size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from evener.arrays import Part
from evener.graphs.graph import Graph
from evener.partitioning.label_propagation.cycles import filled_blocks
from evener.partitioning.label_propagation.propagation import is_sparse, is_uneven
from evener.partitioning.levels.clusters import bundled
from evener.partitioning.multilevel.multilevel import (
    MultilevelBlocks,
    halved_blocks,
    multilevel_blocks,
)
from evener.partitioning.refine import RefineOptions, Scored, refined_blocks, repaired, scored
from evener.plans.partition import Contract

PERTURBED = 0.3  # fraction of the vertices that get another block
BLOCK_COST = 4  # one more block takes as much time per attempt as this many vertices
CYCLE = 8  # of this many attempts the first starts from another seed, the second from random
# blocks, the others from the best blocks so far


@dataclass(frozen=True)
class Attempts:
    """Limits on the number of attempts, and on the sum of their graphs' vertices."""

    most: int
    vertices: int


ATTEMPTS = {
    "fast": Attempts(8, 2_000),
    "default": Attempts(32, 4_000),
    "strong": Attempts(128, 16_000),
}


class Options(TypedDict):
    """Options of multilevel_blocks that all attempts share."""

    preset: str
    objective: str
    threads: int


def best_blocks(
    graph: Graph,
    contract: Contract,
    *,
    preset: str = "default",
    objective: str = "cut",
    seed: int = 7,
    threads: int = 1,
) -> MultilevelBlocks:
    """Return the block (n,) of every vertex; for small graphs, the best of several attempts.

    Options and errors are those of multilevel_blocks. The best attempt is the one with the least
    violation of the contract and, among equal ones, the least objective; if it is not the first,
    `start` of the result is None. "strong" is never worse than "default".
    """
    options = Options(preset=preset, objective=objective, threads=threads)
    found = _best_of_attempts(graph, contract, options, seed)
    if preset != "strong":
        return found
    # More work from other starts may end with a higher objective.
    less = _best_of_attempts(graph, contract, {**options, "preset": "default"}, seed)
    scores = [_order(scored(graph, one.part, contract, objective)) for one in (found, less)]
    return found if scores[0] <= scores[1] else less


def _best_of_attempts(
    graph: Graph, contract: Contract, options: Options, seed: int
) -> MultilevelBlocks:
    found = multilevel_blocks(graph, contract, seed=seed, **options)
    first, start = found.part, found.start
    if is_uneven(graph) and is_sparse(graph):
        first = _or_by_levels(graph, first, contract, options, seed)
    limits = ATTEMPTS[options["preset"]]
    attempts = min(limits.most, limits.vertices // (graph.n + BLOCK_COST * contract.k))
    if attempts < 2 or contract.k == 1:
        return MultilevelBlocks(first, start)
    unfinished = scored(graph, first, contract, options["objective"])
    best = min(unfinished, _finished(graph, first, contract, options, seed), key=_order)
    if not best.holds:  # perhaps no partition does; `enforce` reports it
        return MultilevelBlocks(best.part, start)
    for turn in range(1, attempts):
        part = _started(graph, best, contract, options, seed, turn)
        other = _finished(graph, part, contract, options, seed + turn)
        if _order(other) < _order(best):
            best, start = other, None
    return MultilevelBlocks(best.part, start)


def _order(found: Scored) -> tuple[float, float]:
    return found.violation, found.cost


def _or_by_levels(
    graph: Graph, part: Part, contract: Contract, options: Options, seed: int
) -> Part:
    """Return the best of `part`, the blocks of the multilevel method, and those of bisection."""
    objective = options["objective"]
    # Coarsening joins a hub with one leaf per level; bundling joins many leaves at once.
    small = bundled(graph, float(contract.targets.min()))
    whole = graph if small is None else small.graph
    by_levels = multilevel_blocks(whole, contract, seed=seed, by_levels=True, **options).part
    halved = halved_blocks(whole, contract, seed=seed, **options)
    if small is not None:
        by_levels, halved = small.spread(by_levels), small.spread(halved)
    found = [scored(graph, blocks, contract, objective) for blocks in (part, by_levels, halved)]
    found = [one if one.holds else repaired(one, graph, contract, objective) for one in found]
    return min(found, key=_order).part


def _started(
    graph: Graph, best: Scored, contract: Contract, options: Options, seed: int, turn: int
) -> Part:
    """Return the blocks (n,) from which attempt number `turn` starts."""
    rng = np.random.default_rng([seed, turn])
    if turn % CYCLE == 0:
        bare = turn % (2 * CYCLE) == 0 and graph.coords is not None
        among = graph.with_(coords=None) if bare else graph
        return multilevel_blocks(among, contract, seed=seed + turn, **options).part
    if turn % CYCLE == 1:
        return _filled(graph, contract, rng)
    return _perturbed(graph, best.part, contract.k, rng)


def _finished(graph: Graph, part: Part, contract: Contract, options: Options, seed: int) -> Scored:
    """Reduce the objective on the whole graph, enforce the contract, and return the score."""
    refined = refined_blocks(
        graph, part, contract, RefineOptions(**options, seed=seed, method="gentle")
    )
    found = scored(graph, refined, contract, options["objective"])
    return found if found.holds else repaired(found, graph, contract, options["objective"])


def _filled(graph: Graph, contract: Contract, rng: np.random.Generator) -> Part:
    """Return blocks (n,) filled to their targets one after another.

    Blocks and vertices are taken in random order.
    """
    order, following = rng.permutation(graph.n), rng.permutation(contract.k)
    weights = graph.weights().astype(np.float64)
    return filled_blocks(weights, contract.targets, order, following)


def _perturbed(graph: Graph, part: Part, k: int, rng: np.random.Generator) -> Part:
    """Return the blocks with random vertices changed: permuted among them, or drawn at random."""
    part = part.copy()
    some = rng.integers(0, graph.n, max(2, int(PERTURBED * graph.n)))
    part[some] = (
        part[rng.permutation(some)] if rng.random() < 0.5 else rng.integers(0, k, some.size)
    )
    return part

"""Our partitioner on small graphs: several tries, of which the best is taken.

One try places and refines blocks once, which is as good as it gets where there are thousands of
vertices. Where there are dozens, a single move decides, and a try takes next to no time: blocks are
placed in several ways (by other seeds, with and without coordinates, filled in random order),
each is refined and repaired, and all are counted. Uneven graphs of few edges are tried both by
label propagation and by levels, whatever their size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evener.arrays import Part
from evener.graphs.graph import Graph
from evener.partitioning.label_propagation import propagation_kernels as kernels
from evener.partitioning.label_propagation.propagation import is_sparse, is_uneven
from evener.partitioning.levels.clusters import bundled
from evener.partitioning.multilevel.multilevel import halved_blocks, multilevel_blocks
from evener.partitioning.refine import refined_blocks
from evener.partitioning.scored import Judged, repaired
from evener.plans.partition import Contract, Partition

SHAKEN = 0.3  # of the vertices
BLOCK = 4  # vertices that cost as much as a block


@dataclass(frozen=True)
class Patience:
    """Tries at most, and vertices that all of them together may have."""

    tries: int
    vertices: int


PATIENCE = {
    "fast": Patience(8, 2_000),
    "default": Patience(32, 4_000),
    "strong": Patience(128, 16_000),
}


def best_blocks(
    graph: Graph,
    contract: Contract,
    *,
    preset: str = "default",
    objective: str = "cut",
    seed: int = 7,
    threads: int = 1,
    starts: list[Part] | None = None,
) -> Part:
    """Return the block (n,) of every vertex, the best of several on small graphs.

    Options and errors as of multilevel_blocks; `starts` is left empty where its try is not best.
    Of partitions that are as far outside the contract, the one with the least objective.
    """
    options: dict[str, str | int] = {"preset": preset, "objective": objective, "threads": threads}
    first = multilevel_blocks(graph, contract, seed=seed, starts=starts, **options)  # type: ignore[arg-type]
    if is_uneven(graph) and is_sparse(graph):
        first = _or_by_levels(graph, first, contract, options, seed)
    patience = PATIENCE[preset]
    tries = min(patience.tries, patience.vertices // (graph.n + BLOCK * contract.k))
    if tries < 2 or contract.k == 1:
        return first
    bare = graph if graph.coords is None else graph.with_(coords=None)
    best = _finished(graph, first, contract, options, seed)
    if not best.holds:  # it may be impossible: `enforce` will say so
        return best.partition.part
    for turn in range(1, tries):
        rng = np.random.default_rng([seed, turn])
        if turn % 8 == 0:
            among = graph if turn % 16 else bare
            part = multilevel_blocks(among, contract, seed=seed + turn, **options)  # type: ignore[arg-type]
        elif turn % 8 == 1:
            part = _filled(graph, contract, rng)
        else:
            part = _shaken(graph, best.partition.part, contract.k, rng)
        found = _finished(graph, part, contract, options, seed + turn)
        if (found.off.sum(), found.cost) < (best.off.sum(), best.cost):
            best = found
            if starts is not None:
                starts.clear()
    return best.partition.part


def _or_by_levels(
    graph: Graph, part: Part, contract: Contract, options: dict[str, str | int], seed: int
) -> Part:
    """Return these blocks, those of the hierarchy, or those of bisection, whichever are best."""
    objective = str(options["objective"])
    # A graph of leaves does not shrink by levels: in bundles it does.
    small = bundled(graph, float(contract.targets.min()))
    whole = graph if small is None else small.graph
    by_levels = multilevel_blocks(whole, contract, seed=seed, by_levels=True, **options)  # type: ignore[arg-type]
    halved = halved_blocks(whole, contract, seed=seed, **options)  # type: ignore[arg-type]
    if small is not None:
        by_levels, halved = small.spread(by_levels), small.spread(halved)
    found = [
        Judged.of(graph, Partition(blocks, contract.k), contract, objective)
        for blocks in (part, by_levels, halved)
    ]
    found = [one if one.holds else repaired(one, graph, contract, objective) for one in found]
    return min(found, key=lambda one: (one.off.sum(), one.cost)).partition.part


def _finished(
    graph: Graph, part: Part, contract: Contract, options: dict[str, str | int], seed: int
) -> Judged:
    """Lower the objective on the whole graph, repair what is off, and count."""
    objective = str(options["objective"])
    refined = refined_blocks(graph, part, contract, seed=seed, manner="gentle", **options)  # type: ignore[arg-type]
    found = Judged.of(graph, Partition(refined, contract.k), contract, objective)
    return found if found.holds else repaired(found, graph, contract, objective)


def _filled(graph: Graph, contract: Contract, rng: np.random.Generator) -> Part:
    """Fill blocks to their targets, in random order, with vertices in random order."""
    order, following = rng.permutation(graph.n), rng.permutation(contract.k)
    filled, part = np.empty(graph.n, np.int32), np.empty(graph.n, np.int32)
    weights = graph.weights()[order].astype(np.float64)
    kernels.start(weights, contract.targets, following, filled, np.zeros(contract.k))
    part[order] = filled
    return part


def _shaken(graph: Graph, part: Part, k: int, rng: np.random.Generator) -> Part:
    """Put some vertices into the blocks of others."""
    part = part.copy()
    some = rng.integers(0, graph.n, max(2, int(SHAKEN * graph.n)))
    part[some] = (
        part[rng.permutation(some)] if rng.random() < 0.5 else rng.integers(0, k, some.size)
    )
    return part

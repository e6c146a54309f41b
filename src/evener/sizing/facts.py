"""LoadFacts and WorkFacts: what sizes, contracts and lower bounds depend on of a graph.

Of a graph in memory they are made here; of one that no process holds, slice by slice, in
evener.sliced.facts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evener.arrays import FloatArray, NumberArray
from evener.graphs.graph import Graph
from evener.plans.workload import Workload
from evener.platforms.platform import Platform


@dataclass(frozen=True, eq=False)
class LoadFacts:
    """What a contract depends on of n vertices with one weight each.

    load: sum of the weights; heaviest: the largest; both [units]. unit: whether all weigh 1.
    total_bytes [B]: of all vertices and adjacency entries; smallest [B]: of the vertex that needs
    least. light (l,) [units]: the lightest weights of vertices that fit into every memory,
    ascending, as many as there are devices or such vertices; heavy (h,) [units]: the heaviest
    weights, descending, as many as there are devices or vertices. Neither is needed where all
    weigh 1.
    """

    n: int
    load: float
    unit: bool
    heaviest: float
    total_bytes: float
    smallest: float
    light: FloatArray
    heavy: FloatArray


def facts_of(graph: Graph, platform: Platform, constraint: int = 0) -> LoadFacts:
    """Return what a contract on the vertex weight `constraint` depends on."""
    weights = graph.weights(constraint)
    n_bytes = graph.vertex_bytes()
    unit = graph.vwgt is None or bool((weights == 1).all())
    return LoadFacts(
        graph.n,
        float(weights.sum()),
        unit,
        float(weights.max()) if graph.n else 0.0,
        graph.total_bytes,
        float(n_bytes.min()) if graph.n else 0.0,
        np.empty(0) if unit else _light(weights, n_bytes, platform),
        np.empty(0) if unit else heaviest(weights, platform.k),
    )


def _light(weights: NumberArray, n_bytes: FloatArray, platform: Platform) -> FloatArray:
    return lightest(weights[n_bytes <= platform.memories.min()], platform.k)


def lightest(weights: NumberArray, count: int) -> FloatArray:
    """Return the `count` least of the weights, or all where there are fewer, ascending."""
    weights = np.asarray(weights, np.float64)
    ranked = min(count, weights.size)
    return np.sort(np.partition(weights, ranked - 1)[:ranked]) if ranked else np.empty(0)


def heaviest(weights: NumberArray, count: int) -> FloatArray:
    """Return the `count` largest of the weights, or all where there are fewer, descending."""
    return -lightest(-np.asarray(weights, np.float64), count)


@dataclass(frozen=True, eq=False)
class HeldWork:
    """How much work vertices are that need at most so many bytes together, at most.

    n_bytes, work (h,): corners of a line from (0, 0) on, both not decreasing.
    """

    n_bytes: FloatArray
    work: FloatArray

    def of(self, n_bytes: FloatArray) -> FloatArray:
        """Return the most work of vertices that need at most so many bytes together [units]."""
        return np.asarray(np.interp(n_bytes, self.n_bytes, self.work))


@dataclass(frozen=True, eq=False)
class WorkFacts:
    """What the lower bound depends on of a graph.

    load: all work; each: of every vertex, 0 where vertices differ; both [units]. held: None where
    no memory is in bytes.
    """

    load: float
    each: float
    held: HeldWork | None


def work_facts_of(
    graph: Graph, platform: Platform, workload: Workload, constraint: int = 0
) -> WorkFacts:
    """Return what the lower bound depends on; O(n log n) where memory is in bytes, else O(n)."""
    work = workload.work(graph) if any(workload.shares) else graph.weights(constraint)
    work = np.asarray(work, np.float64)
    load = float(work.sum())
    if load <= 0:
        return WorkFacts(load, 0.0, None)
    each = float(work[0]) if (work == work[0]).all() else 0.0
    capped = np.isfinite(platform.memories).any()
    return WorkFacts(load, each, held_work(graph.vertex_bytes(), work) if capped else None)


def held_work(n_bytes: FloatArray, work: FloatArray) -> HeldWork:
    """Return how much work fits where those with the fewest bytes per work come first.

    n_bytes, work (v,): of each vertex, or of equal vertices together.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(np.where(work > 0, n_bytes / work, np.inf), kind="stable")
    return HeldWork(
        np.concatenate([[0.0], np.cumsum(n_bytes[order])]),
        np.concatenate([[0.0], np.cumsum(work[order])]),
    )

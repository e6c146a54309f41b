"""LoadFacts and WorkFacts: the data of a graph on which sizes, contracts and bounds depend.

They are computed here from a graph in memory, and slice by slice in evener.sliced.facts from a
graph that is too large for one process.
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
    """The data of a graph of n vertices, with one weight each, on which a contract depends.

    load: sum of the weights; heaviest: the largest; both [units]. unit: whether all weights are 1.
    total_bytes [B]: memory of all vertices and adjacency entries; smallest [B]: memory of the
    vertex that needs least. light (l,) [units]: the lightest weights, ascending, of vertices that
    fit into every memory; l is the number of devices, or of such vertices if there are fewer.
    heavy (h,) [units]: the heaviest weights, descending; h is the number of devices, or of vertices
    if there are fewer. light and heavy are empty if all weights are 1.
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
    """Return the LoadFacts of a graph for the vertex weight `constraint`."""
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
    """Return the `count` smallest weights in ascending order, or all if there are fewer."""
    weights = np.asarray(weights, np.float64)
    ranked = min(count, weights.size)
    return np.sort(np.partition(weights, ranked - 1)[:ranked]) if ranked else np.empty(0)


def heaviest(weights: NumberArray, count: int) -> FloatArray:
    """Return the `count` largest weights in descending order, or all if there are fewer."""
    return -lightest(-np.asarray(weights, np.float64), count)


@dataclass(frozen=True, eq=False)
class HeldWork:
    """The most work that vertices can have if together they need at most a given memory.

    It is a piecewise linear function of the memory. n_bytes [B], work [units] (h,): its corners,
    from (0, 0), both not decreasing.
    """

    n_bytes: FloatArray
    work: FloatArray

    def of(self, n_bytes: FloatArray) -> FloatArray:
        """Return the most work [units] of vertices that together need at most `n_bytes` [B]."""
        return np.asarray(np.interp(n_bytes, self.n_bytes, self.work))


@dataclass(frozen=True, eq=False)
class WorkFacts:
    """The data of a graph on which the lower bound depends.

    load: the work of all vertices; each: the work of every vertex, 0 if vertices differ; both
    [units]. held: the work that fits into a memory; None if no device has a memory in bytes.
    """

    load: float
    each: float
    held: HeldWork | None


def work_facts_of(
    graph: Graph, platform: Platform, workload: Workload, constraint: int = 0
) -> WorkFacts:
    """Return the WorkFacts of a graph; O(n log n) if memory is in bytes, else O(n)."""
    work = workload.work(graph) if any(workload.shares) else graph.weights(constraint)
    work = np.asarray(work, np.float64)
    load = float(work.sum())
    if load <= 0:
        return WorkFacts(load, 0.0, None)
    each = float(work[0]) if (work == work[0]).all() else 0.0
    capped = np.isfinite(platform.memories).any()
    return WorkFacts(load, each, held_work(graph.vertex_bytes(), work) if capped else None)


def held_work(n_bytes: FloatArray, work: FloatArray) -> HeldWork:
    """Return the HeldWork of vertices, taking those with the fewest bytes per work first.

    n_bytes [B], work [units] (v,): totals of each vertex, or of each group of equal vertices.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(np.where(work > 0, n_bytes / work, np.inf), kind="stable")
    return HeldWork(
        np.concatenate([[0.0], np.cumsum(n_bytes[order])]),
        np.concatenate([[0.0], np.cumsum(work[order])]),
    )

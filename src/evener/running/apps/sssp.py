"""Shortest paths from a source as a vertex program, for weights that are not negative."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.running.apps.matrices import matrix_of
from evener.running.engine.program import VertexProgram


def init(vertex: int, source: int, infinity: float) -> float:
    """Return distance 0 for the source."""
    return 0 if vertex == source else infinity


def along(payload: float, weight: float) -> float:
    """Return the distance over an arc."""
    return payload + weight


def priority(value: float, delta: float) -> float:
    """Return the bucket of a distance; buckets are delta wide."""
    return value // delta


PROGRAM = VertexProgram(
    init=init,
    along=along,
    priority=priority,
    combine="min",
    dtype="int32",
    parameters={"source": 0, "delta": 8},
    name="sssp",
)


def program_for(graph: Graph | DirectedGraph) -> VertexProgram:
    """Return the program with a type of values that can store the graph's longest possible path."""
    weights = graph.arcs_out().adjwgt
    if weights is not None and weights.dtype.kind == "f":
        return replace(PROGRAM, dtype="float64", parameters={"source": 0, "delta": 1.0})
    if weights is None or weights.size == 0:
        return PROGRAM
    longest = int(weights.max()) * graph.n
    return PROGRAM if longest < np.iinfo(np.int32).max else replace(PROGRAM, dtype="int64")


def verify(
    graph: Graph | DirectedGraph,
    values: npt.NDArray[np.generic],
    source: int = 0,
    tolerance: float = 1e-9,
) -> bool:
    """Return whether SciPy finds the same distances, up to `tolerance` x the largest.

    values (n,): by vertex number, as the run returns them.
    """
    from scipy.sparse.csgraph import dijkstra

    expected = dijkstra(matrix_of(graph, weighted=True), indices=source)
    given = np.asarray(values)
    far = np.inf if given.dtype.kind == "f" else np.iinfo(given.dtype).max
    found = np.where(given == far, np.inf, given.astype(float))
    reached = np.isfinite(expected)
    largest = expected[reached].max()
    return bool(
        np.array_equal(np.isfinite(found), reached)
        and (np.abs(found[reached] - expected[reached]) <= tolerance * largest).all()
    )

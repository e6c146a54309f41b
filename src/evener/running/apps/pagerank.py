"""PageRank as a vertex program: how often a random walk along arcs visits each vertex."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.running.apps.matrices import matrix_of
from evener.running.engine.program import VertexProgram


def init(n: int) -> float:
    """Return the same rank for each vertex."""
    return 1.0 / n


def emit(value: float, degree: int) -> float | np.float32:
    """Return an equal part of the rank for each arc; the rank of vertices without arcs is lost.

    Dividing float32 numbers gives the float64 quotient rounded to float32, in less time.
    """
    return value / np.float32(degree) if degree > 0 else np.float32(0.0)


def apply(combined: float, n: int, damping: float) -> float:
    """Return the rank: walks that continue, and walks that restart at random vertices."""
    return (1.0 - damping) / n + damping * combined


def halt(change: float, tolerance: float) -> bool:
    """Return whether the ranks change so little that the run ends."""
    return change < tolerance


PROGRAM = VertexProgram(
    init=init,
    emit=emit,
    apply=apply,
    halt=halt,
    combine="sum",
    dtype="float32",
    parameters={"damping": 0.85, "tolerance": 0.0},
    name="pagerank",
)


def verify(
    graph: Graph | DirectedGraph,
    values: npt.ArrayLike,
    supersteps: int,
    damping: float = 0.85,
    tolerance: float = 1e-4,
) -> bool:
    """Return whether SciPy gets the same ranks after this number of supersteps.

    The sum of all differences may be up to `tolerance`. values (n,): by vertex number.
    """
    pattern = matrix_of(graph, weighted=False).T
    n = pattern.shape[0]
    degrees = np.diff(graph.arcs_out().xadj)
    parts = np.divide(1.0, degrees, out=np.zeros(n), where=degrees > 0)
    ranks = np.full(n, 1.0 / max(n, 1))
    for _ in range(supersteps):
        ranks = (1.0 - damping) / n + damping * (pattern @ (ranks * parts))
    return bool(np.abs(np.asarray(values) - ranks).sum() <= tolerance)

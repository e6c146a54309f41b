"""Weakly connected components as a vertex program: the smallest vertex of each component."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.running.apps.matrices import matrix_of
from evener.running.engine.program import VertexProgram

PROGRAM = VertexProgram(union=True, combine="min", dtype="uint32", direction="both", name="wcc")


def verify(graph: Graph | DirectedGraph, values: npt.ArrayLike) -> bool:
    """Return whether SciPy finds the same components, with their smallest vertices as values.

    values (n,): by vertex number.
    """
    from scipy.sparse.csgraph import connected_components

    pattern = matrix_of(graph, weighted=False, dtype=np.int8)
    n = pattern.shape[0]
    count, component = connected_components(pattern, directed=True, connection="weak")
    smallest = np.full(count, n)
    np.minimum.at(smallest, component, np.arange(n))
    return bool(np.array_equal(np.asarray(values), smallest[component]))

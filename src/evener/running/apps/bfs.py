"""Breadth-first search as a vertex program: the number of arcs from a source to each vertex."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evener.arrays import IntArray
from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.running.engine.program import VertexProgram

UNREACHED = -1


def init(vertex: int, source: int, infinity: int) -> int:
    """Return level 0 for the source."""
    return 0 if vertex == source else infinity


def along(payload: int) -> int:
    """Return the level of the vertex at the other end of an arc."""
    return payload + 1


def settled(value: int, infinity: int) -> bool:
    """Return whether a vertex has been reached: levels are found in ascending order."""
    return value < infinity


PROGRAM = VertexProgram(
    init=init,
    along=along,
    settled=settled,
    first=True,
    combine="min",
    dtype="int32",
    parameters={"source": 0},
    name="bfs",
)


def levels(values: npt.NDArray[np.generic]) -> IntArray:
    """Return the values of a run as levels.

    UNREACHED if no path leads from the source to a vertex.
    """
    found = np.asarray(values).astype(np.int64)
    found[found == np.iinfo(np.int32).max] = UNREACHED
    return found


def verify(graph: Graph | DirectedGraph, values: npt.NDArray[np.generic], source: int = 0) -> bool:
    """Return whether levels satisfy the rules of Graph500.

    Only the source has level 0. No arc leads from a reached vertex to an unreached one, or to one
    that is more than a level further. Every other reached vertex has an arc from a vertex of the
    previous level. values (n,): by vertex number, as the run returns them.
    """
    found = levels(values)
    arcs = graph.arcs_out()
    tails = np.repeat(found, np.diff(arcs.xadj))
    heads = found[arcs.adjncy]
    leaving = tails >= 0
    has_parent = np.zeros(found.size, bool)
    has_parent[arcs.adjncy[leaving & (heads == tails + 1)]] = True
    return bool(
        found[source] == 0
        and (has_parent == (found > 0)).all()
        and np.count_nonzero(found == 0) == 1
        and (heads[leaving] >= 0).all()
        and (heads[leaving] <= tails[leaving] + 1).all()
        and (found >= UNREACHED).all()
    )

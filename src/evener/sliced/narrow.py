"""Whole numbers in the least bytes that hold them, as ranks tell them to each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from evener.graphs.graph import Graph
from evener.running.comm import Comm

MOST = 2**31  # what is as large, or larger, stays as it is


def narrow(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the same numbers in the narrowest type of unsigned integers that holds all of them.

    The array itself where some are negative, no whole numbers, or MOST and above.
    """
    if values.size == 0 or not (values.min() >= 0 and values.max() < MOST):
        return values
    kind = np.min_scalar_type(int(values.max()))
    if kind.itemsize >= values.itemsize:
        return values
    narrowed = values.astype(kind)
    return narrowed if bool((narrowed == values).all()) else values


def told_graph(comm: Comm, graph: Graph | None) -> Graph:
    """Return the graph that process 0 has, at others without its coordinates. All call."""
    told = comm.bcast(None if graph is None or comm.size == 1 else _parts(graph))
    if graph is not None:
        return graph
    assert told is not None
    degrees, adjncy, vwgt, adjwgt, types = told
    xadj = np.zeros(degrees.size + 1, np.int64)
    np.cumsum(degrees, out=xadj[1:])
    return Graph.trusted(xadj, adjncy, vwgt.astype(types[0]), adjwgt.astype(types[1]))


def _parts(graph: Graph) -> tuple[Any, ...]:
    vwgt, adjwgt = graph.weights(), graph.edge_weights()
    types = vwgt.dtype.str, adjwgt.dtype.str
    return narrow(graph.degrees), graph.adjncy, narrow(vwgt), narrow(adjwgt), types

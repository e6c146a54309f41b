"""A graph in slices, brought to process 0, where one process can hold it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.graphs.graph import Graph
from evener.graphs.lists import BYTES_PER_EDGE, BYTES_PER_VERTEX
from evener.sliced.gathering import gathered
from evener.sliced.rows import SlicedGraph, SliceRows


def collected(
    graph: SlicedGraph,
    bytes_per_vertex: float = BYTES_PER_VERTEX,
    bytes_per_edge: float = BYTES_PER_EDGE,
) -> Graph | None:
    """Return, at process 0, the graph of all slices, without coordinates; None at others.

    Weights that are whole numbers become integers. All processes call.
    """
    number = np.empty(graph.n_local, np.int32)
    begin = int(graph.ends[graph.own_slices.start])
    number[: graph.n_own] = np.arange(begin, begin + graph.n_own, dtype=np.int32)
    graph.fill(number)
    degrees = _of_all(graph, lambda rows: np.diff(rows.xadj).astype(np.int32))
    adjncy = _of_all(graph, lambda rows: number[rows.adjncy])
    vwgt = _of_all(graph, lambda rows: rows.vwgt)
    adjwgt = _of_all(graph, lambda rows: rows.adjwgt)
    if graph.comm.rank > 0:
        return None
    xadj = np.zeros(graph.n + 1, np.int64)
    np.cumsum(degrees, out=xadj[1:])
    return Graph(
        xadj, adjncy, _whole(vwgt), _whole(adjwgt), bytes_per_vertex=bytes_per_vertex,
        bytes_per_edge=bytes_per_edge,
    )  # fmt: skip


def _of_all(graph: SlicedGraph, take: Callable[[SliceRows], npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Return, at process 0, what is taken of the rows of all slices, one after the other."""
    # Rows of a file are written over by those read next.
    own = np.concatenate([take(graph.rows(i)).copy() for i in graph.own_slices])
    return gathered(graph.comm, own)


def _whole(weights: npt.NDArray[np.float64]) -> npt.NDArray[Any] | None:
    if weights.size == 0:
        return None
    return weights.astype(np.int64) if (weights == np.rint(weights)).all() else weights

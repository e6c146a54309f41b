"""CSRGraph: a graph in the form for kernels, and functions of its vertices and edges."""
# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.jit import inner


class CSRGraph(NamedTuple):
    """A graph in compressed sparse rows: the arrays of an evener.Graph, already checked.

    The edges of v are the entries xadj[v] to xadj[v + 1] - 1 of adjncy (e,); each edge occurs at
    both ends. adjwgt (e,): edge weights, or (0,) if all are 1. vwgt (n,): vertex weights.
    """

    xadj: np.ndarray
    adjncy: np.ndarray
    adjwgt: np.ndarray
    vwgt: np.ndarray


@inner(forceinline=True, error_model="numpy")
def degree_of(graph, v):
    """Return the number of edges of vertex v."""
    return np.int64(graph.xadj[v + 1]) - np.int64(graph.xadj[v])


@inner(forceinline=True, error_model="numpy")
def edge_weight(graph, e):
    """Return the weight of adjacency entry e."""
    return np.int64(1) if graph.adjwgt.size == 0 else np.int64(graph.adjwgt[e])


@inner(forceinline=True, error_model="numpy")
def edge_weight_of(graph, v):
    """Return the total weight of the edges of vertex v."""
    if graph.adjwgt.size == 0:
        return degree_of(graph, v)
    return np.int64(graph.adjwgt[graph.xadj[v] : graph.xadj[v + 1]].sum())


@inner(forceinline=True)
def stays(fixed, v):
    """Return whether v is a fixed vertex; fixed: (n,) bool, or (0,) if there are none."""
    return fixed.size > 0 and fixed[v]

"""How many edges stay inside slices: few where vertices are numbered at random."""

from __future__ import annotations

from evener.sliced import clusters_kernels as kernels
from evener.sliced.rows import SlicedGraph


def locality(graph: SlicedGraph) -> float:
    """Return the share of the graph's arcs whose two ends are in one slice; 1 without arcs.

    All processes call. Reads every slice once.
    """
    inside = sum(int(kernels.arcs_inside(graph.rows(i))) for i in graph.own_slices)
    return sum(graph.comm.allgather(inside)) / graph.arcs if graph.arcs else 1.0

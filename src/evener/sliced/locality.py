"""How many edges stay inside slices: few where vertices are numbered at random."""

from __future__ import annotations

from evener.sliced import distributed_kernels as kernels
from evener.sliced.rows import SlicedGraph


def locality(graph: SlicedGraph) -> float:
    """Return the share of the graph's arcs whose two ends are in one slice; 1 without arcs.

    All processes call. Reads every slice once.
    """
    inside = 0
    for i in graph.own_slices:
        rows = graph.rows(i)
        last = rows.first + rows.xadj.size - 1
        inside += int(kernels.count_inside(rows.adjncy, rows.first, last))
    return sum(graph.comm.allgather(inside)) / graph.arcs if graph.arcs else 1.0

"""Unusual properties of a graph that matter when it is divided, for `info` and `plan`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evener.wording import plural

if TYPE_CHECKING:
    from evener.arrays import FloatArray, NumberArray
    from evener.graphs.directed import DirectedGraph
    from evener.graphs.graph import Graph
    from evener.io import Reading


def notes_on(reading: Reading) -> list[str]:
    """Return sentences on the oddities of a mesh, or on coordinates of a graph."""
    graph = reading.undirected
    if reading.mesh is None:
        odd = [] if graph.coords is None else _odd_places(graph.coords)
    else:
        odd = oddities(graph, graph.components()[0])
    return [f"{one[0].upper()}{one[1:]}." for one in odd]


def oddities(graph: Graph | DirectedGraph, n_components: int) -> list[str]:
    """Return oddities as sentences. n_components: count for the graph without directions."""
    odd = []
    alone = graph.isolated.size
    if alone:
        odd.append(f"{plural(alone, 'vertex has', 'vertices have')} no neighbour")
    if n_components - alone > 1:
        odd.append(f"the graph has {n_components:,} components")
    odd += _hub(graph.degrees, "neighbours" if graph.symmetric else "outgoing arcs")
    if not graph.symmetric:
        import numpy as np

        odd += _hub(np.diff(graph.arcs_in().xadj), "incoming arcs")
    for i in range(graph.n_constraints if graph.vwgt is not None else 0):
        odd += _odd_weight(graph.weights(i), f" {i}" if graph.n_constraints > 1 else "")
    return odd if graph.coords is None else odd + _odd_places(graph.coords)


def _hub(degrees: NumberArray, what: str) -> list[str]:
    most, mean = (int(degrees.max()), float(degrees.mean())) if degrees.size else (0, 0.0)
    if most <= 100 or most <= 20 * mean:
        return []
    return [f"one vertex has {most:,} {what}, the mean is {mean:.1f}"]


def _odd_weight(weights: NumberArray, number: str) -> list[str]:
    total, largest = float(weights.sum()), float(weights.max())
    which = f"vertex weight{number}" if number else "the vertex weight"
    if total == 0:
        return [f"{which} is zero everywhere"]
    if largest > 0.01 * total and weights.size > 1000:
        return [f"{which} of a single vertex is {100 * largest / total:.1f} % of the total"]
    return []


def _odd_places(coords: FloatArray) -> list[str]:
    import numpy as np

    # Equal points have equal sums: points are sorted only if some sums are equal.
    sums = sum(np.sqrt(2.0 + axis) * column for axis, column in enumerate(coords.T))
    sums = np.sort(sums)
    twice = 0
    if (sums[1:] == sums[:-1]).any():
        ordered = coords[np.lexsort(coords.T)]
        twice = int(np.count_nonzero((ordered[1:] == ordered[:-1]).all(axis=1)))
    flat = np.flatnonzero(np.ptp(coords, axis=0) == 0).tolist()
    odd = (
        [f"{plural(twice, 'vertex has', 'vertices have')} the coordinates of another vertex"]
        if twice
        else []
    )
    return odd + [f"all vertices have the same {'xyz'[axis]}" for axis in flat]

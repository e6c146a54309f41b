"""How uneven degrees are: where a few vertices have most of the edges, other ways are better."""

from __future__ import annotations

from evener.graphs import Graph

# Above this, METIS k-way may break its balance. The skewness is 0.3 on meshes and up to 3.6 on
# social and citation networks, where k-way holds 3 % and mostly cuts less than bisection; it is 4.9
# on R-MAT graphs, where k-way ends at 5 to 15 %.
SKEWED = 4.0

# Above this, and without coordinates, our own label propagation cuts less than our multilevel FM,
# in a fourth of the time: meshes are at 0.3, a stiff finite-element matrix at 0.6, social networks
# and circuits from 0.8 on.
UNEVEN = 0.5


def skewness(graph: Graph) -> float:
    """Return the degrees' deviation over their mean; a mean below 1 counts as 1."""
    degrees = graph.degrees
    return float(degrees.std() / max(degrees.mean(), 1.0)) if degrees.size else 0.0


def is_uneven(graph: Graph) -> bool:
    """Return whether the graph is to be divided by label propagation."""
    return graph.coords is None and skewness(graph) > UNEVEN


def is_skewed(graph: Graph) -> bool:
    """Return whether a few vertices have most of the edges."""
    return skewness(graph) > SKEWED

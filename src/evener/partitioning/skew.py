"""How uneven degrees are: where a few vertices have most of the edges, other ways are better."""

from __future__ import annotations

from evener.graphs import Graph

# Above this, and without coordinates, our own label propagation cuts less than our multilevel FM,
# in a fourth of the time: meshes are at 0.3, a stiff finite-element matrix at 0.6, social networks
# and circuits from 0.8 on.
UNEVEN = 0.5

# Below this mean degree labels spread badly: what is nearly a forest is divided with shorter
# borders now by the one, now by the other.
FEW_NEIGHBOURS = 3.0


def skewness(graph: Graph) -> float:
    """Return the degrees' deviation over their mean; a mean below 1 counts as 1."""
    degrees = graph.degrees
    return float(degrees.std() / max(degrees.mean(), 1.0)) if degrees.size else 0.0


def is_uneven(graph: Graph) -> bool:
    """Return whether the graph is to be divided by label propagation."""
    return graph.coords is None and skewness(graph) > UNEVEN


def is_sparse(graph: Graph) -> bool:
    """Return whether most vertices have so few neighbours that they tell little."""
    return bool(graph.degrees.mean() < FEW_NEIGHBOURS) if graph.n else False

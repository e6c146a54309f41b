"""Random graphs, and blocks of their edges, to run on."""

import numpy as np

from evener.graphs.edge_list import EdgeList
from evener.graphs.graph import Graph
from evener.plans.edge_partition import EdgePartition
from evener.running.edge_shares import DividedEdges
from tests.running.engine.parts import random_graph


def edges_of(graph, of):
    """Return the edges of a graph that an edge plan of this kind divides."""
    return EdgeList.of_arcs(graph) if of == "arcs" else EdgeList.of_graph(graph.undirected())


def divided(graph, k, of="graph", seed=0, used=None):
    """Return random blocks for k devices, of which only the first `used` get edges."""
    draw = np.random.default_rng(seed)
    part = draw.integers(0, used or k, edges_of(graph, of).m)
    return DividedEdges(EdgePartition.of(part, k), of)


def drawn(seed, most=250, weights=30):
    """Return a random graph, with isolated vertices and often in pieces; odd seeds: directed."""
    draw = np.random.default_rng(seed)
    n = int(draw.integers(1, most))
    arcs = int(draw.integers(0, 5 * n))
    return random_graph(n, arcs, seed, directed=bool(seed % 2), weights=weights)


def star(leaves):
    """Return a vertex 0 with so many neighbours."""
    return Graph.from_edges(leaves + 1, np.zeros(leaves, np.int64), np.arange(1, leaves + 1))

"""The five graphs of every benchmark of partitioners, by name.

Vertices are in random order, as in many files: a partitioner that gains from a better order has to
find one, and its time counts.
"""

import numpy as np

from evener.errors import UsageError
from evener.graphs.generating.delaunay import (
    delaunay_graph,
    dual_graph,
    graded_points,
    triangulate,
)
from evener.graphs.generating.random_graphs import rgg_of


def permuted_dual(n, rng):
    """Return the dual graph of a Delaunay triangulation of n random points."""
    made = triangulate(rng.random((n, 2)))
    return dual_graph(made, rng.permutation(len(made.simplices)))


FAMILIES = {
    "delaunay18": lambda rng: delaunay_graph(rng.random((1 << 18, 2))),
    "delaunay20": lambda rng: delaunay_graph(rng.random((1 << 20, 2))),
    "graded19": lambda rng: delaunay_graph(graded_points(1 << 19, rng)),
    "rgg3d18": lambda rng: rgg_of(rng.random((1 << 18, 3)), 12.0),
    "dual1m": lambda rng: permuted_dual(500_000, rng),
}


def speeds(k, kind, fast):
    """(k,) speeds of Geographer's TOPO1 (t1): the first `fast` devices have 16, the others 1; or of
    TOPO2 (t2): half of the others, rounded down, have 2.
    """
    speed, fast = np.ones(k), int(fast)
    speed[:fast] = 16.0
    if kind == "t2":
        speed[fast : fast + (k - fast) // 2] = 2.0
    return speed


def benchmark_family(name, seed):
    """Return the graph of this name; UsageError for another name."""
    if name not in FAMILIES:
        raise UsageError(f"there is no benchmark family {name!r}", hint=f"{', '.join(FAMILIES)}.")
    return FAMILIES[name](np.random.default_rng(seed))

"""Every family of meshes and graphs by name, and the five that the benchmarks are made on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from evener.errors import UsageError
from evener.graphs.generating.airfoil import airfoil
from evener.graphs.generating.delaunay import (
    delaunay,
    delaunay_graph,
    dual_graph,
    graded_delaunay,
    graded_points,
    refined_delaunay,
    tetrahedron_dual,
    tetrahedron_mesh,
    triangle_dual,
    triangle_mesh,
    triangulate,
)
from evener.graphs.generating.grid import grid
from evener.graphs.generating.random_graphs import barabasi_albert, rgg, rgg_of, rmat
from evener.graphs.graph import Graph

N_POINTS = "number of points"
N_VERTICES = "number of vertices"


@dataclass(frozen=True)
class Family:
    """A generator: `make` takes what `parameters` names (and says), and a seed if `seeded`."""

    make: Callable[..., Any]
    returns: Literal["graph", "mesh", "speeds"]
    purpose: str
    parameters: dict[str, str]
    seeded: bool = True


GENERATORS = {
    "delaunay": Family(delaunay, "graph", "Delaunay graph of uniform points", {"n": N_POINTS}),
    "graded-delaunay": Family(
        graded_delaunay, "graph", "Delaunay graph dense at a point and a curve", {"n": N_POINTS}
    ),
    "refined-delaunay": Family(
        refined_delaunay,
        "graph",
        "Delaunay graph dense along a moving front",
        {"n": N_POINTS, "time": "where the front is, 0 to 1 (default 0.5)"},
    ),
    "rgg": Family(
        rgg,
        "graph",
        "random geometric graph",
        {
            "n": N_VERTICES,
            "dim": "dimensions, 2 or 3 (default 2)",
            "degree": "average number of neighbours (default 12)",
        },
    ),
    "triangle-dual": Family(
        triangle_dual, "graph", "cells of a triangle mesh, about 2n", {"n": N_POINTS}
    ),
    "tetrahedron-dual": Family(
        tetrahedron_dual, "graph", "cells of a tetrahedron mesh, about 6.5n", {"n": N_POINTS}
    ),
    "triangles": Family(triangle_mesh, "mesh", "mesh of Delaunay triangles", {"n": N_POINTS}),
    "tetrahedra": Family(tetrahedron_mesh, "mesh", "mesh of Delaunay tetrahedra", {"n": N_POINTS}),
    "grid": Family(
        grid, "graph", "regular grid", {"shape": "vertices each way, 100x200 or 20x20x20"}, False
    ),
    "rmat": Family(
        rmat,
        "graph",
        "R-MAT power law with Graph500's shares",
        {
            "scale": "2^SCALE vertices",
            "edge_factor": "edges drawn for each vertex (default 16)",
            "a": "share of the first quadrant (default 0.57)",
            "b": "share of the second (default 0.19)",
            "c": "share of the third (default 0.19)",
        },
    ),
    "barabasi-albert": Family(
        barabasi_albert,
        "graph",
        "power law by preferential attachment",
        {"n": N_VERTICES, "degree": "neighbours a new vertex gets (default 8)"},
    ),
    "airfoil": Family(
        airfoil,
        "mesh",
        "graded triangles around an airfoil",
        {
            "n_triangles": "about how many triangles (default 200000)",
            "camber": "of the mean line, in chords (default 0.02)",
            "camber_at": "where it is largest, in chords (default 0.4)",
            "thickness": "largest, in chords (default 0.12)",
        },
    ),
}


def _permuted_dual(n: int, rng: np.random.Generator) -> Graph:
    made = triangulate(rng.random((n, 2)))
    return dual_graph(made, rng.permutation(len(made.simplices)))


# The instances of every partitioner benchmark. Vertices are in random order, as many files have
# them: whoever gains from a better order has to find it, and pays for it.
BENCHMARK_FAMILIES: dict[str, Callable[[np.random.Generator], Graph]] = {
    "delaunay18": lambda rng: delaunay_graph(rng.random((1 << 18, 2))),
    "delaunay20": lambda rng: delaunay_graph(rng.random((1 << 20, 2))),
    "graded19": lambda rng: delaunay_graph(graded_points(1 << 19, rng)),
    "rgg3d18": lambda rng: rgg_of(rng.random((1 << 18, 3)), 12.0),
    "dual1m": lambda rng: _permuted_dual(500_000, rng),
}


def benchmark_family(name: str, seed: int) -> Graph:
    """Return one of the five instances of the benchmarks; UsageError for another name."""
    if name not in BENCHMARK_FAMILIES:
        known = ", ".join(BENCHMARK_FAMILIES)
        raise UsageError(f"there is no benchmark family {name!r}", hint=f"Families: {known}.")
    return BENCHMARK_FAMILIES[name](np.random.default_rng(seed))

"""Every family of meshes and graphs that `evener generate` makes, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from evener.graphs.generating.airfoil import airfoil
from evener.graphs.generating.delaunay import (
    delaunay,
    graded_delaunay,
    refined_delaunay,
    tetrahedron_dual,
    tetrahedron_mesh,
    triangle_dual,
    triangle_mesh,
)
from evener.graphs.generating.grid import grid
from evener.graphs.generating.random_graphs import barabasi_albert, rgg, rmat, uniform

N_POINTS = "number of points"
N_VERTICES = "number of vertices"
N_SCALE = "2^SCALE vertices"
N_DRAWN = "edges drawn for each vertex (default 16)"
IS_DIRECTED = "edges drawn are arcs"


@dataclass(frozen=True)
class Family:
    """A generator: `make` takes what `parameters` names (and says), and a seed if `seeded`."""

    make: Callable[..., Any]
    returns: Literal["graph", "mesh", "speeds", "stream graph", "machine"]
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
            "scale": N_SCALE,
            "edge_factor": N_DRAWN,
            "a": "share of the first quadrant (default 0.57)",
            "b": "share of the second (default 0.19)",
            "c": "share of the third (default 0.19)",
            "directed": IS_DIRECTED,
        },
    ),
    "uniform": Family(
        uniform,
        "graph",
        "edges between random vertices",
        {"scale": N_SCALE, "edge_factor": N_DRAWN, "directed": IS_DIRECTED},
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

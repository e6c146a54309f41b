"""Every family of meshes and graphs that `evener generate` makes, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from evener.graphs.generating.adaptive import bubbles_dual, trace_dual
from evener.graphs.generating.airfoil import airfoil
from evener.graphs.generating.airways import airways
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
IN_2_OR_3 = "dimensions, 2 or 3 (default 2)"
N_VERTICES = "number of vertices"
N_SCALE = "2^SCALE vertices"
N_DRAWN = "edges drawn for each vertex (default 16)"
IS_DIRECTED = "treat drawn edges as arcs"


@dataclass(frozen=True)
class Family:
    """A generator: `make` takes the keys of `parameters`, and a seed if `seeded`.

    parameters: name -> meaning.
    """

    make: Callable[..., Any]
    returns: Literal["graph", "mesh", "speeds", "stream graph", "machine"]
    purpose: str
    parameters: dict[str, str]
    seeded: bool = True


GENERATORS = {
    "delaunay": Family(
        delaunay, "graph", "Delaunay graph of uniform points", {"n": N_POINTS, "dim": IN_2_OR_3}
    ),
    "graded-delaunay": Family(
        graded_delaunay, "graph", "Delaunay graph dense at a point and a curve", {"n": N_POINTS}
    ),
    "refined-delaunay": Family(
        refined_delaunay,
        "graph",
        "Delaunay graph dense along a moving front",
        {"n": N_POINTS, "time": "position of the front, 0 to 1 (default 0.5)"},
    ),
    "rgg": Family(
        rgg,
        "graph",
        "random geometric graph",
        {
            "n": N_VERTICES,
            "dim": IN_2_OR_3,
            "degree": "average number of neighbours (default 12; those of the LDHT paper have 6)",
        },
    ),
    "trace-dual": Family(
        trace_dual,
        "graph",
        "about 2n triangles refined along a trace, like hugetrace",
        {"n": N_POINTS},
    ),
    "bubbles-dual": Family(
        bubbles_dual,
        "graph",
        "about 2n triangles refined along rims of bubbles, like hugebubbles",
        {"n": N_POINTS},
    ),
    "airways": Family(
        airways, "graph", "about n points of prisms in forking tubes, like Alya's", {"n": N_POINTS}
    ),
    "triangle-dual": Family(
        triangle_dual, "graph", "about 2n cells of a triangle mesh", {"n": N_POINTS}
    ),
    "tetrahedron-dual": Family(
        tetrahedron_dual, "graph", "about 6.5n cells of a tetrahedron mesh", {"n": N_POINTS}
    ),
    "triangles": Family(triangle_mesh, "mesh", "mesh of Delaunay triangles", {"n": N_POINTS}),
    "tetrahedra": Family(tetrahedron_mesh, "mesh", "mesh of Delaunay tetrahedra", {"n": N_POINTS}),
    "grid": Family(
        grid,
        "graph",
        "regular grid",
        {
            "shape": "vertices along each axis, such as 100x200 or 20x20x20",
            "triangulated": "add a diagonal to each square (2-D only)",
        },
        False,
    ),
    "rmat": Family(
        rmat,
        "graph",
        "R-MAT power law with Graph500's shares",
        {
            "scale": N_SCALE,
            "edge_factor": N_DRAWN,
            "a": "share of the first quadrant (default 0.57)",
            "b": "share of the second quadrant (default 0.19)",
            "c": "share of the third quadrant (default 0.19)",
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
        {"n": N_VERTICES, "degree": "number of neighbours that a new vertex gets (default 8)"},
    ),
    "airfoil": Family(
        airfoil,
        "mesh",
        "graded triangles around an airfoil",
        {
            "n_triangles": "approximate number of triangles (default 200000)",
            "camber": "maximum height of the mean line, in chords (default 0.02)",
            "camber_at": "position of that maximum, in chords (default 0.4)",
            "thickness": "maximum thickness, in chords (default 0.12)",
        },
    ),
}

"""The applications by name, with the results that users get and functions that verify these."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.errors import one_of
from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.running.apps import bfs, kcore, laplacian, pagerank, spmv, sssp, triangles, wcc
from evener.running.engine.program import Solver, VertexProgram

Values = npt.NDArray[Any]
Verify = Callable[[Graph | DirectedGraph, Values, int, Mapping[str, float]], bool]


@dataclass(frozen=True)
class App:
    """A built-in application: a short description of what it computes, and its program.

    iterations: default number of supersteps; None: until the program ends by itself. result:
    converts a run's values to the values that are written. program_for: makes the program for a
    graph, if the program depends on it: for example, the weights may determine the type of values.
    summary: returns numbers that summarise a run's values, by name; None if there are none.
    verify(graph, values, supersteps, parameters): returns whether values are right, by another
    algorithm.
    """

    purpose: str
    program: VertexProgram | Solver
    verify: Verify
    iterations: int | None = None
    result: Callable[[Values], Values] = np.asarray
    program_for: Callable[[Graph | DirectedGraph], VertexProgram] | None = None
    summary: Callable[[Values], dict[str, int]] | None = None


# Supersteps of PageRank, the only condition for its end in [Guo16]_ (section IV-A).
PAGERANK_ITERATIONS = 10
PRODUCTS = 10  # as of PageRank, of which each iteration is a product
SOLVER_ITERATIONS = 1000  # at most, where the tolerance is not reached before

APPS = {
    "pagerank": App(
        "rank of each vertex",
        pagerank.PROGRAM,
        lambda graph, values, steps, given: pagerank.verify(graph, values, steps, given["damping"]),
        iterations=PAGERANK_ITERATIONS,
    ),
    "bfs": App(
        "number of arcs from a source to each vertex, -1 if unreachable",
        bfs.PROGRAM,
        lambda graph, values, _, given: bfs.verify(graph, values, int(given["source"])),
        result=bfs.levels,
    ),
    "wcc": App(
        "smallest vertex of each vertex's connected component",
        wcc.PROGRAM,
        lambda graph, values, _, __: wcc.verify(graph, values),
    ),
    "sssp": App(
        "length of the shortest weighted path from a source",
        sssp.PROGRAM,
        lambda graph, values, _, given: sssp.verify(graph, values, int(given["source"])),
        program_for=sssp.program_for,
    ),
    "kcore": App(
        "core number of each vertex",
        kcore.KCORE,
        lambda graph, values, _, __: kcore.verify(graph, values),
        summary=lambda values: {"largest core number": int(values.max(initial=0))},
    ),
    "triangles": App(
        "number of triangles at each vertex",
        triangles.TRIANGLES,
        lambda graph, values, _, __: triangles.verify(graph, values),
        summary=lambda values: {"triangles": triangles.total(values)},
    ),
    "spmv": App(
        "repeated products x <- A x; A: weights of arcs, each row divided by its sum",
        spmv.SPMV,
        lambda graph, values, count, given: spmv.verify_products(
            graph, values, count, int(given["averaging"])
        ),
        iterations=PRODUCTS,
    ),
    "cg": App(
        "solution of (L + shift I) x = b by conjugate gradients; L: the graph's Laplacian",
        laplacian.CG,
        lambda graph, values, _, given: laplacian.verify(graph, values, given["shift"]),
        iterations=SOLVER_ITERATIONS,
    ),
    "jacobi": App(
        "solution of (L + shift I) x = b by Jacobi's method",
        laplacian.JACOBI,
        lambda graph, values, sweeps, given: laplacian.verify_sweeps(
            graph, values, sweeps, given["shift"]
        ),
        iterations=SOLVER_ITERATIONS,
    ),
}


def find_app(name: str) -> App:
    """Return the app of this name; UsageError if there is none."""
    return APPS[one_of("app", name, APPS)]

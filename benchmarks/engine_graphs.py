"""The graphs of benchmarks/engine.py, as files of the GAP benchmark suite: NAME.sg, NAME.wsg.

kronS, urandS: made by the suite, 2^S vertices of 16 edges drawn each. rmatS: the former, made by
Evener. delaunayS: 2^S random points along the Hilbert curve. Others: real graphs of the folder
EVENER_DATA. Weights are random integers from 1 to 255, of an edge the same both ways.
"""

import os
import re
import subprocess
from pathlib import Path

import numpy as np
from engine_files import arrays, written

from evener.errors import UsageError
from evener.graphs.generating.delaunay import delaunay_graph, sorted_points
from evener.graphs.generating.random_graphs import rmat
from evener.io.accept import as_graph
from evener.running.local_graphs import LocalArcs, LocalGraph

SEED = 7
DEGREE = 16
REAL = {
    "heatexch_outer": "graphs/heatexch_outer.graph.zst",
    "BlogCatalog": "powerlaw/BlogCatalog.edgelist.zst",
}
BY_SUITE = {"kron": "-g", "urand": "-u"}
# Width of buckets for shortest paths, for all sides the one that is best for the suite: wide where
# vertices have few arcs.
DELTAS = {"kron": 8, "urand": 8, "rmat": 8, "BlogCatalog": 8}
DELTA_OF_MESHES = 512


def family(name):
    """Return a graph's name without its scale."""
    return name.rstrip("0123456789")


def is_mesh(name):
    """Whether few arcs leave each vertex, and paths are long."""
    return family(name) not in DELTAS


def delta_of(name):
    return DELTAS.get(family(name), DELTA_OF_MESHES)


def made(name, folder, suite):
    """Return the files of a graph, without and with weights; make them unless they are there."""
    plain, weighted = folder / f"{name}.sg", folder / f"{name}.wsg"
    if plain.exists() and weighted.exists():
        return plain, weighted
    folder.mkdir(parents=True, exist_ok=True)
    if family(name) in BY_SUITE:
        _by_suite(name, plain, weighted, suite)
    else:
        written(_graph(name), plain, weighted)
    return plain, weighted


def _by_suite(name, plain, weighted, suite):
    if suite is None:
        raise UsageError(f"{name} is made by the GAP benchmark suite", hint="Say --gapbs FOLDER.")
    option, scale = BY_SUITE[family(name)], re.findall(r"\d+$", name)[0]
    for path, more in ((plain, []), (weighted, ["-w"])):
        words = [suite / "converter", option, scale, "-k", str(DEGREE), *more, "-b", path]
        subprocess.run(words, check=True, capture_output=True)


def _graph(name):
    kind, digits = family(name), name.removeprefix(family(name))
    if kind == "rmat":
        return rmat(int(digits), SEED)
    if kind == "delaunay":
        points = np.random.default_rng(SEED).random((1 << int(digits), 2))
        return delaunay_graph(sorted_points(points))
    if name not in REAL:
        names = ["kronS", "urandS", "rmatS", "delaunayS", *REAL]
        raise UsageError(f"there is no graph {name!r}", hint=f"There are: {', '.join(names)}.")
    data = os.environ.get("EVENER_DATA")
    if data is None:
        raise UsageError(f"{name} is a real graph", hint="Set EVENER_DATA to their folder.")
    return as_graph(Path(data) / REAL[name])


def part_of(path):
    """Return the graph of a file as the part of one device."""
    return part_from(*arrays(path))


def part_from(offsets, ends, weights):
    """Return the same of its arrays; weights may be None."""
    n = offsets.size - 1
    arcs = LocalArcs(offsets.astype(np.uint32), ends, weights)
    return LocalGraph(
        rank=0, k=1, n_global=n, n_owned=n, n_interior=n, numbers=np.arange(n),
        ghost_starts=np.zeros(2, np.int64), degrees=np.diff(offsets).astype(np.int32),
        out=arcs, into=arcs,
    )  # fmt: skip

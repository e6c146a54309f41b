"""A process of its own: rehearse, then play; prints what had to be typed anew as one JSON object.

A kernel's signatures are those it was called with in this process, whether compiled or loaded, so
the state of the cache does not matter.
"""

import itertools
import json
import sys
import tempfile
from pathlib import Path

import numpy as np

from evener.cli.precompile.compiler import kernels
from evener.cli.precompile.rehearsals import REHEARSALS
from evener.graphs.generating.delaunay import tetrahedron_mesh, triangle_mesh
from evener.graphs.generating.random_graphs import rmat
from evener.graphs.graph import Graph
from evener.io import read
from evener.partitioning.refine import refine
from evener.partitioning.tools import TOOLS
from evener.planning.compare import compare
from evener.planning.in_memory import plan
from evener.planning.options import PlanOptions
from evener.platforms.platform import Device, Level, Link, Platform
from tests.io.graph_samples import COORDINATES, GRAPHS, WEIGHTS
from tests.io.mesh_samples import FOAM, TEXTS, by_meshio

PRESETS, OBJECTIVES = ("fast", "default", "strong"), ("cut", "total_volume", "max_volume")
SPEEDS = (5.0, 1.0, 1.0, 2.0)


def play_plans():
    """Plans of every preset and objective, on graphs with everything a graph may have."""
    rng = np.random.default_rng(5)
    platform = Platform(tuple(Device(f"d{b}", s, memory=1e8) for b, s in enumerate(SPEEDS)))
    flat, solid = triangle_mesh(900, 3).dual_graph(), tetrahedron_mesh(300, 3).nodal_graph()
    skewed = rmat(9, 5)
    for i, graph in enumerate((flat, solid, flat.with_(coords=None), skewed)):
        for p, o in itertools.product(range(3), repeat=2):
            if i == 0 or (p + o) % 3 == i % 3:  # of others each preset and each objective once
                plan(graph, platform, PlanOptions("evener", PRESETS[p], OBJECTIVES[o]))
    edge = rng.integers(1, 9, flat.m)
    u = np.repeat(np.arange(flat.n), flat.degrees)
    once = u < flat.adjncy
    for dtype, weights in itertools.product((np.int64, np.float32), (None, edge, edge / 7)):
        heavy = Graph.from_edges(
            flat.n, u[once], flat.adjncy[once].astype(np.int64), weights=weights,
            vwgt=rng.integers(1, 4, flat.n).astype(dtype), coords=flat.coords,
        )  # fmt: skip
        plan(heavy, platform, PlanOptions("evener", connected=True))
        plan(heavy.with_(coords=None), platform, PlanOptions("metis", connected=True))
    for weights in (edge, edge / 7):
        both = np.column_stack([rng.integers(1, 4, flat.n), rng.integers(0, 9, flat.n)])
        heavy = flat.with_(vwgt=both if weights is edge else both / 2)
        for coords in (flat.coords, None):
            plan(heavy.with_(coords=coords), platform, PlanOptions("evener"))
    for k in (6, 20):
        nodes = tuple(Device(f"d{b}", SPEEDS[b % 4], at=f"n{b % 3}") for b in range(k))
        levels = (Level("cluster", Link(1e-5, 1e-9)), Level("node", Link(1e-6, 1e-10)))
        for tool in ("evener", "metis"):
            made = plan(flat, Platform(nodes, levels=levels), PlanOptions(tool))
        refine(flat, made.partition)
        for graph in (flat, flat.with_(coords=None)):
            for objective in OBJECTIVES:
                stays = np.arange(flat.n) % 3 == 0
                refine(graph, made.partition, objective=objective, fixed=stays)
    tools = [
        name for name, tool in TOOLS.items() if tool.family != "external" and not tool.missing()
    ]
    assert all(row.kept for row in compare(flat, platform, tools, PlanOptions()))


def play_files():
    """Files of every format that the tests of reading know."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, content in _unpacked(GRAPHS):
            (folder / file).write_bytes(content)
            read(folder / file)
        for file, content in (COORDINATES | WEIGHTS).items():
            (folder / file).write_bytes(content)
        (folder / "three.graph").write_text("3 2\n2\n1 3\n2\n")
        for file in COORDINATES:
            read(folder / "three.graph", coords=str(folder / file))
        for file in WEIGHTS:
            read(folder / "three.graph", weights=str(folder / file))
        for file, (text, *_) in TEXTS.items():
            (folder / file).write_text(text)
            for by in ("cells", "points"):
                read(folder / file, by=by)
        # Each is read in a process of its own, so one way only.
        for i, (file, (content, *_)) in enumerate(by_meshio().items()):
            (folder / file).write_bytes(content)
            read(folder / file, by=("cells", "points")[i % 2])
        (folder / "foam").mkdir()
        for file, content in FOAM.items():
            (folder / "foam" / file).write_text(content)
        read(folder / "foam")


def _unpacked(files):
    return ((file, content) for file, content in files.items() if not file.startswith("packed"))


def signatures():
    """Every kernel's types so far."""
    return {name: {str(s) for s in kernel.signatures} for name, kernel in kernels().items()}


def called_by_kernels():
    """Names that occur in kernels, also in those that exist only inside others."""
    for module in {kernel.py_func.__module__ for kernel in kernels().values()}:
        for value in vars(sys.modules[module]).values():
            function = getattr(value, "py_func", value)
            if hasattr(function, "__code__"):
                yield from function.__code__.co_names


def main():
    for rehearse in REHEARSALS.values():
        rehearse()
    before = signatures()
    inner = set(called_by_kernels())
    idle = [n for n, types in before.items() if not types and n.rsplit(".", 1)[1] not in inner]
    play_plans()
    play_files()
    new = {name: sorted(types - before[name]) for name, types in signatures().items()}
    json.dump({"new": {n: t for n, t in new.items() if t}, "idle": idle}, sys.stdout)


main()

"""Small files of every format that a kernel reads or writes, small meshes and graphs, a machine.

Kernels are compiled for the types of arrays: none, whole or real weights, of vertices and of edges;
coordinates in the plane and in space; files of every format, meshes of every kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np

from evener.graphs.graph import Graph
from evener.graphs.mesh import HEXAHEDRON, QUAD, TETRA, TRIANGLE, Mesh
from evener.platforms.platform import Device, Level, Link, Platform

_FOAM = "FoamFile\n{{\n    version 2.0;\n    format ascii;\n    class {};\n    object {};\n}}\n"
_FACES = (
    "4(1 4 10 7) 4(0 6 9 3) 4(0 1 7 6) 4(3 9 10 4) 4(0 3 4 1) 4(6 7 10 9)"
    " 4(2 5 11 8) 4(1 2 8 7) 4(4 10 11 5) 4(1 4 5 2) 4(7 8 11 10)"
)
_CUBES = " ".join(f"({x} {y} {z})" for z in (0, 1) for y in (0, 1) for x in (0, 1, 2))

# Two cubes side by side; a square of two triangles; a path of three vertices.
FOLDERS = {
    "foam": {
        "points": _FOAM.format("vectorField", "points") + f"12\n({_CUBES})\n",
        "faces": _FOAM.format("faceList", "faces") + f"11\n({_FACES})\n",
        "owner": _FOAM.format("labelList", "owner") + "11(0 0 0 0 0 0 1 1 1 1 1)\n",
        "neighbour": _FOAM.format("labelList", "neighbour") + "1(1)\n",
    },
}
BAD = {"one_way.graph": "3 2\n2\n3\n1 2\n"}
MESHES = {
    "strip.obj": "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\n",
    "sets.msh": "1\n2 4 12\n1 3 000\n3 3 4 5\n3 3 5 6\n2 1 2\n1 1\n2 1 2\n1 2\n",
    "square.su2": "NDIME= 2\nNELEM= 2\n5 0 1 2 0\n5 0 2 3 1\nNPOIN= 4\n0 0 0\n1 0 1\n1 1 2\n0 1 3\n"
    "NMARK= 0\n",
}
GRAPHS = {
    "plain.graph": "3 2\n2\n1 3\n2\n",
    "whole.graph": "3 2 011\n1 2 5\n1 1 5 3 6\n1 2 6\n",
    "real.graph": "2 1 11\n0.5 2 1e-3\n2 1 0.001\n",
    "plain.grf": "0\n3 4\n0 000\n1 1\n2 0 2\n1 1\n",
    "labels.grf": "0\n3 4\n0 111\n50 7 1 5 40\n40 8 2 5 50 6 9\n9 9 1 6 40\n",
    "pattern.mtx": "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n",
    "real.mtx": "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 1.5\n2 3 2e3\n",
    "array.mtx": "%%MatrixMarket matrix array real general\n2 2\n1\n2.5\n0\n-4\n",
    "pairs.txt": "0\t1\n1\t2\n",
    "names.csv": 'source,target,weight\nann,"b, c",2\n"b, c",dan,0.5\n',
    "entries.triplet": "0 0 4.5\n1 0 -1e3\n2 1 7\n",
    "matrix.rua": "A matrix".ljust(72) + "KEY".ljust(8) + "\n"
    "             3             1             1             1             0\n"
    "RUA                        3             3             3             0\n"
    "(26I3)          (26I3)          (3E25.16)           \n"
    "  1  2  3  4\n  2  3  1\n" + "".join(f"{value:25.16E}" for value in (1.5, 2.0, 3.0)) + "\n",
}
COORDINATES = "0 0\n1 0\n2 0.5\n"


def write_samples(folder: Path) -> tuple[list[Path], list[Path]]:
    """Write all sample files into `folder`; return the paths of graphs and of meshes."""
    for files in (GRAPHS, MESHES, BAD):
        for name, text in files.items():
            (folder / name).write_text(text)
    for name, members in FOLDERS.items():
        (folder / name).mkdir()
        for member, text in members.items():
            (folder / name / member).write_text(text)
    (folder / "plain.graph.xyz").write_text(COORDINATES)
    return [folder / name for name in GRAPHS], [folder / name for name in (*MESHES, *FOLDERS)]


def meshes() -> Iterator[Mesh]:
    """Yield one mesh of two cells of each kind, in the plane and in space."""
    flat = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1], [2, 0], [2, 1]])
    below = np.array([[x, y, 0.0] for y in (0, 1) for x in (0, 1, 2)])
    body = np.concatenate([below, below + np.array([0, 0, 1])])
    for points, kind, cells in (
        (flat, TRIANGLE, [[0, 1, 2], [0, 2, 3]]),
        (flat, QUAD, [[0, 1, 2, 3], [1, 4, 5, 2]]),
        (body, TETRA, [[0, 1, 3, 6], [1, 4, 3, 6]]),
        (body, HEXAHEDRON, [[0, 1, 4, 3, 6, 7, 10, 9], [1, 2, 5, 4, 7, 8, 11, 10]]),
    ):
        corners = np.array(cells)
        offsets = np.arange(0, corners.size + 1, corners.shape[1])
        yield Mesh(points, offsets, corners.ravel(), np.full(len(cells), kind))


SPEEDS = [16.0, 4.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
TYPES = (None, np.int64, np.float64)  # of weights


def places() -> Iterator[Graph]:
    """Yield grids in 2-D and in 3-D, large enough for a search on groups of blocks."""
    from evener.graphs.generating.grid import grid

    yield grid([60, 60])
    yield grid([15, 15, 15])


def weighted(graph: Graph, alike: bool = False) -> Iterator[Graph]:
    """Yield `graph` with weights of every type; alike: only with equal types for vertices and
    edges.

    Equal types suffice if the same kernels have divided another graph with all pairs of types.
    """
    for vertex, edge in zip(TYPES, TYPES, strict=True) if alike else product(TYPES, repeat=2):
        yield graph.with_(
            vwgt=None if vertex is None else np.ones(graph.n, vertex),
            adjwgt=None if edge is None else np.full(graph.adjncy.size, 2, edge),
        )


def machine_of(many: int = 1) -> Platform:
    """Return a machine of two nodes of four devices with links, or `many` times as many."""
    devices = tuple(
        Device(f"d{b}", 1e6 * speed, at=f"node{b // 4}") for b, speed in enumerate(many * SPEEDS)
    )
    levels = Level("cluster", Link(1e-5, 1e-9)), Level("node", Link(1e-6, 1e-10))
    return Platform(devices, levels=levels)

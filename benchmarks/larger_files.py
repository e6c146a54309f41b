"""Graphs for `larger.py` and `larger_ranks.py`, as binary CSR files; each is made where missing.

A Delaunay graph comes from the generator along a Hilbert curve; `across` numbers vertices by their
first coordinate, `random` at random. Grids are triangulated, numbered by rows or at random.
"""

import numpy as np

from evener.graphs.generating.delaunay import delaunay
from evener.graphs.generating.random_graphs import rmat
from evener.graphs.graph import Graph
from evener.io.csr.csr_writer import csr_written
from evener.io.csr.layout import CsrLayout
from evener.io.read import read

ORDERS = ("hilbert", "across", "random")
COORDS = ("coords", "bare")
PIECE = 1 << 20  # rows that are written at a time


def delaunay_files(folder, power, seed, kinds):
    """Make the files of one Delaunay graph in several orders, with coordinates or bare.

    kinds: pairs of an order and one of COORDS. Returns their paths, by kind.
    """
    paths = {kind: folder / f"delaunay{power}-{seed}-{'-'.join(kind)}.ecsr" for kind in kinds}
    missing = [kind for kind, path in paths.items() if not path.exists()]
    graph = generated(folder, power, seed) if missing else None
    for order in dict.fromkeys(order for order, _ in missing):
        made = ordered(graph, order, seed)
        for kind in (kind for kind in missing if kind[0] == order):
            write_csr(paths[kind], made, with_coords=kind[1] == "coords")
    return paths


def generated(folder, power, seed):
    """The graph as it is generated, read where its file is there."""
    path = folder / f"delaunay{power}-{seed}-hilbert-coords.ecsr"
    return read(path).graph if path.exists() else delaunay(1 << power, seed=seed)


def ordered(graph, order, seed):
    """The graph with its vertices in another order."""
    if order == "hilbert":
        return graph
    if order == "across":
        return renumbered(graph, np.argsort(graph.coords[:, 0], kind="stable"))
    return renumbered(graph, np.random.default_rng(seed).permutation(graph.n))


def renumbered(graph, order):
    """The graph whose vertex i is `order[i]` of the one given."""
    place = np.empty(graph.n, np.int32)
    place[order] = np.arange(graph.n, dtype=np.int32)
    degrees = np.diff(graph.xadj)[order]
    xadj = np.concatenate([[0], np.cumsum(degrees)])
    first = np.repeat(graph.xadj[order] - xadj[:-1], degrees)
    neighbours = place[graph.adjncy[first + np.arange(xadj[-1])]]
    rows = np.repeat(np.arange(graph.n, dtype=np.int64), degrees)
    neighbours = neighbours[np.argsort(rows * graph.n + neighbours)]
    return Graph(xadj, neighbours, coords=graph.coords[order])


def rmat_file(folder, scale, seed):
    """The file of an R-MAT graph."""
    path = folder / f"rmat{scale}-{seed}.ecsr"
    if not path.exists():
        write_csr(path, rmat(scale, seed), with_coords=False)
    return path


def write_csr(path, graph, with_coords):
    layout = CsrLayout(graph.n, graph.adjncy.size, dimension=2 * with_coords)
    with csr_written(path, layout) as file:
        file.put("xadj", 0, graph.xadj)
        file.put("adjncy", 0, graph.adjncy)
        if with_coords:
            file.put("coords", 0, graph.coords)


def grid_file(folder, width, order, seed=5):
    """The file of a triangulated grid of width x width vertices, by `rows` or `random`."""
    path = folder / f"grid{width}-{order}.ecsr"
    if path.exists():
        return path
    n = width * width
    at = np.arange(n, dtype=np.int32)
    if order == "random":
        at = np.random.default_rng(seed).permutation(n).astype(np.int32)
    place = np.empty(n, np.int32)
    place[at] = np.arange(n, dtype=np.int32)
    layout = CsrLayout(n, 2 * (2 * width * (width - 1) + (width - 1) ** 2), dimension=2)
    with csr_written(path, layout) as file:
        done = 0
        file.put("xadj", 0, np.zeros(1, np.int64))
        for start in range(0, n, PIECE):
            degrees, neighbours, points = grid_rows(at[start : start + PIECE], place, width)
            file.put("xadj", start + 1, done + np.cumsum(degrees))
            file.put("adjncy", done, neighbours)
            file.put("coords", 2 * start, points)
            done += neighbours.size
    return path


def grid_rows(vertices, place, width):
    """Degrees, neighbours in ascending order, and points of vertices of a grid."""
    row, column = np.divmod(vertices, width)
    found = np.full((vertices.size, 6), width * width, np.int32)
    for i, (down, right) in enumerate([(0, -1), (0, 1), (-1, 0), (1, 0), (-1, -1), (1, 1)]):
        r, c = row + down, column + right
        inside = (r >= 0) & (r < width) & (c >= 0) & (c < width)
        found[inside, i] = place[r[inside] * width + c[inside]]
    found.sort(axis=1)
    there = found < width * width
    return there.sum(axis=1), found[there], np.column_stack([column, row]).astype(np.float64)

"""Graphs and shares of benchmarks/corners.py: social graphs, small meshes, graphs of clusters.

Each graph exists twice: as it is reported, and as defaults are tuned on it (`tuning`): of another
size, and drawn with another seed.
"""

from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from evener.graphs.generating.airfoil import airfoil
from evener.graphs.generating.delaunay import (
    graded_delaunay,
    quadtree_cloud,
    refined_delaunay,
    simplex_mesh,
    tetrahedron_dual,
    triangulate,
)
from evener.graphs.generating.grid import grid
from evener.graphs.generating.random_graphs import barabasi_albert, rgg, rmat
from evener.graphs.graph import Graph

GROUPS = ("social", "meshes", "clusters")
MACHINES = (
    "k3_equal", "k3_half", "k4_two60", "k8_series", "k16_equal", "k24_two60", "k24_16to1",
    "k32_half",
)  # fmt: skip
SERIES = 64.0  # the largest share of a geometric series, over the smallest
FAST, FAST_SPEED = 8, 16.0  # one device of eight, at least one, is so fast
TUNED_SEED, TUNED_SIZE = 1_000_003, 0.8


@dataclass(frozen=True)
class Instance:
    """make(size, seed) returns the graph; size 1 as reported."""

    group: str
    make: object
    seed: int

    def graph(self, tuning=False):
        if tuning:
            return self.make(TUNED_SIZE, self.seed + TUNED_SEED)
        return self.make(1.0, self.seed)


def shares(machine):
    """(k,) shares of the devices of a machine such as k24_two60."""
    count, kind = machine.removeprefix("k").split("_")
    k = int(count)
    if kind == "series":
        found = SERIES ** -np.linspace(0, 1, k)
    elif kind == "16to1":
        found = np.where(np.arange(k) < max(1, k // FAST), FAST_SPEED, 1.0)
    else:
        large, held = {"equal": (0, 0.0), "half": (1, 0.5), "two60": (2, 0.6)}[kind]
        found = np.full(k, (1 - held) / (k - large))
        found[:large] = held / max(large, 1)
    return found / found.sum()


def power_law(scale, edge_factor, quadrants, size, seed):
    """R-MAT; another size is another number of edges."""
    a, b = quadrants
    return rmat(scale, seed, max(2, round(edge_factor * size)), a, b, b)


def communities(n, count, degree, between, uneven, size, seed, regions=0):
    """Barabási-Albert graphs, one a community, joined by another one over all of them.

    uneven: the power that sizes of communities fall by. regions: groups of communities that one
    more such graph joins each.
    """
    rng = np.random.default_rng(seed)
    wanted = np.arange(1, count + 1) ** -float(uneven)
    sizes = np.maximum((wanted / wanted.sum() * n * size).astype(int), degree + 2)
    first = np.concatenate([[0], np.cumsum(sizes)])
    pieces = [(a, b, degree) for a, b in pairwise(first)]
    pieces.append((0, first[-1], between))
    if regions:
        ends = first[np.linspace(0, count, regions + 1).astype(int)]
        pieces += [(a, b, 1) for a, b in pairwise(ends)]
    ends = []
    for a, b, joined in pieces:
        piece = barabasi_albert(int(b - a), int(rng.integers(2**31)), joined)
        label = rng.permutation(b - a) + a
        ends.append((label[np.repeat(np.arange(piece.n), piece.degrees)], label[piece.adjncy]))
    return of_ends(int(first[-1]), ends, rng)


def clusters(count, each, degree, links, along, size, seed):
    """Equal clusters, each a random graph, with few links between.

    along: "random" pairs of clusters, neighbours in a "ring", or in a "torus" of two dimensions.
    """
    rng = np.random.default_rng(seed)
    each = round(each * size)
    m = count * each * degree // 2
    cluster = rng.integers(0, count, m)
    ends = [tuple(cluster * each + rng.integers(0, each, m) for _ in range(2))]
    path = np.arange(count * each)  # each cluster is in one piece
    ends.append((path[path % each > 0] - 1, path[path % each > 0]))
    c = np.repeat(np.arange(count), links)
    side = int(np.sqrt(count))
    step = rng.integers(0, 2, c.size)
    to = {
        "random": rng.integers(0, count, c.size),
        "ring": (c + 1) % count,
        "torus": np.where(step == 0, (c + side) % count, c // side * side + (c + 1) % side),
    }[along]
    ends.append(tuple(one * each + rng.integers(0, each, c.size) for one in (c, to)))
    return of_ends(count * each, ends, rng)


def of_ends(n, ends, rng):
    """The graph of these pairs of ends, in random order, no vertex its own neighbour."""
    u, v = (np.concatenate([pair[i] for pair in ends]) for i in (0, 1))
    kept, label = u != v, rng.permutation(n)
    return Graph.from_edges(n, label[u[kept]], label[v[kept]])


def coast(cells, islands, growth, size, seed):
    """The cells of a triangulation of a bay with islands, fine along all shores."""
    rng = np.random.default_rng(seed)
    centres = 0.08 + 0.84 * rng.random((islands, 2))
    radii = 0.02 + 0.06 * rng.random(islands)
    waves = rng.random(6) * 2 * np.pi

    def sea(points):
        """How far points are from the nearest shore: below 0 on land."""
        x, y = points.T
        height = 0.12 + sum(
            0.05 / (i + 1) * np.sin(3 * (i + 1) * x + w) for i, w in enumerate(waves)
        )
        away = np.minimum(y - height, np.minimum(np.minimum(x, 1 - x), 1 - y))
        for centre, radius in zip(centres, radii, strict=True):
            angle = np.arctan2(*(points - centre).T)
            shore = radius * (1 + 0.25 * np.sin(3 * angle + waves[0]))
            away = np.minimum(away, np.hypot(*(points - centre).T) - shore)
        return away

    def spacing(points, sides):
        away = sea(points)
        wanted = 0.004 + growth * np.maximum(away, 0)
        wanted[away < -sides] = np.inf
        return wanted, away > 0

    points, _ = quadtree_cloud(round(0.53 * cells * size), (0.0, 0.0), 1.0, spacing, rng)
    made = triangulate(points)
    wet = sea(points[made.simplices].mean(axis=1)) > 0
    return simplex_mesh(points, made.simplices[wet]).dual_graph()


def square(rows, columns, size, seed):
    del seed
    return grid((round(rows * size), round(columns * size)))


def resized(make, n, size, seed, **more):
    """A graph of Evener's generators, of so many vertices, cells or points."""
    made = make(round(n * size), seed, **more)
    return made if isinstance(made, Graph) else made.dual_graph()


GRAPH500, MILD, EVEN = (0.57, 0.19), (0.5, 0.2), (0.45, 0.22)
CASES = {
    "rmat13": Instance("social", partial(power_law, 13, 16, GRAPH500), 1),
    "rmat14": Instance("social", partial(power_law, 14, 8, GRAPH500), 2),
    "rmat14-mild": Instance("social", partial(power_law, 14, 12, MILD), 3),
    "rmat15-even": Instance("social", partial(power_law, 15, 8, EVEN), 4),
    "rmat16-mild": Instance("social", partial(power_law, 16, 8, MILD), 5),
    "ba8k": Instance("social", partial(communities, 8_000, 24, 5, 1, 0.0), 6),
    "ba20k": Instance("social", partial(communities, 20_000, 60, 6, 2, 0.8), 7),
    "ba40k": Instance("social", partial(communities, 40_000, 200, 4, 1, 0.5), 8),
    "ba60k-regions": Instance(
        "social", partial(communities, 60_000, 120, 5, 1, 0.3, regions=10), 9
    ),
    "ba82k": Instance("social", partial(communities, 82_000, 40, 6, 1, 0.8), 10),
    "coast5k": Instance("meshes", partial(coast, 5_000, 6, 0.3), 11),
    "coast15k": Instance("meshes", partial(coast, 15_000, 12, 0.15), 12),
    "coast41k": Instance("meshes", partial(coast, 41_000, 20, 0.3), 13),
    "coast60k": Instance("meshes", partial(coast, 60_000, 30, 0.1), 14),
    "airfoil20k": Instance("meshes", partial(resized, airfoil, 20_000), 15),
    "refined12k": Instance("meshes", partial(resized, refined_delaunay, 12_000), 16),
    "graded30k": Instance("meshes", partial(resized, graded_delaunay, 30_000), 17),
    "rgg3d10k": Instance("meshes", partial(resized, rgg, 10_000, dim=3), 18),
    "tetra25k": Instance("meshes", partial(resized, tetrahedron_dual, 4_000), 19),
    "grid100x160": Instance("meshes", partial(square, 100, 160), 20),
    "clusters512": Instance("clusters", partial(clusters, 512, 64, 8, 8, "random"), 21),
    "clusters64": Instance("clusters", partial(clusters, 64, 256, 10, 12, "random"), 22),
    "clusters128-ring": Instance("clusters", partial(clusters, 128, 100, 8, 5, "ring"), 23),
    "clusters256-torus": Instance("clusters", partial(clusters, 256, 80, 8, 6, "torus"), 24),
    "clusters400-small": Instance("clusters", partial(clusters, 400, 20, 12, 6, "torus"), 25),
}

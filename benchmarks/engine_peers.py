"""One graph library, timed in a process of its own for benchmarks/engine.py.

    engine_peers.py LIBRARY FILE.sg FILE.wsg < questions > answers

Run by a Python that has the library: graphblas, networkit, scipy, igraph or graph_tool. The first
line of the answers says whether it is there. Each further line answers one of the questions, JSON
{"app", "source", "threads"}: {"seconds", "found"}, and {} where the library has no such algorithm.
found: a number that tells right results from wrong ones: of PageRank the largest rank, else how
many vertices are reached, or how many components there are.
"""

# ruff: noqa: PLW0108 - results are read when the clock has stopped, not when they are returned
import importlib
import json
import sys
import time

import numpy as np
from engine_files import arrays

DAMPING, ITERATIONS = 0.85, 10


class Peer:
    """A library with both graphs of the files. Each method makes what is timed: a function that
    computes, and one that makes the number of its result.
    """

    def __init__(self, plain, weighted):
        offsets, self.ends, _ = arrays(plain)
        self.offsets = offsets
        self.n = offsets.size - 1
        self.tails = np.repeat(np.arange(self.n), np.diff(offsets))
        weighted_offsets, self.weighted_ends, self.weights = arrays(weighted)
        self.weighted_offsets = weighted_offsets
        self.make()

    def edges(self):
        """(edges, 2) Each edge once."""
        once = self.tails < self.ends
        return np.column_stack([self.tails[once], self.ends[once].astype(np.int64)])

    def weighted_edges(self):
        """The same of the file with weights, and the weights."""
        tails = np.repeat(np.arange(self.n), np.diff(self.weighted_offsets))
        once = tails < self.weighted_ends
        ends = self.weighted_ends[once].astype(np.int64)
        return np.column_stack([tails[once], ends]), self.weights[once]

    def use(self, threads):
        """Take so many threads; False where that is not possible."""
        return threads == 1


class Scipy(Peer):
    def make(self):
        from scipy.sparse import csr_array

        shape = (self.n, self.n)
        ones = np.ones(self.ends.size, np.float32)
        self.plain = csr_array((ones, self.ends.astype(np.int32), self.offsets), shape=shape)
        ends = self.weighted_ends.astype(np.int32)
        given = (self.weights.astype(np.float64), ends, self.weighted_offsets)
        self.weighted = csr_array(given, shape=shape)
        degrees = np.diff(self.offsets)
        self.parts = np.divide(1, degrees, out=np.zeros(self.n), where=degrees > 0)
        self.parts = self.parts.astype(np.float32)

    def pagerank(self, _):
        base = np.float32((1 - DAMPING) / self.n)
        ranks = np.full(self.n, np.float32(1 / self.n))
        for _ in range(ITERATIONS):
            ranks = base + np.float32(DAMPING) * (self.plain @ (ranks * self.parts))
        return lambda: ranks.max()

    def bfs(self, source):
        from scipy.sparse.csgraph import breadth_first_order

        order = breadth_first_order(self.plain, source, return_predecessors=False)
        return lambda: order.size

    def wcc(self, _):
        from scipy.sparse.csgraph import connected_components

        count, _ = connected_components(self.plain, directed=False)
        return lambda: count

    def sssp(self, source):
        from scipy.sparse.csgraph import dijkstra

        distances = dijkstra(self.weighted, indices=source)
        return lambda: np.isfinite(distances).sum()


class Networkit(Peer):
    def make(self):
        import networkit as nk

        self.nk = nk
        u, v = self.edges().T
        self.plain = nk.GraphFromCoo((u, v), n=self.n)
        (u, v), weights = (part.T for part in self.weighted_edges())
        self.weighted = nk.GraphFromCoo((weights.astype(float), (u, v)), n=self.n, weighted=True)

    def use(self, threads):
        self.nk.setNumberOfThreads(threads)
        return True

    def pagerank(self, _):
        rank = self.nk.centrality.PageRank(self.plain, DAMPING, 0.0)
        rank.maxIterations = ITERATIONS
        rank.run()
        return lambda: max(rank.scores())

    def bfs(self, source):
        search = self.nk.distance.BFS(self.plain, source, storePaths=False).run()
        return lambda: (np.array(search.getDistances()) < self.n).sum()

    def wcc(self, _):
        found = self.nk.components.ParallelConnectedComponents(self.plain).run()
        return found.numberOfComponents

    def sssp(self, source):
        search = self.nk.distance.Dijkstra(self.weighted, source, storePaths=False).run()
        return lambda: (np.array(search.getDistances()) < 1e300).sum()


class Igraph(Peer):
    def make(self):
        import igraph

        self.plain = igraph.Graph(self.n, self.edges())
        edges, weights = self.weighted_edges()
        self.weighted = igraph.Graph(self.n, edges)
        self.weights_of_edges = weights.tolist()

    def use(self, threads):
        for graph in (self.plain, self.weighted):  # else the second answer is the first, kept
            getattr(graph, "__invalidate_cache")()
        return threads == 1

    def pagerank(self, _):
        ranks = self.plain.pagerank(damping=DAMPING)  # to its own end: it counts no iterations
        return lambda: max(ranks)

    def bfs(self, source):
        (levels,) = self.plain.distances(source)
        return lambda: np.isfinite(levels).sum()

    def wcc(self, _):
        found = self.plain.connected_components(mode="weak")
        return lambda: len(found)

    def sssp(self, source):
        (distances,) = self.weighted.distances(source, weights=self.weights_of_edges)
        return lambda: np.isfinite(distances).sum()


class Graphblas(Peer):
    def make(self):
        import graphblas as gb

        gb.init("suitesparse", blocking=True)
        self.gb = gb
        indices = self.ends.astype(np.uint64)
        given = self.offsets.astype(np.uint64), indices
        ones = np.ones(indices.size, np.float32)
        self.plain = gb.Matrix.from_csr(*given, ones, ncols=self.n)
        self.pattern = gb.Matrix.from_csr(*given, True, ncols=self.n)
        self.numbers = gb.Matrix.from_csr(*given, np.int64(1), ncols=self.n)
        given = self.weighted_offsets.astype(np.uint64), self.weighted_ends.astype(np.uint64)
        self.weighted = gb.Matrix.from_csr(*given, self.weights, ncols=self.n)
        degrees = np.maximum(np.diff(self.offsets), 1)
        self.parts = gb.Vector.from_dense((DAMPING / degrees).astype(np.float32))

    def use(self, threads):
        self.gb.ss.config["nthreads"] = threads
        return True

    def pagerank(self, _):
        gb, n = self.gb, self.n
        ranks = gb.Vector.from_scalar(1 / n, n, "FP32")
        sent = gb.Vector("FP32", n)
        for _ in range(ITERATIONS):
            sent << gb.binary.times(ranks & self.parts)
            ranks[:] = (1 - DAMPING) / n
            ranks(gb.binary.plus) << gb.semiring.plus_second(self.plain @ sent)
        return lambda: ranks.to_dense().max()

    def bfs(self, source):
        gb = self.gb
        levels = gb.Vector("INT32", self.n)
        frontier = gb.Vector.from_coo([source], [True], size=self.n)
        level = 0
        while frontier.nvals:
            levels(frontier.S)[:] = level
            level += 1
            frontier(~levels.S, replace=True) << gb.semiring.any_pair(frontier @ self.pattern)
        return lambda: levels.nvals

    def wcc(self, _):
        """FastSV (Zhang, Azad and Buluc, 2020): hooking to the neighbours' least grandparent."""
        gb, n = self.gb, self.n
        parents = np.arange(n, dtype=np.int64)
        while True:
            grand = parents[parents]
            least = gb.Vector.from_dense(grand)
            found = gb.Vector.from_dense(grand)
            found(gb.binary.min) << gb.semiring.min_second(self.numbers @ least)
            nearest = found.to_dense()
            hooked = parents.copy()
            np.minimum.at(hooked, parents, nearest)
            hooked = np.minimum(np.minimum(hooked, nearest), grand)
            if np.array_equal(hooked, parents):
                break
            parents = hooked
        return lambda: np.unique(parents).size

    def sssp(self, source):
        gb = self.gb
        distances = gb.Vector.from_coo([source], [0], size=self.n, dtype="INT32")
        active = distances.dup()
        while active.nvals:
            reached = gb.semiring.min_plus(active @ self.weighted).new()
            nearer = gb.binary.lt(reached & distances).new()
            new = reached.dup(mask=~distances.S)
            distances(gb.binary.min) << reached
            active = reached.dup(mask=nearer.V)
            active << gb.binary.min(active | new)
        return lambda: distances.nvals


class GraphTool(Peer):
    def make(self):
        import graph_tool.all as gt

        self.gt = gt
        self.plain = gt.Graph(directed=False)
        self.plain.add_vertex(self.n)
        self.plain.add_edge_list(self.edges())
        edges, weights = self.weighted_edges()
        self.weighted = gt.Graph(directed=False)
        self.weighted.add_vertex(self.n)
        self.of_edges = self.weighted.new_edge_property("int32_t")
        self.weighted.add_edge_list(np.column_stack([edges, weights]), eprops=[self.of_edges])

    def use(self, threads):
        self.gt.openmp_set_num_threads(threads)
        return True

    def pagerank(self, _):
        ranks = self.gt.pagerank(self.plain, DAMPING, epsilon=0, max_iter=ITERATIONS)
        return lambda: ranks.a.max()

    def bfs(self, source):
        levels = self.gt.shortest_distance(self.plain, self.plain.vertex(source))
        return lambda: (levels.a < self.n).sum()

    def wcc(self, _):
        found, _ = self.gt.label_components(self.plain)
        return lambda: found.a.max() + 1

    def sssp(self, source):
        start = self.weighted.vertex(source)
        distances = self.gt.shortest_distance(self.weighted, start, weights=self.of_edges)
        return lambda: (distances.a < 2**31 - 1).sum()


LIBRARIES = {
    "graphblas": Graphblas,
    "networkit": Networkit,
    "scipy": Scipy,
    "igraph": Igraph,
    "graph_tool": GraphTool,
}


def main(library, plain, weighted):
    try:
        version = importlib.import_module(library).__version__
    except ImportError as error:
        print(json.dumps({"missing": str(error)}), flush=True)
        return
    from pathlib import Path

    peer = LIBRARIES[library](Path(plain), Path(weighted))
    print(json.dumps({"version": version}), flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(peer, **json.loads(line))), flush=True)


def answer(peer, app, source, threads):
    if not peer.use(threads):
        return {}
    began = time.perf_counter()
    result = getattr(peer, app)(source)
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "found": float(result())}


if __name__ == "__main__":
    main(*sys.argv[1:])

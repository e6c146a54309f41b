"""Random graphs, partitions and apps; values must be those that another algorithm finds."""

import numpy as np

from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.plans.partition import Partition
from evener.running.apps import bfs, kcore, pagerank, spmv, sssp, triangles, wcc
from evener.running.executing import run_program
from evener.running.moving import MoveAdvice, Rebalancing
from evener.running.on_device import RunWatch

APPS = ("pagerank", "bfs", "wcc", "sssp", "spmv", "kcore", "triangles")
MOVING = APPS[:5]  # those whose vertices may change device in a run
STEPS = 5  # of pagerank and spmv


def random_ends(draw, n):
    """Return arcs of one kind: none, few, many, a star, a path, two pieces, or parallel ones."""
    kind = int(draw.integers(7))
    few, many = draw.integers(0, n, (2, n // 2)), draw.integers(0, n, (2, 6 * n))
    path = np.array([np.arange(n - 1), np.arange(1, n)])
    pieces = np.concatenate(
        [few[:, : n // 4] % max(n // 2, 1), n - 1 - few % max(n // 3, 1)], axis=1
    )
    return (
        np.empty((2, 0), np.int64), few, many, np.array([np.zeros(n, np.int64), np.arange(n)]),
        path, pieces, np.repeat(few, 3, axis=1),
    )[kind]  # fmt: skip


def random_case(seed, most_blocks=5):
    """Return a graph and a partition: loops, isolated vertices and empty blocks may occur."""
    draw = np.random.default_rng(seed)
    n = int(draw.choice([1, 2, 3, 17, 64, 65, 150]))
    ends = random_ends(draw, n)
    weights = draw.integers(1, 40, ends.shape[1]) if draw.random() < 0.7 else None
    if draw.random() < 0.5:
        graph = Graph.from_edges(n, *ends, weights=weights)
    else:
        graph = DirectedGraph.from_arcs(n, *ends, weights=weights)
    k = int(draw.integers(1, most_blocks + 1))
    blocks = (
        draw.integers(0, k, n), np.full(n, draw.integers(k)), np.arange(n) * k // n,
        np.arange(n) % k, draw.integers(0, k, n) // 2 * 2 % k,
    )[int(draw.integers(5))]  # fmt: skip
    return graph, Partition(blocks.astype(np.int32), k), int(draw.integers(n))


class RandomMoves:
    """An adviser that gives all vertices random devices when asked after some supersteps.

    after: the least numbers of these; seen, parts, took: what it was told, said, and told of that.
    """

    def __init__(self, n, k, after=range(1, 10**6), seed=0):
        self.draw, self.n, self.k = np.random.default_rng(seed), n, k
        self.seen, self.parts, self.took, self.step = [], [], [], 0
        self.after = iter(after)
        self.due = next(self.after, None)

    def observe(self, seen):
        self.seen.append(seen)
        self.step += seen.supersteps
        if self.due is None or self.step < self.due:
            return None
        while self.due is not None and self.due <= self.step:
            self.due = next(self.after, None)
        self.parts.append(self.draw.integers(0, self.k, self.n).astype(np.int32))
        return MoveAdvice(self.parts[-1], "random", 0.5, 0.25)

    def moved(self, seconds):
        self.took.append(seconds)


def moving(graph, k, after=range(1, 4), seed=0):
    """Return a watch under which vertices move after the first supersteps, as run_program takes."""
    return RunWatch(rebalancing=Rebalancing(RandomMoves(graph.n, k, after, seed), every=1))


def is_right(app, case, **how):
    """Run an app on a case; whether the values are right. how: as for run_program."""
    graph, partition, source = case
    if app == "pagerank":
        found = run_program(pagerank.PROGRAM, graph, partition, most=STEPS, **how)
        return pagerank.verify(graph, found.values, STEPS)
    if app == "wcc":
        return wcc.verify(graph, run_program(wcc.PROGRAM, graph, partition, **how).values)
    if app == "spmv":
        found = run_program(spmv.SPMV, graph, partition, most=STEPS, **how)
        return spmv.verify_products(graph, found.values, STEPS)
    if app in ("kcore", "triangles"):
        of, program = {
            "kcore": (kcore, kcore.KCORE),
            "triangles": (triangles, triangles.TRIANGLES),
        }[app]
        edges = graph.undirected() if isinstance(graph, DirectedGraph) else graph
        return of.verify(edges, run_program(program, edges, partition, **how).values)
    of = {"bfs": bfs, "sssp": sssp}[app]
    given = {"source": source}
    found = run_program(of.PROGRAM, graph, partition, parameters=given, **how)
    return of.verify(graph, found.values, source)

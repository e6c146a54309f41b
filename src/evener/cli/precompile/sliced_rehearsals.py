"""Small real calls that use every kernel of graphs in slices, also on ranks."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from evener.arrays import IntVector
from evener.cli.precompile.samples import places, weighted
from evener.errors import NotFoundError
from evener.plans.partition import Contract
from evener.platforms.platform import Device, Level, Link, Platform

if TYPE_CHECKING:
    from evener.graphs.graph import Graph
    from evener.running.comm import Comm


def in_slices() -> None:
    """Divide graphs slice by slice: without weights, with integer and with real weights."""
    from evener.planning.options import PlanOptions
    from evener.planning.plan_slices import plan_slices
    from evener.sliced.blocks import SlicedOptions, sliced_blocks
    from evener.sliced.clusters import clusters_across, clusters_by_labels
    from evener.sliced.recounting import recounted_in_slices
    from evener.sliced.rows import InMemoryGraph
    from evener.sliced.tools import one_pass_blocks
    from evener.sliced.uneven import uneven_blocks

    flat = next(places())
    limits = Contract(np.full(4, 900.0), np.full(4, 800.0), np.full(4, 1000.0))
    for graph in (flat, flat.with_(coords=None)):
        sliced_blocks(InMemoryGraph(graph), limits, SlicedOptions(groups=2))
        one_pass_blocks(InMemoryGraph(graph), limits, "ldg")
    many = Contract(np.full(300, flat.n / 300), np.zeros(300), np.full(300, float(flat.n)))
    sliced_blocks(InMemoryGraph(flat), many, SlicedOptions(groups=2))
    clusters_across(InMemoryGraph(flat), 8)
    for graph in (flat, *weighted(flat)):
        for k in (4, 300):
            _in_windows(graph, k)
    linked = _linked()
    for graph in (flat, *weighted(flat)):
        seconds = PlanOptions(objective="seconds")
        plan_slices(InMemoryGraph(graph), linked, seconds, SlicedOptions(whole=0))
    for graph in weighted(flat):
        half = graph.total_weight / 4
        own = Contract(np.full(4, half), np.full(4, half / 2), np.full(4, 2 * half))
        sliced_blocks(InMemoryGraph(graph), own, SlicedOptions(groups=2))
        uneven_blocks(InMemoryGraph(graph), own)
        clusters_by_labels(InMemoryGraph(graph), 4.0)
    clusters_by_labels(InMemoryGraph(flat), 4.0)
    narrow = Contract(np.full(4, 1.0), np.zeros(4), np.full(4, 1.0))
    with suppress(NotFoundError):
        uneven_blocks(InMemoryGraph(flat), narrow)
    scattered = np.random.default_rng(1).integers(0, 100, flat.n).astype(np.int32)
    recounted_in_slices(InMemoryGraph(flat), scattered, 100)  # the table of pairs is enlarged


def _in_windows(graph: Graph, k: int) -> None:
    """Refine the borders of k blocks by windows, as if memory were short."""
    from evener.partitioning.refine import RefineOptions
    from evener.sliced.borders import BlockBorders, near_clusters
    from evener.sliced.clusters import clusters_in_slices, entries_of_clusters
    from evener.sliced.contraction import contract
    from evener.sliced.rows import InMemoryGraph
    from evener.sliced.windows import refine_windows

    whole, heaviest = InMemoryGraph(graph), 4.0 * graph.total_weight / graph.n
    entries_of_clusters(whole, heaviest, 0.0)
    clusters = clusters_in_slices(whole, heaviest)
    coarse = contract(whole, clusters.of, clusters.count, across=False)
    assert coarse is not None
    part = (np.arange(coarse.n) * k // coarse.n).astype(np.int32)
    near = near_clusters(coarse, part, 1)
    borders = BlockBorders.found(whole, clusters.of, coarse, part, k, near)
    loads = borders.weights
    refine_windows(borders, Contract(loads, 0.9 * loads, 1.1 * loads), 1000, 1, RefineOptions())
    borders.all_blocks()


def _linked() -> Platform:
    levels = Level("net", Link(1e-6, 1e-9)), Level("node", Link(1e-7, 1e-10))
    devices = tuple(Device(f"d{i}", 1e8 * (1 + i % 2), at=f"n{i % 2}") for i in range(4))
    return Platform(devices, levels)


def rows_on_ranks() -> None:
    """Make graphs whose rows are on ranks, weighted or not, in order or not; find errors in such
    graphs."""
    from evener.running.comm import run_threads
    from evener.sliced.blocks import SlicedOptions, sliced_blocks
    from evener.sliced.curve_order import locality
    from evener.sliced.distributed import DistributedGraph
    from evener.sliced.recounting import recounted_in_slices

    n, ways = 200, np.array([1, -1])
    numbers = np.arange(n)[::-1].copy()
    ring = ((np.arange(n)[:, None] + ways) % n).ravel()

    def work(comm: Comm) -> None:
        mine = slice(n * comm.rank // 2, n * (comm.rank + 1) // 2)
        xadj, adjncy = np.arange(0, n + 1, 2), ring.reshape(n, 2)[mine].ravel()
        for adjwgt in (None, np.full(n, 2.0)):
            plain = DistributedGraph.from_local(comm, xadj, adjncy, adjwgt=adjwgt)
            turned = n - 1 - adjncy
            graph = DistributedGraph.from_local(
                comm, xadj, turned, adjwgt=adjwgt, numbers=numbers[mine], vwgt=np.full(n // 2, 2)
            )
            locality(graph)
            twelve = Contract(np.full(12, 200 / 12), np.full(12, 10.0), np.full(12, 25.0))
            part = sliced_blocks(plain, twelve, SlicedOptions()).part
            recounted_in_slices(graph, part, 12)

    run_threads(2, work)


def rows_that_move() -> None:
    """Move rows between devices as one becomes slow: weighted or not, vertices in any order."""
    from evener.running.comm import run_threads

    flat = next(places())
    numbers = np.random.default_rng(1).permutation(flat.n)
    for graph in (flat, *weighted(flat)):
        run_threads(1, partial(_move_rows, graph, np.arange(flat.n)))
    for graph in (flat, flat.with_(coords=None)):
        run_threads(1, partial(_move_rows, graph, numbers))


def _move_rows(graph: Graph, numbers: IntVector, comm: Comm) -> None:
    """Rebalance a graph in which vertex i has the number numbers[i]."""
    from evener.planning.plan import plan
    from evener.rebalancing.rebalancer import Rebalancer
    from evener.sliced.distributed import DistributedGraph

    rows = DistributedGraph.from_local(
        comm, graph.xadj, numbers[graph.adjncy], numbers=numbers, vwgt=graph.vwgt,
        adjwgt=graph.adjwgt, coords=graph.coords,
    )  # fmt: skip
    found = plan(rows, _linked(), objective="cut")
    rebalancer = Rebalancer(found, rows)
    for slow in (1, 1, 1, 5, 5, 5, 5, 5):
        rebalancer.observe(found.prediction.compute * np.array([slow, 1, 1, 1]))
    assert rebalancer.moves

"""Orders of a device's vertices: the same graph, fewer cache lines, the same results."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from evener.graphs.generating.delaunay import delaunay
from evener.graphs.graph import Graph
from evener.plans.partition import Partition
from evener.running.distributing import distribute
from evener.running.local_graphs import LocalArcs
from evener.running.locality.ordering import lines_per_arc, locality_order, renumbered
from tests.running.engine.parts import random_graph, whole


def arcs_by_name(local):
    """Return the set of (tail, head, weight) by global numbers that a part's `out` holds."""
    offsets, ends, weights = local.out
    tails = np.repeat(local.owned, np.diff(offsets))
    given = np.ones(ends.size) if weights is None else weights
    return sorted(zip(tails.tolist(), local.numbers[ends].tolist(), given.tolist(), strict=True))


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("directed", [False, True])
def test_renumbered_part_is_the_same_graph(k, directed):
    graph = random_graph(200, 700, k, directed=directed, weights=9)
    blocks = np.random.default_rng(1).integers(0, k, 200).astype(np.int32)
    for local in distribute(graph, Partition(blocks, k), want="both", threads=1):
        order = locality_order(local)
        assert sorted(order[: local.n_interior]) == list(range(local.n_interior))
        assert sorted(order) == list(range(local.n_owned))
        made = renumbered(local, order)
        assert arcs_by_name(made) == arcs_by_name(local)
        assert (made.out is made.into) == (local.out is local.into)
        starts, ends = made.into.offsets, made.into.ends
        assert all((np.diff(ends[a:b].astype(int)) >= 0).all() for a, b in pairwise(starts))
        degree_of = dict(zip(local.numbers.tolist(), local.degrees.tolist(), strict=True))
        assert [degree_of[v] for v in made.numbers.tolist()] == made.degrees.tolist()
        for q, sent in local.sends.items():
            assert made.numbers[made.sends[q]].tolist() == local.numbers[sent].tolist()


def shuffled(graph, seed=1):
    """Return the graph with its vertices numbered at random."""
    numbers = np.random.default_rng(seed).permutation(graph.n)
    tails = np.repeat(np.arange(graph.n), np.diff(graph.xadj))
    return Graph.from_edges(graph.n, numbers[tails], numbers[graph.adjncy])


def test_shuffled_mesh_reads_few_lines_again():
    part = whole(shuffled(delaunay(4096, seed=1)))
    found = renumbered(part, locality_order(part))
    before, after = (lines_per_arc(one.out, 4096) for one in (part, found))
    assert after < 0.3 * before


def test_hubs_come_first():
    graph = Graph.from_edges(300, np.full(250, 299), np.arange(250))
    order = locality_order(whole(graph))
    assert order[0] == 299
    assert sorted(order) == list(range(300))


def test_lines_per_arc_counts_lines_of_windows_by_hand():
    arcs = LocalArcs(np.array([0, 4], np.uint32), np.array([0, 7, 8, 16], np.uint32), None)
    assert lines_per_arc(arcs, 24) == 3 / 4
    assert lines_per_arc(LocalArcs(np.zeros(2, np.uint32), np.empty(0, np.uint32), None), 1) == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_weights_keep_their_type_and_bits(dtype):
    graph = random_graph(60, 200, 4)
    local = whole(graph)
    tails = np.repeat(np.arange(60), np.diff(local.out.offsets))
    weights = (np.minimum(tails, local.out.ends) * 1.1 - 3).astype(dtype)
    arcs = local.out._replace(weights=weights)
    part = replace(local, out=arcs, into=arcs)
    made = renumbered(part, locality_order(part))
    assert made.out.weights.dtype == dtype
    assert arcs_by_name(made) == arcs_by_name(part)

"""Clusters by labels: none too heavy, numbered without gaps, the same whoever holds the slices."""

import numpy as np
import pytest

from evener.graphs.generating.random_graphs import barabasi_albert, rmat
from evener.graphs.graph import Graph
from evener.io import write_graph
from evener.running.comm import run_threads
from evener.sliced import labels_kernels as kernels
from evener.sliced.clusters import clusters_by_labels
from evener.sliced.distributed import DistributedGraph
from evener.sliced.files import FileGraph
from evener.sliced.rows import InMemoryGraph
from tests.sliced.rank_rows import random_graph, ranges_of, rows_of


def star(leaves):
    return Graph.from_edges(leaves + 1, np.zeros(leaves, np.int64), np.arange(1, leaves + 1))


def kinds():
    graph = barabasi_albert(900, 3, 4)
    return {
        "unit": graph,
        "whole": random_graph(900, 3000, 4, weighted=True),
        "real": graph.with_(vwgt=np.random.default_rng(1).random(900) + 0.1),
        "isolated": rmat(9, 2),
        "star": star(700),
    }


@pytest.mark.parametrize("heaviest", [1.0, 4.0, 16.0])
@pytest.mark.parametrize("kind", kinds())
def test_no_cluster_is_too_heavy_and_numbers_have_no_gaps(kind, heaviest):
    graph = kinds()[kind]
    found = clusters_by_labels(InMemoryGraph(graph), heaviest)
    weight = np.bincount(found.of, graph.weights(), found.n_clusters)
    members = np.bincount(found.of, minlength=found.n_clusters)
    assert members.min() > 0
    assert (weight[members > 1] <= heaviest * (1 + 1e-6)).all()
    u = np.repeat(np.arange(graph.n), graph.degrees)
    each = np.ones(graph.adjncy.size) if graph.adjwgt is None else graph.adjwgt
    inside = each[found.of[u] == found.of[graph.adjncy]].sum() / each.sum()
    assert found.inside == pytest.approx(inside)
    if heaviest == 4.0 and kind == "unit":
        assert found.n_clusters < 0.5 * graph.n


def test_leaves_of_a_hub_join_each_other():
    found = clusters_by_labels(InMemoryGraph(star(700)), 4.0)
    # In a slice of 11 vertices, at most three are left over.
    assert found.n_clusters <= 64 * 3


@pytest.mark.parametrize("kind", kinds())
def test_the_same_clusters_on_ranks_and_from_a_file(kind, tmp_path):
    graph = kinds()[kind]
    expected = clusters_by_labels(InMemoryGraph(graph), 5.0)

    def work(comm):
        bounds = ranges_of(graph.n, comm.size)
        rows = rows_of(graph, range(bounds[comm.rank], bounds[comm.rank + 1]))
        held = DistributedGraph.from_local(comm, **rows)
        found = clusters_by_labels(held, 5.0)
        filled = found.of.copy()
        held.fill(filled)
        assert (filled == found.of).all()  # those of ghosts, too
        assert found[1:] == pytest.approx(expected[1:])
        return held.back(found.of[: held.n_own])

    for ranks in (2, 3, 8):
        assert (np.concatenate(run_threads(ranks, work)) == expected.of).all(), ranks
    write_graph(tmp_path / "g.ecsr", graph)
    with FileGraph.at(tmp_path / "g.ecsr") as held:
        assert (clusters_by_labels(held, 5.0).of == expected.of).all()


def test_granting_is_as_one_by_one():
    rng = np.random.default_rng(3)
    for weights in (np.empty(0, np.float32), rng.integers(1, 4, 60).astype(np.float32)):
        each = np.ones(60) if weights.size == 0 else weights
        askers, asked = rng.permutation(60)[:40], rng.integers(0, 60, 40)
        asked = np.where(asked == askers, (asked + 1) % 60, asked)
        labels = kernels.Labels(
            np.arange(60, dtype=np.int32), each.astype(np.float32), np.zeros(60, np.int8),
            np.zeros(60, np.float32), np.full(60, -1, np.int32),
        )  # fmt: skip
        granted = np.empty(40, np.bool_)
        own = weights[askers] if weights.size else weights
        count = kernels.grant(askers, asked, own, labels, np.float32(6), granted)
        home = {v: [v] for v in range(60)}
        for v, c, yes in zip(askers, asked, granted, strict=True):
            may = home[v] == [v] and bool(home[c]) and each[[*home[c], v]].sum() <= 6
            assert yes == may
            if may:
                home[v] = []
                home[c].append(v)
        assert count == granted.sum() > 5

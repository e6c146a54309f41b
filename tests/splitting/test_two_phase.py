"""Two-phase streaming: clusters beside the rule of the paper, packing, and what it is good for."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evener.graphs.edge_list import EdgeList
from evener.plans.edge_partition import edge_metrics
from evener.plans.partition import Contract
from evener.splitting.clustering_kernels import cluster
from evener.splitting.streaming import VertexClusters, homes_of, two_phase
from tests.examples import with_examples
from tests.graphs.test_edge_list import edge_lists


@with_examples(20)
@given(edge_lists(), st.integers(1, 12))
def test_ends_join_the_cluster_of_more_volume(edges, most):
    edges = edges.opened()
    found = VertexClusters.single(edges.degrees)
    cluster(edges.tails, edges.heads, edges.degrees, most, *found)
    of = list(range(edges.n))

    def volume(c):
        return sum(int(edges.degrees[v]) for v in range(edges.n) if of[v] == c)

    for u, v in zip(edges.tails.tolist(), edges.heads.tolist(), strict=True):
        if of[u] == of[v] or max(volume(of[u]), volume(of[v])) > most:
            continue
        rest = [volume(of[w]) - edges.degrees[w] for w in (u, v)]
        mover, other = (u, v) if rest[0] <= rest[1] else (v, u)
        if volume(of[other]) + edges.degrees[mover] <= most:
            of[mover] = of[other]
    assert found.of.tolist() == of
    assert found.volumes.tolist() == [volume(c) for c in range(edges.n)]


def test_clusters_are_packed_by_targets_the_largest_first():
    clusters = VertexClusters(np.array([0, 0, 2, 3, 4]), np.array([6, 0, 3, 2, 1]))
    assert homes_of(clusters, np.array([1.0, 3.0])).tolist() == [1, 1, 0, 1, 1]


def test_cliques_stay_whole():
    """Eight cliques of six for four blocks, their edges in any order: no vertex is copied."""
    pairs = [(a + c, b + c) for c in range(0, 48, 6) for a in range(6) for b in range(a + 1, 6)]
    edges = EdgeList(48, *np.array(pairs).T)
    targets = np.full(4, 30.0)
    found = two_phase(edges, Contract(targets, targets, targets), "default", 7).partition
    assert edge_metrics(edges, found).copies == 0

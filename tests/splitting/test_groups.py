"""Groups of edges: what they hold, and the lists of vertices between them, against loops."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evener.graphs.edge_list import EdgeList
from evener.graphs.generating.grid import grid
from evener.splitting.groups import levels_of, single_edges
from tests.examples import with_examples
from tests.graphs.test_edge_list import edge_lists


@with_examples(50)
@given(edge_lists(weighted=True), st.randoms())
def test_groups_stay_in_blocks_and_below_their_most_and_know_their_vertices(edges, random):
    part = np.array([random.randrange(2) for _ in range(edges.m)], np.int32)
    most = float(max(edges.weights.max(), random.randrange(1, 12)))
    levels = levels_of(single_edges(edges), part, 1, most, np.random.default_rng(1))
    of = np.arange(edges.m)
    for cluster, groups in zip(levels.clusters, levels.groups[1:], strict=True):
        of = cluster[of]
        count = groups.work.size
        assert groups.work.tolist() == np.bincount(of, edges.weights, count).tolist()
        assert groups.work.max() <= most
        assert all(len({part[e] for e in np.flatnonzero(of == g)}) == 1 for g in range(count))
        listed = [set(row) for row in rows(groups.offsets, groups.groups)]
        assert sorted(map(sorted, listed)) == sorted(
            sorted(one) for one in slow_lists(edges, of) if len(one) > 1
        )
        for g, pins in enumerate(rows(groups.starts, groups.pins)):
            assert pins == [v for v, one in enumerate(listed) if g in one]


def rows(offsets, values):
    return [values[a:b].tolist() for a, b in itertools.pairwise(offsets)]


def slow_lists(edges, of):
    """For each vertex the groups of its edges."""
    found = [set() for _ in range(edges.n)]
    for e in range(edges.m):
        for v in (edges.tails[e], edges.heads[e]):
            found[v].add(int(of[e]))
    return found


def test_levels_shrink_until_few_groups_are_left():
    edges = EdgeList.of_graph(grid((30, 30)))
    whole = np.zeros(edges.m, np.int32)
    levels = levels_of(single_edges(edges), whole, 60, edges.m / 10, np.random.default_rng(1))
    counts = [groups.work.size for groups in levels.groups]
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] <= 60 < counts[-2]

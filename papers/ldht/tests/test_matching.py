"""Heavy-edge matching inside blocks: pairs, heavy edges first, nothing lost."""

from itertools import pairwise

import numpy as np
import pytest

from evener.graphs.generating.delaunay import delaunay
from evener.graphs.graph import Graph
from papers.ldht.matching import MatchedLevel, _matching, matched_levels


def level_of(graph, part=None):
    weights = np.ones(graph.adjncy.size) if graph.adjwgt is None else graph.adjwgt
    part = np.zeros(graph.n, np.int32) if part is None else part
    return MatchedLevel(
        graph.xadj, graph.adjncy, graph.weights().astype(np.int64), weights.astype(np.int64), part
    )


def cut(level, part):
    u = np.repeat(np.arange(level.vwgt.size), np.diff(level.xadj))
    return level.adjwgt[part[u] != part[level.adjncy]].sum() // 2


def test_the_heaviest_edges_are_matched():
    path = Graph.from_edges(6, [0, 1, 2, 3, 4], [1, 2, 3, 4, 5], weights=[1, 5, 1, 1, 7])
    found = _matching(level_of(path), 10.0, np.random.default_rng(1))
    assert (found[1], found[4]) == (found[2], found[5])
    assert np.unique(found).size == 4


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_pairs_lie_in_one_block_and_no_two_neighbours_are_left(seed):
    graph = delaunay(400, seed)
    part = (graph.coords[:, 0] * 4).astype(np.int32)
    level = level_of(graph, part)
    found = _matching(level, 10.0, np.random.default_rng(seed))
    sizes = np.bincount(found)
    assert set(sizes.tolist()) <= {1, 2}
    pairs = [np.flatnonzero(found == c) for c in np.flatnonzero(sizes == 2)]
    assert all(part[a] == part[b] and b in graph.adjncy[graph.xadj[a] : graph.xadj[a + 1]]
               for a, b in pairs)  # fmt: skip
    # Maximal: an edge inside a block has an end in a pair.
    u = np.repeat(np.arange(graph.n), graph.degrees)
    v = graph.adjncy
    single = sizes[found] == 1
    assert not (single[u] & single[v] & (part[u] == part[v])).any()


def test_levels_keep_weights_blocks_and_the_cut():
    graph = delaunay(3000, 5).with_(vwgt=1 + np.arange(3000) % 3)
    part = (graph.coords[:, 1] * 3).astype(np.int32)
    levels = matched_levels(level_of(graph, part), 200, seed=4)
    assert len(levels) > 3
    assert levels[-1].vwgt.size < 300
    heaviest = 1.5 * graph.total_weight / 200
    for level, following in pairwise(levels):
        assert following.vwgt.sum() == graph.total_weight
        assert following.vwgt.max() <= heaviest
        assert (following.part[level.coarse_of] == level.part).all()
        assert cut(following, following.part) == cut(level, level.part)


def test_no_vertex_grows_too_heavy_and_nothing_to_match_ends():
    lonely = Graph.from_edges(50, [], [])
    assert len(matched_levels(level_of(lonely), 10, seed=1)) == 1

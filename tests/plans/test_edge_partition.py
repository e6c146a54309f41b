"""Copies, replication, loads and vertices of edge partitions: against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.errors import InputError
from evener.graphs.edge_list import EdgeList
from evener.plans.edge_partition import EdgePartition, blocks_of_vertices, edge_metrics
from tests.graphs.test_edge_list import edge_lists


def blocks_at(edges, part):
    """For each vertex the set of blocks that its edges are in."""
    found = [set() for _ in range(edges.n)]
    for u, v, b in zip(edges.tails, edges.heads, part, strict=True):
        found[u].add(int(b))
        found[v].add(int(b))
    return found


def slow_copies(edges, part):
    return sum(len(blocks) - 1 for blocks in blocks_at(edges, part) if blocks)


@given(edge_lists(weighted=True), st.integers(1, 5), st.randoms())
def test_as_defined(edges, k, random):
    part = [random.randrange(k) for _ in range(edges.m)]
    found = edge_metrics(edges, EdgePartition(part, k))
    at = blocks_at(edges, part)
    assert found.copies == slow_copies(edges, part)
    assert found.replication == pytest.approx(sum(map(len, at)) / sum(map(bool, at)))
    assert found.vertices.tolist() == [sum(b in blocks for blocks in at) for b in range(k)]
    loads = [sum(w for w, c in zip(edges.weights, part, strict=True) if c == b) for b in range(k)]
    assert found.loads.tolist() == loads
    assert blocks_of_vertices(edges, EdgePartition(part, k)).tolist() == list(map(len, at))
    assert found.most_vertices == max(found.vertices)
    for b in range(k):
        count = sum(c == b for c in part)
        assert found.edges[b] == count
        assert found.bytes[b] == 16 * count + 24 * sum(b in blocks for blocks in at)
    wanted = np.arange(1, k + 1)
    of_target = [
        load / sum(loads) * wanted.sum() / w for load, w in zip(loads, wanted, strict=True)
    ]
    assert found.balance(wanted) == pytest.approx(max(of_target))


@given(edge_lists(), st.integers(1, 4), st.randoms())
def test_bytes_exchanged_are_those_of_masters_and_mirrors(edges, k, random):
    """Each block but a vertex's first sends its master a value, and gets the new one back."""
    part = [random.randrange(k) for _ in range(edges.m)]
    sent = 0
    for blocks in blocks_at(edges, part):
        for mirror in sorted(blocks)[1:]:
            for _ in ((mirror, min(blocks)), (min(blocks), mirror)):
                sent += 4
    found = edge_metrics(edges, EdgePartition(part, k))
    assert found.exchanged_bytes(4) == sent
    assert found.exchanged_bytes() == 2 * sent


def test_a_loop_is_work_and_copies_nothing():
    edges = EdgeList(2, [0, 0, 1], [0, 1, 1])
    found = edge_metrics(edges, EdgePartition([0, 1, 1], 2))
    assert (found.copies, found.vertices.tolist(), found.loads.tolist()) == (1, [1, 2], [1, 2])


def test_a_triangle_and_a_star_that_share_a_vertex():
    """Six vertices and edges in two blocks, as in Figure 1: three copies in (a), one at best."""
    edges = EdgeList(6, [0, 0, 1, 2, 2, 2], [1, 2, 2, 3, 4, 5])
    assert edge_metrics(edges, EdgePartition([0, 1, 1, 0, 0, 1], 2)).copies == 3
    best = edge_metrics(edges, EdgePartition([0, 0, 0, 1, 1, 1], 2))
    assert (best.copies, best.replication) == (1, 7 / 6)
    assert best.relative_to(np.array([1.0, 3.0])).tolist() == [2.0, 2 / 3]


@pytest.mark.parametrize(
    ("part", "reason"),
    [([0, 2], "edge 1 is in block 2, but there are 2 blocks"), ([-1, 0], "edge 0 is in block -1")],
)
def test_other_blocks_are_refused(part, reason):
    with pytest.raises(InputError, match=reason):
        EdgePartition(part, 2)


def test_a_partition_of_other_edges_is_refused():
    with pytest.raises(InputError, match="2 entries, but there are 1 edges"):
        edge_metrics(EdgeList(2, [0], [1]), EdgePartition([0, 1], 2))


def test_blocks_in_a_mapped_file_are_not_copied(tmp_path):
    part = np.memmap(tmp_path / "part", np.int32, "w+", shape=(5,))
    assert np.shares_memory(EdgePartition(part, 1).part, part)

"""Shares of edges, against lists of arcs by hand."""

import numpy as np
import pytest

from evener.errors import InputError, UsageError
from evener.graphs.edge_list import EdgeList
from evener.graphs.graph import Graph
from evener.plans.edge_partition import EdgePartition
from evener.running.edge_shares import DividedEdges, edge_shares
from tests.running.edge_cases import divided, drawn, edges_of


def arcs_in(share):
    """Return the arcs of a share by global numbers, with their weights, sorted; out and in."""
    found = []
    for arcs in (share.out, share.into):
        ends = np.repeat(np.arange(share.n_local), np.diff(arcs.offsets.astype(int)))
        numbers = share.numbers
        found.append(sorted(zip(numbers[ends], numbers[arcs.ends], arcs.weights, strict=True)))
    return found[0], sorted((tail, head, weight) for head, tail, weight in found[1])


@pytest.mark.parametrize(("seed", "of"), [(0, "graph"), (2, "arcs"), (1, "graph"), (3, "arcs")])
def test_every_arc_is_on_the_device_of_its_edge(seed, of):
    graph, k = drawn(seed), 3
    given = divided(graph, k, of, seed, used=2)
    edges = edges_of(graph, of)
    blocks = {}
    for tail, head, b in zip(edges.tails, edges.heads, given.partition.part, strict=True):
        blocks[tail, head] = b
        if of == "graph":
            blocks[head, tail] = b
    xadj, adjncy, weights = graph.arcs_out()
    tails = np.repeat(np.arange(graph.n), np.diff(xadj))
    shares = edge_shares(graph, given)
    for device, share in shares.items():
        expected = sorted(
            arc for arc in zip(tails, adjncy, weights, strict=True) if blocks[arc[:2]] == device
        )
        assert arcs_in(share) == (expected, expected)
        assert np.array_equal(share.degrees, np.diff(xadj)[share.numbers])
    owned = np.concatenate([share.owned for share in shares.values()])
    assert np.array_equal(np.sort(owned), np.arange(graph.n))


def test_masters_send_what_mirrors_receive():
    shares = edge_shares(graph := drawn(4), divided(graph, 4))
    for device, share in shares.items():
        numbers = share.numbers
        first, sent = share.n_interior, share.sends.values()
        assert (np.diff(numbers[:first]) > 0).all()
        assert (np.diff(numbers[first : share.n_owned]) > 0).all()
        assert set(np.concatenate([*sent]).tolist()) == set(range(first, share.n_owned))
        for other, (first, end) in share.receives.items():
            sent = shares[other].sends[device]
            assert np.array_equal(shares[other].numbers[sent], numbers[first:end])


def test_one_device_alone_and_wrong_ones():
    graph = drawn(2)
    given = divided(graph, 3)
    alone, whole = edge_shares(graph, given, [2]), edge_shares(graph, given)
    assert list(alone) == [2]
    assert np.array_equal(alone[2].out.ends, whole[2].out.ends)
    assert alone[2].nbytes > 0
    with pytest.raises(
        InputError, match="device 3 does not exist: edges are divided over 3 devices"
    ):
        edge_shares(graph, given, [3])
    with pytest.raises(InputError, match=r"the partition has .* entries, but"):
        edge_shares(Graph.from_edges(2, [0], [1]), given)
    with pytest.raises(UsageError, match="kind of edges"):
        edge_shares(graph, given._replace(of="lines"))


def test_edges_of_a_file_that_repeats_them_count_by_the_first():
    graph = Graph.from_edges(3, [0, 1], [1, 2])
    listed = EdgeList(3, np.array([0, 0, 1]), np.array([1, 1, 2]))
    given = DividedEdges(EdgePartition.of([1, 0, 0], 2), "graph", listed)
    shares = edge_shares(graph, given)
    assert [share.out.ends.size for share in shares.values()] == [2, 2]
    other = DividedEdges(EdgePartition.of([1, 0, 0], 2), "graph", listed)
    with pytest.raises(InputError, match="edges that are in no block"):
        edge_shares(Graph.from_edges(3, [0], [2]), other)

"""Edges of files, divided as they are read: limits on both sides, the same however they come."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.graphs.edge_list import EdgeList
from evener.graphs.generating.random_graphs import rmat
from evener.io.graphs.edge_pieces import EdgePieces
from evener.plans.edge_partition import EdgePartition, edge_metrics
from evener.plans.partition import Contract
from evener.splitting.from_files import BYTES_PER_EDGE, STREAMS, hub_degree, split_pieces
from tests.examples import with_examples


def limits(targets, m, epsilon=0.03):
    wanted = np.asarray(targets, float) / np.sum(targets) * m
    return Contract(wanted, np.floor(wanted * (1 - epsilon)), np.ceil(wanted * (1 + epsilon)))


def divided(ends, contract, method, tmp_path, size=None):
    np.save(tmp_path / "edges.npy", ends)
    source = EdgePieces(tmp_path / "edges.npy")
    part = np.empty(len(ends), np.int32)
    found, _ = split_pieces(source, source.survey(), contract, method, part, size=size)
    return part, found


@pytest.mark.parametrize("method", STREAMS)
@with_examples(8)
@given(
    st.lists(st.tuples(*[st.integers(0, 9)] * 2), min_size=4, max_size=40),
    st.lists(st.integers(1, 9), min_size=1, max_size=4),
    st.sampled_from([1, 3, 100]),
)
def test_streams_keep_both_limits(method, tmp_path_factory, ends, targets, size):
    """Of any edges, loops and repeated ones as well; copies are those that a recount finds."""
    contract = limits(targets, len(ends), 0.2)
    folder = tmp_path_factory.mktemp("stream")
    part, found = divided(np.array(ends), contract, method, folder, size)
    edges = EdgeList(10, *np.array(ends).T)
    recount = edge_metrics(edges, EdgePartition(part, contract.k))
    assert (contract.low <= recount.loads).all()
    assert (recount.loads <= contract.high).all()
    assert found.copies == recount.copies
    assert found.loads.tolist() == recount.loads.tolist()
    assert found.vertices.tolist() == recount.vertices.tolist()
    assert found.edges.tolist() == recount.edges.tolist()
    again, _ = divided(np.array(ends), contract, method, folder, size)
    assert part.tolist() == again.tolist()


@pytest.mark.parametrize("method", STREAMS)
def test_pieces_do_not_matter(monkeypatch, tmp_path, method):
    ends = np.random.default_rng(4).integers(0, 60, (500, 2))
    contract = limits([1, 1, 3], 500)
    whole, _ = divided(ends, contract, method, tmp_path, 100)
    monkeypatch.setattr("evener.io.graphs.edge_pieces.ROWS", 37)
    pieces, _ = divided(ends, contract, method, tmp_path, 100)
    assert pieces.tolist() == whole.tolist() or method == "random"  # which draws for a piece


EDGES = EdgeList.of_graph(rmat(9, 3))


@pytest.fixture
def source(tmp_path):
    np.save(tmp_path / "x.npy", np.stack([EDGES.tails, EDGES.heads], axis=1))
    return EdgePieces(tmp_path / "x.npy")


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_edges_in_memory_are_as_many_as_fit(source, share):
    """At the next power of two they would not fit."""
    memory = share * EDGES.m * BYTES_PER_EDGE
    degree = hub_degree(source, source.survey(), memory)
    lower = np.minimum(EDGES.degrees[EDGES.tails], EDGES.degrees[EDGES.heads])
    assert np.count_nonzero(lower <= degree) <= share * EDGES.m
    if share < 1:
        assert np.count_nonzero(lower <= max(2 * degree, 1)) > share * EDGES.m
    else:
        assert degree >= lower.max()


def test_less_memory_means_more_copies(source):
    contract, copies = limits([1, 1, 2, 4], EDGES.m), []
    for share in (1.0, 0.3, 0.0):
        part = np.empty(EDGES.m, np.int32)
        found, _ = split_pieces(
            source, source.survey(), contract, "hep", part, memory=share * EDGES.m * BYTES_PER_EDGE
        )
        recount = edge_metrics(EDGES, EdgePartition(part, 4))
        assert (contract.low <= recount.loads).all()
        assert (recount.loads <= contract.high).all()
        assert found.copies == recount.copies
        copies.append(found.copies)
    assert copies[0] < copies[1] <= 1.05 * copies[2]

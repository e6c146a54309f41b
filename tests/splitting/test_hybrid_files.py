"""The hybrid partitioner on a file: what is in memory, and blocks as those of the one in memory."""

import numpy as np
import pytest

from evener.graphs.edge_list import EdgeList
from evener.graphs.generating.random_graphs import rmat
from evener.io.graphs.edge_pieces import EdgePieces
from evener.plans.edge_partition import EdgePartition, edge_metrics
from evener.splitting.from_files import split_pieces
from evener.splitting.hybrid_files import BYTES_PER_EDGE, hub_degree
from tests.splitting.test_from_files import limits

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

"""What blocks of edges stage, and products by them."""

import numpy as np
import pytest

from evener.errors import InfeasibleError
from evener.graphs.edge_list import EdgeList
from evener.plans.edge_partition import EdgePartition, edge_metrics
from evener.running.locality import staging
from evener.running.locality.staging import BlockProduct, StagedBlocks, fewest_blocks
from tests.running.locality.staged_cases import blocks_of, interactions, matrix


def touched(edges):
    return int(np.count_nonzero(edges.degrees))


@pytest.mark.parametrize("k", [1, 2, 7])
def test_loads_are_copies_and_vertices_with_an_edge(k):
    A = matrix(seed=k)
    edges, partition, blocks = blocks_of(A, k)
    assert blocks.loads == edge_metrics(edges, partition).copies + touched(edges)
    multiply, x = BlockProduct(blocks, A.tocsr().data), np.random.default_rng(1).random(17)
    np.testing.assert_allclose(multiply(x), A @ x, rtol=1e-12)
    assert multiply.loads == blocks.loads
    edges, partition, blocks = interactions(k=k)
    assert blocks.loads == edge_metrics(edges, partition).copies + touched(edges)


def test_lists_are_by_first_use_and_local_numbers_lead_back():
    for edges, partition, blocks, ends in (
        (*interactions(), "both"),
        (*blocks_of(matrix(), 3), "rows"),
    ):
        staged = blocks.outputs
        for b in range(blocks.k):
            mine = np.flatnonzero(partition.part == b)
            own = blocks.edges[blocks.starts[b] : blocks.starts[b + 1]]
            assert own.tolist() == mine.tolist()
            used = np.column_stack([edges.tails, edges.heads])[mine].ravel()
            used = used if ends == "both" else edges.tails[mine]
            listed = staged.vertices[staged.starts[b] : staged.starts[b + 1]]
            assert listed.tolist() == list(dict.fromkeys(used.tolist()))
            scale = 2 if ends == "both" else 1
            local = staged.local[scale * blocks.starts[b] : scale * blocks.starts[b + 1]]
            assert listed[local].tolist() == used.tolist()


def test_numbers_by_first_use():
    staged = staging.Staged(
        np.array([0, 2, 4]), np.array([4, 1, 1, 3], np.int32), np.zeros(0, np.uint16), 5
    )
    assert staged.by_first_use().tolist() == [3, 1, 4, 2, 0]
    assert staged.renumbered(staged.by_first_use()).vertices.tolist() == [0, 1, 1, 2]
    offsets, places = staged.parts()
    assert offsets.tolist() == [0, 0, 2, 2, 3, 4]
    assert places.tolist() == [1, 2, 3, 0]


def in_runs(edges, n_rows):
    """Return what makes k blocks of equal runs of a matrix's entries."""

    def make(k):
        part = np.arange(edges.m) * k // edges.m
        return StagedBlocks.of_matrix(edges, EdgePartition.of(part, k), n_rows)

    return make


@pytest.mark.parametrize("room", [400, 800, 1600])
def test_fewest_blocks_that_fit(room):
    A = matrix(200, 150, 2500)
    edges, made = EdgeList.of_matrix(A), []

    def make(k):
        made.append(k)
        return in_runs(edges, 200)(k)

    found = fewest_blocks(make, 1, room, 8, 8)
    assert found.largest_bytes(8, 8) <= room
    assert len(made) <= 6
    least = next(k for k in range(1, 2500) if make(k).largest_bytes(8, 8) <= room)
    assert least <= found.k <= 1.1 * least + 1
    assert fewest_blocks(make, 1, 1 << 20, 8, 8).k == 1


def test_what_never_fits_is_refused():
    edges = EdgeList.of_matrix(matrix())
    with pytest.raises(
        InfeasibleError, match="the largest of 90 blocks still does not fit into 8 bytes"
    ):
        fewest_blocks(in_runs(edges, 23), 1, 8, 8, 8)
    wide = EdgeList(70_001, np.zeros(70_000, int), np.arange(1, 70_001))
    whole = EdgePartition.of(np.zeros(70_000, int), 1)
    with pytest.raises(InfeasibleError, match="block 0 has 70,000 vertices, but 16-bit"):
        StagedBlocks.of_matrix(wide, whole, 1)


def test_blocks_of_threads_that_run_at_once():
    on = staging.Multiprocessor(
        shared=100, shared_of_block=80, reserved=10, threads=2048, blocks=32
    )
    assert on.room() == 40
    assert on.room(1) == 80
    assert on.resident(40, 1024) == 2
    assert on.resident(41, 1024) == 1
    assert on.resident(81, 64) == 0
    assert on.resident(0, 64) == 10
    assert on.occupancy(40, 1024) == 1.0
    assert on.occupancy(80, 512) == 0.25

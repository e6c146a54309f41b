"""Cells across slices: connected clusters of graphs numbered at random."""

import numpy as np
import pytest

from evener.graphs.generating.delaunay import delaunay
from evener.graphs.graph import Graph
from evener.running.comm import run_threads
from evener.sliced.clusters import clusters_across, split_by_block
from evener.sliced.distributed import DistributedGraph
from evener.sliced.rows import InMemoryGraph
from tests.sliced.rank_rows import ranges_of, rows_of


def renumbered(graph, seed):
    rank = np.random.default_rng(seed).permutation(graph.n)
    u = np.repeat(np.arange(graph.n), graph.degrees)
    return Graph.from_edges(graph.n, rank[u], rank[graph.adjncy])


@pytest.mark.parametrize("vertices", [1, 8, 20])
def test_cells_are_connected_and_of_about_the_size_asked(vertices):
    graph = renumbered(delaunay(6000, 3), 1)
    found = clusters_across(InMemoryGraph(graph), vertices)
    assert sorted(set(found.of.tolist())) == list(range(found.count))
    assert 0.8 * graph.n / vertices <= found.count <= 1.25 * graph.n / vertices
    u = np.repeat(np.arange(graph.n), graph.degrees)
    inside = found.of[u] == found.of[graph.adjncy]
    count, _ = Graph.from_edges(graph.n, u[inside], graph.adjncy[inside]).components()
    assert count == found.count


def test_every_vertex_of_a_graph_in_pieces_has_a_cell():
    pairs = Graph.from_edges(600, np.arange(0, 600, 2), np.arange(1, 600, 2))
    found = clusters_across(InMemoryGraph(pairs), 32)
    assert found.of.min() == 0
    assert found.count == found.of.max() + 1
    assert (found.of[::2] == found.of[1::2]).mean() > 0.5


@pytest.mark.parametrize("ranks", [1, 3])
def test_cells_with_vertices_of_several_blocks_are_taken_apart(ranks):
    graph = renumbered(delaunay(3000, 3), 1)
    blocks = np.random.default_rng(2).integers(0, 3, graph.n).astype(np.int32)
    bounds = ranges_of(graph.n, ranks)

    def work(comm):
        mine = range(bounds[comm.rank], bounds[comm.rank + 1])
        rows = DistributedGraph.from_local(comm, **rows_of(graph, mine))
        cells = clusters_across(rows, 20)
        own = blocks[rows.first : rows.first + rows.n_own]
        found = split_by_block(rows, cells, own)
        ghosts = found.of.copy()
        rows.fill(ghosts)
        assert (ghosts == found.of).all()
        return cells.of[: rows.n_own], found.of[: rows.n_own], found.count

    told = run_threads(ranks, work)
    cells, of = (np.concatenate([one[j] for one in told]) for j in (0, 1))
    pairs, expected = np.unique(np.column_stack([cells, blocks]), axis=0, return_inverse=True)
    assert (of == expected.reshape(-1)).all()
    assert {one[2] for one in told} == {len(pairs)}

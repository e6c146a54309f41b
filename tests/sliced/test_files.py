"""Graphs in binary CSR files, read in slices: as the same graphs in memory."""

import numpy as np
import pytest

from evener.errors import InputError
from evener.graphs.generating.grid import grid
from evener.io.write import write_graph
from evener.plans.partition import Contract
from evener.sliced import files
from evener.sliced.blocks import SlicedOptions, sliced_blocks
from evener.sliced.files import FileGraph
from evener.sliced.reading import WatchedGraph
from evener.sliced.recounting import recounted_in_slices
from evener.sliced.rows import InMemoryGraph
from tests.sliced.rank_rows import random_graph


@pytest.mark.parametrize("weighted", [False, True])
def test_slices_are_those_in_memory(tmp_path, weighted):
    graph = grid([30, 70])
    if weighted:
        lower = np.minimum(np.repeat(np.arange(graph.n), graph.degrees), graph.adjncy)
        graph = graph.with_(vwgt=np.arange(1, graph.n + 1), adjwgt=1 + lower % 3)
    write_graph(tmp_path / "g.ecsr", graph)
    whole = InMemoryGraph(graph)
    with FileGraph.at(tmp_path / "g.ecsr") as file:
        assert (file.n, file.arcs, file.dimension) == (whole.n, whole.arcs, 2)
        assert file.edges_weigh == weighted
        for i in file.own_slices:
            for read, kept in zip(file.rows(i), whole.rows(i), strict=True):
                np.testing.assert_array_equal(read, kept)
            np.testing.assert_array_equal(file.points(i), whole.points(i))


@pytest.mark.parametrize("arcs", [1, 40, 10**6])
@pytest.mark.parametrize("weighted", [False, True])
def test_pieces_are_whole_rows_and_are_counted_as_slices_are(tmp_path, monkeypatch, arcs, weighted):
    monkeypatch.setattr(files, "PIECE_ARCS", arcs)
    graph = random_graph(500, 2000, 3, weighted=weighted)
    if weighted:  # sums of such weights depend on their order
        graph = graph.with_(vwgt=graph.weights() / 7, adjwgt=graph.edge_weights() / 3)
    write_graph(tmp_path / "g.ecsr", graph)
    whole, steps = InMemoryGraph(graph), list[str]()
    part = np.arange(graph.n, dtype=np.int32) * 7 // graph.n
    with FileGraph.at(tmp_path / "g.ecsr") as file:
        watched = WatchedGraph(file, lambda step, _: steps.append(step))
        for i in file.own_slices:
            given, end = whole.rows(i), whole.rows(i).first
            for piece in watched.pieces(i):
                assert piece.first == end
                end += piece.xadj.size - 1
                assert piece.adjncy.size <= arcs or piece.xadj.size == 2
                at = slice(piece.first - given.first, end - given.first)
                np.testing.assert_array_equal(np.diff(piece.xadj), np.diff(given.xadj)[at])
                np.testing.assert_array_equal(piece.vwgt, given.vwgt[at])
            assert end == given.first + given.xadj.size - 1
        assert steps[-1].startswith(": pass 1, ")
        found = recounted_in_slices(file, part, 7)
    expected = recounted_in_slices(whole, part, 7)
    np.testing.assert_equal(vars(found.between), vars(expected.between))
    np.testing.assert_equal(found._replace(between=None), expected._replace(between=None))


def test_blocks_are_those_in_memory(tmp_path):
    graph = grid([60, 60])
    write_graph(tmp_path / "g.ecsr", graph)
    targets = np.full(12, 300.0)
    limits = Contract(targets, targets - 9, targets + 9)
    with FileGraph.at(tmp_path / "g.ecsr") as file:
        read = sliced_blocks(file, limits, SlicedOptions()).part
    np.testing.assert_array_equal(
        read, sliced_blocks(InMemoryGraph(graph), limits, SlicedOptions()).part
    )


def test_several_weights_are_refused(tmp_path):
    graph = grid([4, 4]).with_(vwgt=np.ones((16, 2), np.int64))
    write_graph(tmp_path / "g.ecsr", graph)
    with pytest.raises(InputError, match="2 weights per vertex"):
        FileGraph.at(tmp_path / "g.ecsr")

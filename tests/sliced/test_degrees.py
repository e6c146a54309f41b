"""Degrees of graphs in slices: the same judgement as in memory, and ends of filled blocks."""

import numpy as np
import pytest

from evener.graphs.generating.delaunay import delaunay
from evener.graphs.generating.random_graphs import barabasi_albert, rmat
from evener.graphs.graph import Graph
from evener.partitioning.label_propagation.propagation import is_uneven, skewness
from evener.running.comm import run_threads
from evener.sliced import uneven_kernels as kernels
from evener.sliced.degrees import SliceDegrees
from evener.sliced.distributed import DistributedGraph
from evener.sliced.rows import InMemoryGraph
from tests.partitioning.by_hand import star
from tests.sliced.rank_rows import rows_of

GRAPHS = {
    "rmat": rmat(10, 3),
    "mild": rmat(10, 3, 8, 0.45, 0.22, 0.22),
    "social": barabasi_albert(900, 3),
    "mesh": delaunay(1000, 3),
    "mesh without coordinates": delaunay(1000, 3).with_(coords=None),
    "star": star(300),
    "nothing": Graph.from_edges(30, np.empty(0, int), np.empty(0, int)),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_graphs_are_judged_as_in_memory(name):
    graph = GRAPHS[name]

    def work(comm):
        first, last = (graph.n * (comm.rank + i) // comm.size for i in range(2))
        held = DistributedGraph.from_local(comm, **rows_of(graph, range(first, last)))
        return SliceDegrees.read(held)

    for degrees in (SliceDegrees.read(InMemoryGraph(graph)), *run_threads(3, work)):
        assert degrees.skewness == skewness(graph)
        assert degrees.skewness == pytest.approx(
            graph.degrees.std() / max(graph.degrees.mean(), 1.0)
        )
        assert degrees.are_uneven == is_uneven(graph)
        assert degrees.isolated == np.count_nonzero(graph.degrees == 0)
        assert degrees.weight.sum() == graph.n
        assert degrees.entries.sum() == 2 * graph.m


def test_blocks_of_graphs_without_clusters_alone_are_filled():
    found = {name: SliceDegrees.read(InMemoryGraph(g)).fill_blocks for name, g in GRAPHS.items()}
    assert [name for name, fill in found.items() if fill] == []
    assert SliceDegrees.read(InMemoryGraph(rmat(15, 3))).fill_blocks


def test_classes_grow_with_degrees():
    classes = [kernels.class_of(d) for d in range(5000)]
    assert classes[: kernels.FINE] == list(range(kernels.FINE))
    assert sorted(classes) == classes
    assert set(np.diff(classes)) <= {0, 1}
    assert kernels.class_of(2**40) < kernels.FINE + kernels.OCTAVE * 40


def test_blocks_end_where_their_weight_or_bytes_do():
    """Vertices 1 to 299 of a star have one edge, the hub 299: filled by falling degree."""
    degrees = SliceDegrees.read(InMemoryGraph(star(300)))
    free = np.full(3, np.inf)
    assert degrees.ends(np.array([100.0, 50.0, 200.0]), free, 0.0, 0.0).tolist() == [100, 150, 300]
    caps = np.array([100.0, np.inf, np.inf])  # the hub does not fit: a third of it does
    ends = degrees.ends(np.array([100.0, 50.0, 200.0]), caps, 0.0, 1.0)
    assert ends.tolist() == pytest.approx([100 / 299, 50 + 100 / 299, 250 + 100 / 299])

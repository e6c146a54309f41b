"""METIS's refinement from given blocks; skipped where its inner functions cannot be called."""

import ctypes

import numpy as np
import pytest

from evener.errors import UsageError
from evener.graphs.generating.delaunay import delaunay
from evener.graphs.graph import Graph
from evener.partitioning.external.jobs import Job
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from evener.plans import metrics
from evener.plans.partition import Partition
from papers.ldht import metis_refinement as module
from papers.ldht.tools import enter_tools
from tests.assertions import grid

enter_tools()
needs_library = pytest.mark.skipif(module.missing() is not None, reason=str(module.missing()))


def job_of(graph, part, targets):
    return Job(
        "georef-metis", graph.xadj, graph.adjncy, graph.vwgt, graph.adjwgt,
        np.asarray(targets, float), 0.03, 7, 1, "cut", "default", part=np.asarray(part, np.int32),
    )  # fmt: skip


def refined(graph, part, targets):
    return np.asarray(module.prepare(job_of(graph, part, targets), None).run())


def cut(graph, part, k):
    return metrics.edge_cut(metrics.quotient(graph, Partition(part, k)))


@needs_library
def test_unequal_blocks_of_k_means_are_improved_within_their_limits():
    graph = delaunay(6000, 11)
    request = Request(np.r_[np.ones(8), 6.0, 6.0], seed=5)
    found = partition_with("georef-metis", graph, request)
    how, start = found.start
    assert how == "k-means"
    assert cut(graph, found.part, 10) < 0.95 * cut(graph, start, 10)
    shares = np.bincount(found.part, minlength=10) / graph.n * request.targets.sum()
    assert (shares / request.targets).max() < 1.035
    again = partition_with("georef-metis", graph, request)
    assert (again.part == found.part).all()
    assert "METIS 5.1's k-way refinement" in found.version


@needs_library
def test_it_starts_from_the_blocks_given():
    # Halves of a grid have the least cut already: they stay, with the blocks' own numbers.
    graph = grid(20, 20)
    part = (np.arange(400) >= 200).astype(np.int32)
    for given in (part, 1 - part):
        assert (refined(graph, given, [1, 1]) == given).all()
    # A zigzag between them is straightened.
    crooked = part.copy()
    crooked[180:200:2], crooked[200:220:2] = 1, 0
    assert cut(graph, crooked, 2) == 78
    assert cut(graph, refined(graph, crooked, [1, 1]), 2) <= 22


@needs_library
def test_graphs_without_edges_stay_as_they_are():
    part = np.arange(6) % 2
    assert (refined(Graph.from_edges(6, [], []), part, [1, 1]) == part).all()


@needs_library
def test_another_layout_is_noticed(monkeypatch):
    class Other(ctypes.Structure):
        _fields_ = [(name, ctypes.c_int64) for name in
                    ("nedges", "nvtxs", "ncon", "xadj", "adjncy", "where")]  # fmt: skip

    monkeypatch.setattr(module, "_fields", lambda _: Other)
    with pytest.raises(RuntimeError, match="does not lay out its graphs as METIS"):
        refined(grid(4, 4), np.arange(16) % 2, [1, 1])


def test_without_the_library_or_with_a_newer_one(monkeypatch):
    monkeypatch.setattr(module, "library", lambda: None)
    with pytest.raises(UsageError, match="georef-metis is not installed: libmetis is not"):
        partition_with("georef-metis", grid(6, 6), Request(np.ones(2)))
    monkeypatch.setattr(module, "library", object)
    assert "inner functions of METIS 5.1" in module.missing()

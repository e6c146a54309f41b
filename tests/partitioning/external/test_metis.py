"""METIS with several weights, through libmetis; skipped where there is none."""

import numpy as np
import pytest

from evener.errors import UsageError
from evener.partitioning.external import metis
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from evener.plans.partition import Further
from tests.assertions import grid
from tests.choosing import slow_but
from tests.partitioning.by_hand import weighted

needs_library = pytest.mark.skipif(metis.library() is None, reason="libmetis is not installed")


@needs_library
@pytest.mark.parametrize("tool", ["metis", "metis-recursive"])
@pytest.mark.parametrize("real", slow_but([False, True], 1))
def test_every_weight_follows_its_targets(tool, real):
    graph = grid(40, 40)
    graph = graph.with_(vwgt=np.stack([np.ones(graph.n), 1 + np.arange(graph.n) % 3], axis=1))
    if real:
        graph = graph.with_(vwgt=0.37 * graph.vwgt)
    result = partition_with(tool, graph, Request(np.array([3.0, 2, 1]), epsilon=0.05, seed=3))
    shares = [np.bincount(result.part, graph.weights(i), 3) for i in range(2)]
    for share in shares:
        assert np.allclose(share / share.sum(), [3 / 6, 2 / 6, 1 / 6], atol=0.05)
    assert result.version.startswith("libmetis 5")
    again = partition_with(tool, graph, Request(np.array([3.0, 2, 1]), epsilon=0.05, seed=3))
    assert (again.part == result.part).all()


@needs_library
def test_targets_of_their_own():
    graph = weighted(grid(40, 40), 2)
    total = float(graph.weights(1).sum())
    targets = np.array([0.4, 0.6]) * total
    further = (Further(targets, 0.9 * targets, 1.1 * targets),)
    request = Request(np.array([1.0, 1]), epsilon=0.05, further=further)
    part = partition_with("metis", graph, request).part
    assert np.bincount(part, graph.weights(1), 2)[0] < 0.44 * total
    assert np.bincount(part)[0] < 0.55 * graph.n


def test_without_the_library(monkeypatch):
    monkeypatch.setattr(metis, "library", lambda: None)
    with pytest.raises(UsageError, match="metis cannot balance several weights: libmetis is not"):
        partition_with("metis", weighted(grid(6, 6), 1), Request(np.ones(2)))


@needs_library
def test_widths_of_its_numbers():
    loaded = metis.library()
    index = metis._index_type(loaded)
    assert index in (np.int32, np.int64)
    assert metis._number_type(loaded, index) in (np.float32, np.float64)

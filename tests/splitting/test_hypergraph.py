"""Mt-KaHyPar on edges as vertices: fewest copies; where it is absent, how to get it."""

import numpy as np
import pytest

from evener.errors import UsageError
from evener.graphs.edge_list import EdgeList
from evener.partitioning.tools import find_tool
from evener.plans.edge_partition import edge_metrics
from evener.plans.partition import Contract
from evener.splitting import hypergraph
from evener.splitting.hypergraph import by_hypergraph

TARGETS = np.array([12.0, 6.0])
CONTRACT = Contract(TARGETS, TARGETS - 1, TARGETS + 1)
PATH = EdgeList(19, np.arange(18), np.arange(1, 19), np.ones(18, int))


@pytest.mark.skipif(bool(find_tool("mtkahypar").available()), reason="it is not installed")
def test_a_path_is_cut_once():
    found = by_hypergraph(PATH, CONTRACT, "default", 7).partition
    assert edge_metrics(PATH, found).copies == 1


def test_without_it_the_reason_is_said(monkeypatch):
    class Absent:
        def available(self):
            return "mtkahypar is not installed: pip install mtkahypar"

    monkeypatch.setattr(hypergraph, "find_tool", lambda name: Absent())
    with pytest.raises(UsageError, match="pip install mtkahypar"):
        by_hypergraph(PATH, CONTRACT, "default", 7)

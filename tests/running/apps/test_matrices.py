"""The matrix of a graph: a row for each vertex, an entry for each arc."""

import numpy as np
import pytest

from evener.graphs.directed import DirectedGraph
from evener.running.apps.matrices import matrix_of


@pytest.mark.parametrize("weighted", [False, True])
def test_entries_are_weights_or_ones(weighted):
    graph = DirectedGraph.from_arcs(3, [0, 0, 2], [1, 2, 1], weights=[5, 7, 9])
    found = matrix_of(graph, weighted=weighted, dtype=np.int64)
    expected = np.array([[0, 5, 7], [0, 0, 0], [0, 9, 0]])
    assert np.array_equal(found.toarray(), expected if weighted else expected > 0)
    assert found.dtype == np.int64


def test_without_weights_all_are_one():
    graph = DirectedGraph.from_arcs(2, [0], [1])
    assert matrix_of(graph, weighted=True).toarray().tolist() == [[0, 1], [0, 0]]

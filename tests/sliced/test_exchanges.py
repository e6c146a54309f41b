"""What blocks exchange by rows: the same as the recount says."""

import numpy as np
import pytest

from evener.graphs.generating.delaunay import delaunay
from evener.sliced.counted import quotient_of
from evener.sliced.exchanges import exchanges_of
from evener.sliced.recounting import recounted_in_slices
from evener.sliced.whole import InMemoryGraph


@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_as_the_recount(weighted):
    graph, k = delaunay(3000, 4), 7
    if weighted:
        ends = np.repeat(np.arange(graph.n), graph.degrees)
        vwgt = np.random.default_rng(2).integers(1, 9, graph.n)
        graph = graph.with_(vwgt=vwgt, adjwgt=1 + (ends + graph.adjncy) % 5)
    sliced = InMemoryGraph(graph)
    # Block 6 is empty.
    part = np.random.default_rng(1).integers(0, k - 1, graph.n).astype(np.int32)
    found, counts = exchanges_of(sliced, part, k), recounted_in_slices(sliced, part, k)
    between = quotient_of(counts)
    for name in ("starts", "other", "sent", "boundary"):
        np.testing.assert_array_equal(getattr(found.between, name), getattr(between, name))
    np.testing.assert_allclose(found.loads, counts.weights[:, 0])
    np.testing.assert_allclose(found.interior, counts.interior)
    assert found.cut == counts.edge_cut

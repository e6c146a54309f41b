"""The share of arcs inside slices."""

import numpy as np
import pytest

from evener.running.comm import run_threads
from evener.sliced.distributed import DistributedGraph
from evener.sliced.locality import locality
from tests.sliced.rank_rows import random_graph, ranges_of, rows_of


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("n", [0, 300])
def test_the_share_is_that_of_arcs_with_both_ends_in_a_slice(ranks, n):
    whole = random_graph(n, 900, 2)
    bounds = ranges_of(n, ranks)

    def work(comm):
        mine = range(bounds[comm.rank], bounds[comm.rank + 1])
        graph = DistributedGraph.from_local(comm, **rows_of(whole, mine))
        return graph.ends, locality(graph)

    ends, found = run_threads(ranks, work)[-1]
    slices = np.searchsorted(ends, np.arange(n), side="right")
    tails = np.repeat(np.arange(n), np.diff(whole.xadj))
    same = slices[tails] == slices[whole.adjncy]
    assert found == (same.mean() if n else 1.0)

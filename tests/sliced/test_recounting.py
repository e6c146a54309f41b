"""Counts of blocks of a graph in slices are those of the whole graph in memory."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.plans.counts import counted_blocks
from evener.plans.partition import Partition
from evener.plans.workload import WORKLOADS
from evener.running.comm import run_threads
from evener.sliced.distributed import DistributedGraph
from evener.sliced.facts import VertexBytes
from evener.sliced.recounting import FIRST_PAIRS, recounted_in_slices
from evener.sliced.rows import InMemoryGraph
from tests.sliced.rank_rows import random_graph, ranges_of, rows_of


def same(found, expected):
    # The weights of the edges between blocks are counted in memory only.
    between = ((name, getattr(found.between, name), getattr(expected.between, name))
               for name in ("starts", "other", "sent", "boundary"))  # fmt: skip
    own = zip(found._fields, found, expected, strict=True)
    for name, one, other in [*between, *(row for row in own if row[0] != "between")]:
        assert np.allclose(one, other, rtol=1e-12, atol=0), name
        assert np.asarray(one).dtype == np.asarray(other).dtype, name
        assert np.shape(one) == np.shape(other), name


@given(
    n=st.integers(1, 120),
    density=st.sampled_from([0.3, 1.0, 3.0]),
    k=st.integers(1, 9),
    ranks=st.integers(1, 5),
    seed=st.integers(0, 99),
)
def test_the_same_counts_on_ranks_and_in_memory(n, density, k, ranks, seed):
    whole = random_graph(n, int(density * n), seed, weighted=seed % 2 == 1)
    rng = np.random.default_rng(seed)
    part = rng.integers(0, k, n).astype(np.int32)
    part = np.sort(part) if seed % 3 == 0 else part
    bounds = ranges_of(n, ranks, rng)
    expected = counted_blocks(whole, Partition(part, k), whole.weights()[:, None])

    def work(comm):
        mine = range(bounds[comm.rank], bounds[comm.rank + 1])
        given = rows_of(whole, mine)
        graph = DistributedGraph.from_local(comm, **given, vtxdist=bounds)
        return recounted_in_slices(graph, graph.there(part[mine]), k)

    for found in [*run_threads(ranks, work), recounted_in_slices(InMemoryGraph(whole), part, k)]:
        same(found, expected)


@pytest.mark.parametrize("name", ["spmv", "weights"])
def test_work_that_a_workload_states_and_bytes(name):
    whole = random_graph(200, 500, 3, weighted=True).with_(bytes_per_vertex=7, bytes_per_edge=2.5)
    part = np.arange(200, dtype=np.int32) // 40
    workload = WORKLOADS[name]
    expected = counted_blocks(whole, Partition(part, 5), workload.work(whole)[:, None])
    graph = InMemoryGraph(whole)
    size = VertexBytes(whole.bytes_per_vertex, whole.bytes_per_edge)
    same(recounted_in_slices(graph, part, 5, workload, size), expected)


def test_more_pairs_of_blocks_than_the_table_holds_at_first():
    whole = random_graph(4000, 20_000, 5)
    part = np.arange(4000, dtype=np.int32) % 900
    expected = counted_blocks(whole, Partition(part, 900), whole.weights()[:, None])
    assert expected.between.sent.size > FIRST_PAIRS
    same(recounted_in_slices(InMemoryGraph(whole), part, 900), expected)

"""Facts gathered from slices are those of the graph in memory, whoever holds the slices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.errors import InputError
from evener.graphs.graph import Graph
from evener.partitioning.label_propagation.propagation import skewness
from evener.plans.workload import WEIGHTS, WORKLOADS, Workload
from evener.platforms.device import Device
from evener.platforms.platform import Platform
from evener.running.comm import run_threads
from evener.sizing.bounds import bound_of_facts, lower_bound
from evener.sizing.contracts import contract_for, contract_of_facts
from evener.sizing.facts import facts_of, work_facts_of
from evener.sliced import facts as module
from evener.sliced.distributed import DistributedGraph
from evener.sliced.facts import VertexBytes, sliced_facts, weighted_slices
from evener.sliced.rows import InMemoryGraph
from tests.sliced.rank_rows import random_graph, ranges_of, rows_of


def close(one, other):
    for name, value in vars(one).items():
        np.testing.assert_allclose(value, getattr(other, name), rtol=1e-12, err_msg=name)


def fractional(graph, rng):
    return graph.with_(vwgt=rng.random(graph.n) * rng.integers(0, 2, graph.n) + 0.1)


def platform_of(graph, k, capped):
    memory = 1.5 * graph.total_bytes / k if capped else None
    return Platform([Device(f"d{i}", 1.0 + i % 3, memory=memory) for i in range(k)])


@given(
    n=st.integers(1, 90),
    k=st.integers(1, 6),
    ranks=st.integers(1, 4),
    workload=st.sampled_from([WEIGHTS, WORKLOADS["spmv"], Workload("n", flops_per_vertex=2.0)]),
    capped=st.booleans(),
    seed=st.integers(0, 99),
)
def test_the_same_facts_in_memory_and_on_ranks(n, k, ranks, workload, capped, seed):
    rng = np.random.default_rng(seed)
    whole = random_graph(n, 3 * n, seed, weighted=seed % 3 == 1)
    whole = fractional(whole, rng) if seed % 3 == 2 else whole
    platform = platform_of(whole, k, capped)
    weighted = workload.weighted(whole)

    def check(graph):
        found = sliced_facts(graph, platform, workload, VertexBytes())
        close(found.load, facts_of(weighted, platform))
        expected = work_facts_of(whole, platform, workload)
        assert np.isclose(found.work.load, expected.load)
        assert np.isclose(found.work.each, expected.each)
        if expected.held is not None:
            at = np.linspace(0, whole.total_bytes, 50)
            np.testing.assert_allclose(found.work.held.of(at), expected.held.of(at), rtol=1e-9)
        assert np.isclose(found.total_weight, whole.total_weight)
        assert found.unit_weights == whole.is_unit
        assert np.isclose(found.skewness, skewness(whole))
        own = weighted_slices(graph, workload, found.total_weight)
        rows = [own.rows(i).vwgt.copy() for i in own.own_slices]
        return found, np.concatenate([np.empty(0), *rows])

    _, weights = check(InMemoryGraph(whole))
    if weights.size:
        np.testing.assert_allclose(weights, weighted.weights(), rtol=1e-12)
    bounds = ranges_of(n, ranks, rng)

    def work(comm):
        mine = range(bounds[comm.rank], bounds[comm.rank + 1])
        return check(DistributedGraph.from_local(comm, **rows_of(whole, mine), vtxdist=bounds))

    told = [one for one, _ in run_threads(ranks, work)]
    assert len({(one.work.load, one.load.heaviest, one.skewness) for one in told}) == 1


@pytest.mark.parametrize("workload", [WEIGHTS, WORKLOADS["spmv"]], ids=lambda one: one.name)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_contract_and_bound(workload, weighted):
    whole = random_graph(500, 1500, 4, weighted=weighted)
    platform = platform_of(whole, 7, capped=True)
    contract, sizes = contract_for(workload.weighted(whole), platform)
    facts = sliced_facts(InMemoryGraph(whole), platform, workload, VertexBytes())
    found, found_sizes = contract_of_facts(facts.load, platform)
    close(found, contract)
    np.testing.assert_allclose(found_sizes.sizes, sizes.sizes)
    bound = bound_of_facts(facts.work, platform, workload)
    assert np.isclose(bound.seconds, lower_bound(whole, platform, workload).seconds)


def test_many_kinds_of_vertices_are_taken_together_and_none_is_overlooked(monkeypatch):
    monkeypatch.setattr(module, "MOST_KINDS", 10)
    whole = fractional(random_graph(3000, 9000, 1), np.random.default_rng(3))
    platform = platform_of(whole, 4, capped=True)
    held = sliced_facts(InMemoryGraph(whole), platform, WEIGHTS, VertexBytes()).work.held
    exact = work_facts_of(whole, platform, WEIGHTS).held
    at = np.linspace(0, whole.total_bytes, 500)[1:]
    # Never less than fits, so that the bound stays one.
    assert (held.of(at) >= exact.of(at) * (1 - 1e-12)).all()
    assert (held.of(at) <= exact.of(at) * 1.002).all()


def test_nothing_to_do_is_refused():
    empty = Graph.from_edges(5, [], [])
    with pytest.raises(InputError, match="no work on a graph without edges"):
        sliced_facts(
            InMemoryGraph(empty), Platform.flat([1.0]), Workload("e", bytes_per_edge=8.0),
            VertexBytes(),
        )  # fmt: skip

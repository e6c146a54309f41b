"""The recount and the search's metrics: two countings of the same, which share no code."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.plans import metrics
from evener.plans.partition import Partition
from evener.plans.recount import recounted
from tests.examples import with_examples
from tests.random_cases import random_case

SECONDS = ("compute", "communicate", "contention", "fixed", "overlapped", "delay")


def agree(case):
    graph, partition, contract = case.graph, case.partition, case.contract
    workload, constraint = case.workload, case.constraint
    found = recounted(
        graph, partition, case.platform, contract, workload=workload, constraint=constraint
    )
    certificate, exchange = found.certificate, found.exchange
    between = metrics.quotient(graph, partition)
    for counted, expected in (
        (certificate.vertices, metrics.block_sizes(partition)),
        (certificate.boundary, between.boundary),
        (certificate.components, metrics.block_components(graph, partition)),
        (certificate.neighbours, metrics.neighbours(between)),
        (certificate.volumes, metrics.comm_volumes(between)),
        (exchange.sender, between.block),
        (exchange.receiver, between.other),
        (exchange.values, between.sent),
    ):
        assert counted.dtype == np.int64
        np.testing.assert_array_equal(counted, expected)
    n_bytes = metrics.block_bytes(graph, partition)
    np.testing.assert_allclose(certificate.bytes, n_bytes, rtol=1e-12)
    assert found.edge_cut == pytest.approx(metrics.edge_cut(between), rel=1e-12)
    first = workload.work(graph) if any(workload.shares) else graph.weights(constraint)
    weights = [metrics.summed(first, partition)]
    weights += [
        metrics.block_weights(graph, partition, i + 1) for i in range(len(contract.further))
    ]
    every = np.column_stack([certificate.weights, certificate.further])
    np.testing.assert_allclose(every, np.column_stack(weights), rtol=1e-12)
    kept = contract.keeps(every, certificate.vertices, certificate.bytes)
    kept &= contract.in_time(found.prediction.ends)
    np.testing.assert_array_equal(certificate.holds, kept)
    targets = contract.table("targets").T
    uneven = max(metrics.imbalance(own, asked) for own, asked in zip(every.T, targets, strict=True))
    assert found.imbalance + 1 == pytest.approx(uneven + 1, rel=1e-12)
    predicted = metrics.predicted_seconds(
        graph, partition, case.platform, workload, between=between, constraint=constraint,
        exact=True,
    )  # fmt: skip
    for name in SECONDS:
        wrong = np.abs(getattr(found.prediction, name) - getattr(predicted, name))
        assert (wrong <= 1e-9 * predicted.ends).all(), name
    np.testing.assert_allclose(found.prediction.interior, predicted.interior, atol=1e-12)
    np.testing.assert_allclose(found.prediction.hop_bytes, predicted.hop_bytes, rtol=1e-12)


@pytest.mark.slow
@with_examples(40)
@given(st.integers(1, 2**32))
def test_small_cases(seed):
    agree(random_case([1, seed]))


@pytest.mark.slow
@pytest.mark.parametrize(("k", "n"), [(50, 300), (200, 600), (1000, 800)])
@pytest.mark.parametrize("seed", range(3))
def test_many_devices(k, n, seed):
    agree(random_case([2, seed], k=k, n=n))


@pytest.mark.slow
def test_the_search_is_near_where_there_are_many_messages():
    case = random_case([2, 0], k=120, n=360)
    graph, partition, platform = case.graph, case.partition, case.platform
    exact = recounted(graph, partition, platform, case.contract, workload=case.workload)
    near = metrics.predicted_seconds(graph, partition, platform, case.workload)
    assert exact.exchange.sender.size > 1024
    assert near.makespan != exact.prediction.makespan
    assert near.makespan == pytest.approx(exact.prediction.makespan, rel=0.005)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_large_graphs(seed):
    agree(random_case([3, seed], k=7, n=30_000))


def test_a_graph_without_vertices():
    case = random_case([4, 0], k=3, n=5)
    empty = case.graph.from_edges(0, [], [])
    found = recounted(empty, Partition(np.empty(0, np.int32), 3), case.platform, case.contract)
    assert found.certificate.vertices.tolist() == [0, 0, 0]
    assert found.prediction.makespan == 0

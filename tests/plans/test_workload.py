"""What a workload makes of a graph, and what it refuses."""

from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.errors import InputError
from evener.plans.workload import WEIGHTS, WORKLOADS, Workload, workload_from_dict
from tests.assertions import path, random_graphs


@given(random_graphs(), st.sampled_from(sorted(WORKLOADS)))
def test_all_work_is_the_graphs_weight(graph, name):
    work = WORKLOADS[name].work(graph)
    assert work.dtype == np.float64
    assert work.sum() == pytest.approx(graph.total_weight)
    if name == "weights":
        assert work.tolist() == graph.weights().tolist()
    else:
        vertex, edge = WORKLOADS[name].shares
        raw = vertex + edge * graph.degrees
        assert (work * raw.sum()).tolist() == pytest.approx((raw * graph.total_weight).tolist())


def test_bytes_share_the_work_and_flops_where_none_move():
    assert Workload("a", 1.0, 2.0, 3.0, 4.0).shares == (3.0, 4.0)
    assert Workload("a", 1.0, 2.0).shares == (1.0, 2.0)
    assert WEIGHTS.shares == (0.0, 0.0)


def test_the_first_weight_is_replaced_and_further_ones_stay():
    graph = path(3, vwgt=[[1, 7], [2, 8], [3, 9]])
    counted = Workload("k", bytes_per_edge=1.0).weighted(graph)
    assert counted.vwgt.tolist() == [[1.5, 7.0], [3.0, 8.0], [1.5, 9.0]]
    assert WEIGHTS.weighted(graph) is graph
    assert Workload("k", flops_per_vertex=1.0).weighted(path(3)).vwgt.tolist() == [1.0, 1.0, 1.0]


def test_nothing_to_do_without_edges():
    lonely = path(1)
    with pytest.raises(InputError, match="without edges"):
        Workload("k", flops_per_edge=1.0).work(lonely)
    assert Workload("k", flops_per_vertex=1.0).work(lonely).tolist() == [1.0]


@pytest.mark.parametrize("bad", [-1.0, float("nan"), float("inf"), 1e19, "4", None, True, 2**5000])
@pytest.mark.parametrize("key", ["bytes_per_value", "flops_per_edge", "fixed_seconds"])
def test_refused_numbers(key, bad):
    with pytest.raises(InputError, match=key):
        Workload("k", **{key: bad})


def test_from_and_to_a_dictionary():
    for workload in WORKLOADS.values():
        assert workload_from_dict(asdict(workload)) == workload
    # Older versions knew values sent by vertices alone.
    assert workload_from_dict({"name": "weights"}) == replace(WEIGHTS, exchange="vertices")
    assert WEIGHTS.settled("faces").of_faces
    assert not replace(WEIGHTS, exchange="vertices").settled("faces").of_faces
    for bad in (
        {"name": "x", "exchange": "points"},
        {"name": "x", "exchange": 1},
        "spmv",
        {},
        {"name": ""},
        {"name": "x", "speed": 1},
        {"name": "x", "overlap": 1},
    ):
        with pytest.raises(InputError):
            workload_from_dict(bad)

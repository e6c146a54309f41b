"""Refinement by clusters: blocks within limits, fixed vertices in theirs, borders closed."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.graphs.generating.delaunay import delaunay
from evener.graphs.generating.grid import grid
from evener.planning.makespan.border_search import exchanges_of
from evener.planning.makespan.candidates import CandidateMaker, candidate_of, fastest
from evener.planning.makespan.improvements import refined, refined_by_clusters, refinements
from evener.planning.makespan.problem import EFFORTS, MakespanProblem
from evener.plans import metrics
from evener.plans.partition import Partition
from evener.plans.workload import WEIGHTS
from evener.platforms.device import Connection, Device, Link
from evener.platforms.platform import Platform
from evener.sliced.recounting import recounted_in_slices
from evener.sliced.rows import InMemoryGraph


def machine(speeds, slow_to_reach, **more):
    """Devices around a switch; those of `slow_to_reach` pay 40 us for a message, others 1."""
    devices = [Device(f"d{i}", speed, **more) for i, speed in enumerate(speeds)]
    links = [
        Connection((f"d{i}", "switch"), Link(20e-6 if i in slow_to_reach else 0.5e-6, 1e-10))
        for i in range(len(speeds))
    ]
    return Platform(tuple(devices), connections=tuple(links))


def problem_of(graph, platform, fixed=None):
    problem = MakespanProblem.of(graph, platform, replace(WEIGHTS, bytes_per_value=64))
    return replace(problem, fixed=fixed)


@given(st.integers(0, 10**6), st.booleans(), st.booleans())
def test_limits_hold_fixed_vertices_stay_and_figures_are_those_of_the_blocks(
    seed, weighted, capped
):
    rng = np.random.default_rng(seed)
    graph = delaunay(400, seed % 50)
    if weighted:
        graph = graph.with_(vwgt=rng.integers(1, 5, graph.n))
    memory = 0.3 * graph.total_bytes if capped else None
    platform = machine([4e8, 1e8, 4e8, 1e8], {0, 2}, memory=memory)
    fixed = rng.random(graph.n) < 0.3
    problem = problem_of(graph, platform, fixed)
    part = np.minimum(graph.coords[:, 0] * 4, 3).astype(np.int32)
    first = candidate_of(problem, part)
    found = refined_by_clusters(first, CandidateMaker(problem), 7, 1)
    again = refined_by_clusters(first, CandidateMaker(problem), 7, 1)
    assert (found.part == again.part).all()
    assert (found.part[fixed] == part[fixed]).all()
    assert set(found.part) == {0, 1, 2, 3}
    assert (metrics.block_bytes(graph, Partition(found.part, 4)) <= problem.platform.memories).all()
    told = metrics.predicted_seconds(
        graph, Partition(found.part, 4), platform, problem.workload
    ).makespan
    assert found.seconds == pytest.approx(told)


def test_a_border_is_closed_that_single_moves_leave_open():
    """Devices 0 and 2 touch along 800 vertices; 1 and 3 lie between them along as many."""
    rows, columns = 1600, 32
    graph = grid([rows, columns])
    row, column = np.divmod(np.arange(graph.n), columns)
    part = np.where(column < columns // 2, 0, 2).astype(np.int32)
    part[(row < rows // 2) & (column // 2 == columns // 4 - 1)] = 1
    part[(row < rows // 2) & (column // 2 == columns // 4)] = 3
    problem = problem_of(graph, machine([8e8, 1e8, 8e8, 1e8], {0, 2}))
    maker, first = CandidateMaker(problem), candidate_of(problem, part)
    plain = refinements(first, maker, EFFORTS["default"], 7, 1)[-1]
    clusters = refined_by_clusters(first, maker, 7, 1)
    closed = refinements(clusters, maker, EFFORTS["default"], 7, 1)[-1]
    assert closed.seconds < 0.9 * plain.seconds  # 0.86
    assert fastest(refined(first, maker, EFFORTS["default"], 7, 1)).seconds == closed.seconds


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
    between = counts.between
    for name in ("starts", "other", "sent", "boundary"):
        np.testing.assert_array_equal(getattr(found.between, name), getattr(between, name))
    np.testing.assert_allclose(found.loads, counts.weights[:, 0])
    np.testing.assert_allclose(found.interior, counts.interior)
    assert found.cut == counts.edge_cut

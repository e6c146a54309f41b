"""Conjugate gradients and Jacobi's method on divided graphs, against SciPy."""

import numpy as np
import pytest
from scipy.sparse.linalg import spsolve

from evener.errors import InputError
from evener.graphs.graph import Graph
from evener.plans.partition import Partition
from evener.running.apps import laplacian
from evener.running.engine.pool import ThreadPool
from evener.running.executing import run_program
from tests.running.engine.parts import random_graph, whole


def divided(graph, k, seed=0):
    return Partition(np.random.default_rng(seed).integers(0, k, graph.n).astype(np.int32), k)


@pytest.mark.parametrize("weights", [None, 9])
@pytest.mark.parametrize("n", [1, 7, 300])
def test_solution_is_that_of_elimination_on_any_number_of_devices(n, weights):
    graph = random_graph(n, 3 * n, n, weights=weights)
    pattern, diagonal, b = laplacian._scipy_system(graph, 0.5)
    from scipy.sparse import diags_array

    expected = spsolve((diags_array(diagonal) - pattern).tocsc(), b)
    for k in (1, 3):
        given = {"shift": 0.5, "tolerance": 1e-10}
        found = run_program(laplacian.CG, graph, divided(graph, k), most=1000, parameters=given)
        assert np.allclose(found.values, expected, rtol=1e-7, atol=0)
        assert laplacian.verify(graph, found.values, 0.5)
        swept = run_program(laplacian.JACOBI, graph, divided(graph, k), most=40, parameters=given)
        assert laplacian.verify_sweeps(graph, swept.values, swept.supersteps, 0.5)


def test_threads_change_nothing():
    graph = random_graph(9000, 30000, 1)
    one = run_program(laplacian.CG, graph, divided(graph, 2), most=20)
    both = run_program(laplacian.CG, graph, divided(graph, 1), devices=[[0]], most=20)
    assert one.supersteps == both.supersteps
    assert np.allclose(one.values, both.values, rtol=1e-9)
    assert [len(steps) for steps in one.steps] == [one.supersteps] * 2


def test_directed_graphs_and_shifts_of_zero_are_refused():
    directed = random_graph(20, 60, 1, directed=True)
    with pytest.raises(InputError, match="directed"):
        run_program(laplacian.CG, directed, divided(directed, 2), most=5)
    graph = random_graph(20, 60, 1)
    with pytest.raises(InputError, match="shift must be above zero"):
        run_program(laplacian.CG, graph, divided(graph, 2), most=5, parameters={"shift": 0.0})
    with pytest.raises(InputError, match="cg has no parameter shivt"):
        run_program(laplacian.CG, graph, divided(graph, 2), most=5, parameters={"shivt": 1.0})


def test_diagonals_beside_far_larger_ones_are_exact():
    weights = np.array([1e17, 0.25, 0.125])
    graph = Graph.from_edges(5, [0, 2, 3], [1, 3, 4], weights=weights)
    with ThreadPool(2) as pool:
        system = laplacian._system(whole(graph), pool, 0.5)
    assert system.diagonal.tolist() == [1e17 + 0.5, 1e17 + 0.5, 0.75, 0.875, 0.625]


def test_right_side_lies_between_zero_and_one():
    assert laplacian.right_side(np.arange(5)).tolist() != [0.0] * 5
    assert (laplacian.right_side(np.arange(1000)) < 1).all()

"""Products on threads, by any partition, against SciPy on one."""

import numpy as np
import pytest
import scipy.sparse as sp

from evener.errors import InputError
from evener.graphs.generating.grid import grid
from evener.graphs.graph import Graph
from evener.plans.partition import Partition
from evener.running.apps.spmv import SPMV, Product, averaging_matrix, run, verify, verify_products
from evener.running.comm import run_threads
from evener.running.executing import run_program
from tests.running import edge_cases
from tests.running.edge_cases import divided, drawn
from tests.running.engine.parts import random_graph


@pytest.mark.parametrize("k", [1, 2, 5])
def test_it_multiplies_as_one_rank_does(k):
    rng = np.random.default_rng(62)
    A = sp.csr_array(sp.random_array((50, 50), density=0.1, rng=rng))
    x, partition = rng.random(50), Partition(rng.integers(0, k, 50), k)
    results = run_threads(k, lambda comm: run(comm, A, partition, x, 4, repeat=2))
    for result in results:
        assert verify(A, x, result)
        assert np.array_equal(result.x, results[0].x)
        assert result.compute.shape == result.exchange.shape == (4, k)
        assert np.array_equal(result.compute, results[0].compute)
    assert not verify(A, x + np.eye(50)[7], results[0])


def test_an_empty_block_takes_no_part():
    A = averaging_matrix(grid([6, 5]))
    assert np.allclose(A.sum(axis=1), 1)
    x, partition = np.linspace(0, 1, 30), Partition(np.arange(30) // 15 * 2, 4)
    for result in run_threads(4, lambda comm: run(comm, A, partition, x, 3)):
        assert verify(A, x, result)


def test_what_does_not_fit_is_refused():
    A = sp.csr_array(np.eye(4))
    with pytest.raises(InputError, match="3 values of x"):
        run_threads(1, lambda comm: Product(comm, A, Partition(np.zeros(4), 1), np.ones(3)))
    with pytest.raises(InputError, match="1 ranks need 1 blocks"):
        run_threads(1, lambda comm: Product(comm, A, Partition([0, 0, 1, 1], 2), np.ones(4)))
    with pytest.raises(InputError, match="at least 1, not 0 and 1"):
        run_threads(1, lambda comm: run(comm, A, Partition(np.zeros(4), 1), np.ones(4), 0))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weights", [None, 9])
def test_products_of_a_graph(directed, weights):
    graph = random_graph(400, 3000, 8, directed=directed, weights=weights)
    for k in (1, 4):
        blocks = Partition(np.random.default_rng(k).integers(0, k, graph.n).astype(np.int32), k)
        for averaging in (0, 1):
            given = {"averaging": averaging}
            found = run_program(SPMV, graph, blocks, most=5, parameters=given)
            assert found.supersteps == 5
            assert found.edges == 5 * graph.adjncy.size
            assert verify_products(graph, found.values, 5, averaging)
            assert not verify_products(graph, found.values, 4, averaging)


@pytest.mark.parametrize("cut", ["vertices", "edges"])
def test_rows_whose_weights_are_too_small_to_divide_by(cut):
    """1 / sum was infinite, and so were values."""
    graph = Graph.from_edges(3, [0, 1], [1, 2], weights=[5e-310, 1.0])
    run = {
        "vertices": lambda: run_program(SPMV, graph, Partition(np.zeros(3, np.int32), 1), most=2),
        "edges": lambda: run_program(SPMV, graph, edge_cases.divided(graph, 1), most=2),
    }
    with pytest.raises(InputError, match="a row add up to 5e-310, which is too small"):
        run[cut]()


def test_products_that_overflow_are_infinite_as_scipys():
    graph = random_graph(30, 200, 1)
    found = run_program(
        SPMV, graph, Partition(np.zeros(30, np.int32), 1), most=400, parameters={"averaging": 0}
    )
    assert np.isinf(found.values).any()
    assert verify_products(graph, found.values, 400, 0)


@pytest.mark.parametrize("averaging", [0, 1])
@pytest.mark.parametrize("seed", [2, 3])
def test_products_are_those_of_scipy_whatever_the_threads(seed, averaging):
    graph, given = drawn(seed), {"averaging": averaging}
    blocks = divided(graph, 3, used=2, seed=seed)
    one = run_program(SPMV, graph, blocks, most=3, parameters=given)
    assert verify_products(graph, one.values, 3, averaging)
    cores = [[0, 1], [0], [1]]
    many = run_program(SPMV, graph, blocks, most=3, parameters=given, devices=cores)
    assert np.array_equal(one.values, many.values)

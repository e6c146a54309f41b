"""Products where the entries of the matrix are divided: SciPy's values, a value each way a copy."""

import numpy as np
import pytest

from evener.running.apps import spmv_edges
from evener.running.apps.spmv import SPMV, verify_products
from evener.running.on_edges import run_on_edges
from tests.running.edge_cases import divided, drawn


@pytest.mark.parametrize("averaging", [0, 1])
@pytest.mark.parametrize("seed", [2, 3])
def test_products_are_those_of_scipy_whatever_the_threads(seed, averaging):
    graph, given = drawn(seed), {"averaging": averaging}
    blocks = divided(graph, 3, used=2, seed=seed)
    one = run_on_edges(SPMV, graph, blocks, most=3, parameters=given)
    assert verify_products(graph, one.values, 3, averaging)
    cores = [[0, 1], [0], [1]]
    many = run_on_edges(SPMV, graph, blocks, most=3, parameters=given, devices=cores)
    assert np.array_equal(one.values, many.values)
    assert SPMV.solve_on_edges is spmv_edges.edge_products

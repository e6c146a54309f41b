"""Jacobi's method on threads, with rows that move, against LAPACK."""

import numpy as np
import pytest

from evener.errors import InputError
from evener.platforms.models.fitting import Constant
from evener.rebalancing.balancer import Balancer
from evener.running.apps.jacobi import dominant_rows, run, verify
from evener.running.comm import run_threads
from evener.running.emulation import EmulatedMachine


@pytest.mark.parametrize("sizes", [[60], [20, 40], [0, 50, 10]])
def test_it_solves_the_system(sizes):
    rows = dominant_rows(60)
    results = run_threads(len(sizes), lambda comm: run(comm, rows, sizes))
    A, b = rows(0, 60)
    for result in results:
        assert verify(A, b, result)
        assert np.array_equal(result.x, results[0].x)
        assert result.sizes.shape == result.seconds.shape == (result.iterations, len(sizes))
        assert result.moved == 0
    assert not verify(A, 2 * b, results[0])


def test_rows_move_and_the_answer_stays():
    rows, sizes = dominant_rows(61), [21, 20, 20]
    balancer = Balancer((), sizes)
    machine = EmulatedMachine([Constant(1.0), Constant(1.0), Constant(4.0)])
    results = run_threads(3, lambda comm: run(comm, rows, sizes, balancer, machine=machine))
    plain = run_threads(1, lambda comm: run(comm, rows, [61]))[0]
    assert results[1].sizes[-1].tolist() == [10, 10, 41]
    assert results[1].moved == balancer.moves[0].units > 0
    assert results[1].seconds[-1] == pytest.approx([10, 10, 10.25])
    assert np.abs(results[2].x - plain.x).max() < 1e-12
    assert verify(*rows(0, 61), results[0])


def test_what_cannot_be_solved_is_refused():
    with pytest.raises(InputError, match=r"sizes must be . numbers"):
        run_threads(2, lambda comm: run(comm, dominant_rows(4), [4]))
    with pytest.raises(InputError, match="zero on the diagonal"):
        run_threads(1, lambda comm: run(comm, lambda a, b: (np.zeros((2, 2)), np.ones(2)), [2]))

"""The product of two matrices over a tiling, against NumPy, and what travels against the theory."""

import numpy as np
import pytest

import evener as ev
from evener.errors import InputError
from evener.plans.tiling import Tiling
from evener.running.apps.matmul import run, traffic, verify
from evener.running.comm import run_threads

PINWHEEL = Tiling((3, 3), [0, 0, 2, 1, 1], [0, 2, 1, 0, 1], [1, 2, 1, 2, 1], [2, 1, 2, 1, 1], 7)


def tilings():
    yield ev.tile([1.0], (20, 20), block=6).tiling
    yield ev.tile([3.0, 1.0, 2.0], (20, 20), block=3, method="br").tiling
    yield ev.tile([3.0, 1.0, 2.0, 1e-9], (20, 20), block=4, method="kl").tiling  # one gets nothing
    yield PINWHEEL


@pytest.mark.parametrize("tiling", list(tilings()))
def test_it_is_the_product(tiling):
    rng = np.random.default_rng(6101)
    A, B = rng.random((2, 20, 20))

    def work(comm):
        return run(comm, lambda a, b, c, d: A[a:b, c:d], lambda a, b, c, d: B[a:b, c:d], 20, tiling)

    for result in run_threads(tiling.k, work):
        assert np.allclose(result.C, A @ B, rtol=1e-13)
        assert verify(A, B, result.C)
        assert result.received.tolist() == traffic(tiling, 20).tolist()
    wrong = result.C.copy()
    wrong[3, 4] += 1e-6
    assert not verify(A, B, wrong)


def test_other_tilings_are_refused():
    with pytest.raises(InputError, match="5 rectangles, but there are 2"):
        run_threads(2, lambda comm: run(comm, None, None, 20, PINWHEEL))
    with pytest.raises(InputError, match="do not match"):
        run_threads(5, lambda comm: run(comm, None, None, 30, PINWHEEL))

"""The merge sort for kernels, against NumPy's stable one."""

import numpy as np
import pytest

from tests.inner_kernels import sort_along


@pytest.mark.parametrize("n", [0, 1, 2, 31, 32, 33, 64, 65, 1000])
def test_equal_keys_keep_their_order(n):
    rng = np.random.default_rng(n)
    for keys in (rng.integers(0, 9, n), rng.integers(0, 9, n) / 7, rng.random(n)):
        origin, expected = np.arange(n), np.argsort(keys, kind="stable")
        found = keys.copy()
        sort_along(found, origin)
        assert (origin == expected).all()
        assert (found == keys[expected]).all()


def test_keys_alone():
    keys = np.random.default_rng(5).integers(0, 99, 300).astype(np.int32)
    found = keys.copy()
    sort_along(found, np.empty(0, np.int64))
    assert (found == np.sort(keys)).all()

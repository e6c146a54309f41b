"""Vertices block after block: a permutation, in ascending order within each block."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.errors import InputError
from evener.plans.contiguous import contiguous


def test_by_hand():
    found = contiguous([2, 0, 2, 0, 3], 5)
    assert found.order.tolist() == [1, 3, 0, 2, 4]
    assert found.offsets.tolist() == [0, 2, 2, 4, 5, 5]  # blocks 1 and 4 are empty
    assert found.places.tolist() == [2, 0, 3, 1, 4]


@given(st.lists(st.integers(0, 4), max_size=30))
def test_any_blocks(part):
    order, offsets = found = contiguous(part, 5)
    assert order.dtype == offsets.dtype == np.int64
    for b in range(5):
        assert (
            order[offsets[b] : offsets[b + 1]].tolist()
            == np.flatnonzero(np.array(part) == b).tolist()
        )
    assert np.array_equal(order[found.places], np.arange(len(part)))


@pytest.mark.parametrize("part", [[0, 2], [-1, 0], [0.5, 1], ["a"]])
def test_no_blocks(part):
    with pytest.raises(InputError, match="part"):
        contiguous(part, 2)

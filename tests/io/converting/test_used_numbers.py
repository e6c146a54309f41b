"""Ranks of numbers are places in their sorted list."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.io.converting import pairs
from evener.io.converting.pairs import UsedNumbers
from tests.examples import with_examples


@given(
    st.lists(st.integers(0, 700), min_size=1, max_size=300),
    st.sampled_from([0, -9, 2**40, -(2**62)]),
)
@with_examples(60)
def test_as_a_sorted_list(numbers, low):
    ends = np.array(numbers) + low
    ids, places = np.unique(ends, return_inverse=True)
    used = UsedNumbers(int(ids[0]), int(ids[-1]))
    used.mark(ends)
    used.count()
    assert used.n == ids.size
    assert used.gaps == ids[-1] - ids[0] + 1 - ids.size
    assert np.array_equal(used.vertices(ends), places)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "WORDS", 2)
        assert np.array_equal(np.concatenate(list(used.labels())), ids)

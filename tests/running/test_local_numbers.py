"""Local numbers as ranges and lists."""

import numpy as np
import pytest

from evener.running.local_numbers import are_within, count_of, numbers_of


@pytest.mark.parametrize("given", [(3, 7), [3, 4, 5, 6], np.arange(3, 7, dtype=np.uint32)])
def test_consecutive_numbers_are_a_range(given):
    assert numbers_of(given) == slice(3, 7)


@pytest.mark.parametrize("given", [[3, 5, 4, 6], [6, 5, 4, 3], [3, 3, 3, 6], [2, 9], []])
def test_others_are_a_list(given):
    found = numbers_of(np.array(given, np.int64))
    assert found.tolist() == given
    assert count_of(found) == len(given)
    assert are_within(found, 2, 10)
    assert are_within(found, 3, 9) == (not given or (min(given) >= 3 and max(given) < 9))


def test_ranges_are_within_what_holds_them():
    assert count_of(None) == 0
    assert count_of(slice(3, 7)) == 4
    assert are_within(slice(3, 7), 3, 7)
    assert not any(are_within(slice(3, 7), *ends) for ends in ((4, 7), (3, 6)))
    assert are_within(numbers_of((9, 2)), 0, 1)  # nothing

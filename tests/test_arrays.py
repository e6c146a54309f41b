"""What may be passed for an array, and what is refused."""

import numpy as np
import pytest

from evener.arrays import as_array, as_integers, as_numbers, as_weights, offsets_of, ragged
from evener.errors import InputError


@pytest.mark.parametrize(
    "values",
    [[1, 2, 3], (1, 2, 3), np.array([1, 2, 3], np.uint8), np.array([1.0, 2.0, 3.0]),
     np.array([[1, 0], [2, 0], [3, 0]])[:, 0], np.array([1, 2, 3], ">i4")],
)  # fmt: skip
def test_whole_numbers_of_any_type(values):
    found = as_integers(values, "x")
    assert found.dtype == np.int64
    assert found.dtype.isnative
    assert found.flags.c_contiguous
    assert found.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.5], "whole numbers"),
        (["1"], "whole numbers"),
        ([True], "whole numbers"),
        ([np.nan], "whole numbers"),
        ([1e300], "above 2"),
        ([2.0**63], "above 2"),
        ([2**63], "above 2"),
        ([2**64], "whole numbers"),
        ([[1, 2]], "1 dimension"),
        (5, "1 dimension"),
        ([[1], [1, 2]], "differ in length"),
        ([1j], "whole numbers"),
    ],
)
def test_refused_as_whole_numbers(values, message):
    with pytest.raises(InputError, match=message):
        as_integers(values, "x")


@pytest.mark.parametrize("values", [[], np.empty(0), np.empty(0, bool)])
def test_nothing_is_no_numbers(values):
    assert as_integers(values, "x").dtype == np.int64
    assert as_integers(values, "x").size == 0


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, np.nan], "entry 1 is not"),
        ([np.inf], "entry 0 is not"),
        (["a"], "must hold numbers"),
        ([[1.0]], "1 dimension"),
        ([None], "must hold numbers"),
    ],
)
def test_refused_as_numbers(values, message):
    with pytest.raises(InputError, match=message):
        as_numbers(values, "x")


def test_numbers_keep_their_value():
    assert as_numbers([1, 2], "x").dtype == np.float64
    assert as_numbers(np.float32([0.5]), "x").tolist() == [0.5]
    with pytest.raises(InputError, match=r"entry \(1, 0\) is not"):
        as_numbers([[1.0], [np.inf]], "x", ndim=2)


@pytest.mark.parametrize(
    ("values", "dtype"),
    [([1, 0], np.int64), ([True, False], np.int64), ([1.0, 0.0], np.float64), ([], np.float64)],
)
def test_weights_stay_whole_or_real(values, dtype):
    assert as_weights(values, "x").dtype == dtype


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, -1], "entry 1 is"),
        ([-0.5], "entry 0 is"),
        ([np.nan], "finite"),
        ([2**61, 2**61], "add up to more"),
        ([1e308, 1e308], "add up to more"),
        ([2**63], "above 2"),
        ([2.0**62], "add up to more"),
        (["x"], "must hold numbers"),
    ],
)
def test_refused_as_weights(values, message):
    with pytest.raises(InputError, match=message):
        as_weights(values, "x")


def test_ragged_lists():
    with pytest.raises(InputError, match="differ in length"):
        as_array([[1], [1, 2]], "x")


def test_short_floats_are_whole_numbers_too():
    """2^63 has no form in float16: asking in it would overflow."""
    assert as_integers(np.array([0, 3, 2048], np.float16), "x").tolist() == [0, 3, 2048]


@pytest.mark.parametrize(
    ("first", "counts", "offsets", "indices"),
    [
        ([], [], [0], []),
        ([7], [0], [0, 0], []),
        ([5, 0, 2], [2, 0, 3], [0, 2, 2, 5], [5, 6, 2, 3, 4]),
    ],
)
def test_lists_one_after_the_other(first, counts, offsets, indices):
    for dtype in (np.int32, np.int64):
        lengths = np.array(counts, dtype)
        found = offsets_of(lengths), ragged(np.array(first, dtype), lengths)
        assert [array.tolist() for array in found] == [offsets, indices]
        assert all(array.dtype == np.int64 for array in found)

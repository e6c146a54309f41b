"""Numbers in the least bytes that hold them."""

import numpy as np
import pytest

from evener.sliced.gathering import narrow


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0, 255], "u1"), ([256.0, 1.0], "u2"), ([2.0**31 - 1], "u4"), ([2.0**31], "f8"),
        ([0.5], "f8"), ([-1], "i8"), ([np.inf], "f8"), ([np.nan, 1.0], "f8"),
    ],
)  # fmt: skip
def test_numbers_stay_the_same_in_the_least_bytes(values, kind):
    given = np.array(values)
    found = narrow(given)
    assert found.dtype == np.dtype(kind)
    np.testing.assert_array_equal(found, given)


def test_none_stay_none():
    assert narrow(np.empty(0, np.int32)).dtype == np.int32

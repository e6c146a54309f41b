"""Numbers read from text are those that Python reads."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.io import number_kernels as kernels
from tests.inner_kernels import read_integer, read_real, read_weight


def real(text):
    code, value, after = read_real(np.frombuffer(text.encode(), np.uint8), 0)
    return code, value, after


@given(st.floats(-1e307, 1e307, allow_subnormal=False))
def test_shortest_form_gives_the_same_bits(value):
    text = repr(value)
    code, found, after = real(text)
    assert (code, after) == (kernels.OK, len(text))
    if 1e-250 < abs(value) < 1e250:
        assert math.copysign(1, found) == math.copysign(1, value)
        assert found == value
    else:
        assert found == pytest.approx(value, rel=1e-13)


@given(
    st.integers(0, 10**19),
    st.integers(-60, 60),
    st.sampled_from(["{0}e{1}", "{0}.E{1}", "-{0}.0d{1}", "+0.{0}D{1}", "00{0}e{1}"]),
)
def test_other_forms(mantissa, exponent, form):
    text = form.format(mantissa, exponent)
    code, found, _ = real(text)
    assert code == kernels.OK
    assert found == pytest.approx(float(text.lower().replace("d", "e")), rel=3e-16)


@given(st.integers(-(2**63) + 1, 2**63 - 1))
def test_whole_numbers(value):
    data = np.frombuffer(f"{value} ".encode(), np.uint8)
    assert read_integer(data, 0) == (kernels.OK, value, data.size - 1)


@pytest.mark.parametrize("text", ["9223372036854775808", "-9223372036854775808", "1" * 40])
def test_whole_numbers_too_large(text):
    assert read_integer(np.frombuffer(text.encode(), np.uint8), 0)[0] == kernels.OVERFLOW


@pytest.mark.parametrize("text", ["", "-", "+", "x", "1x", "1.0", "--1", "1-"])
def test_no_whole_number(text):
    data = np.frombuffer(text.encode(), np.uint8)
    assert read_integer(data, 0)[0] == kernels.NOT_A_NUMBER


@pytest.mark.parametrize(
    "text", ["", ".", "-", "e5", "1e", "1e+", "1.2.3", "1x", "0x10", "na", "no"]
)
def test_no_real_number(text):
    assert real(text)[0] == kernels.NOT_A_NUMBER


@pytest.mark.parametrize("text", ["nan", "-NaN", "inf", "+Infinity", "1e400", "2e308"])
def test_not_finite(text):
    assert real(text)[0] == kernels.NOT_FINITE


def test_weights_know_whether_they_are_whole():
    place = np.zeros(4, np.int64)
    data = np.frombuffer(b"7 0.5", np.uint8)
    assert read_weight(data, 0, place) == (kernels.OK, 7.0, 1)
    assert place[3] == 0
    assert read_weight(data, 2, place) == (kernels.OK, 0.5, 5)
    assert place[3] == 1

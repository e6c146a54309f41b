"""Numbers read from text are those that Python reads."""

import math
import random
import struct
from decimal import MAX_EMAX, MIN_EMIN, ROUND_DOWN, Context

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.io import number_kernels as kernels
from tests.choosing import slow_but
from tests.inner_kernels import read_integer, read_real, read_weight

# Rounds to the first 19 digits; what is beyond its exponents becomes 0 or infinity.
FIRST_19 = Context(prec=19, rounding=ROUND_DOWN, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])


def real(text):
    code, value, after = read_real(np.frombuffer(text.encode(), np.uint8), 0)
    return code, value, after


def check(text):
    """Python's float of the first 19 digits is the reference; infinity is refused."""
    expected = float(FIRST_19.create_decimal(text))
    assert math.nextafter(expected, float(text)) == float(text), text
    code, found, after = real(text)
    if math.isinf(expected):
        assert code == kernels.NOT_FINITE, text
    else:
        assert (code, after) == (kernels.OK, len(text)), text
        assert (found, math.copysign(1, found)) == (expected, math.copysign(1, expected)), text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_shortest_form_gives_the_same_bits(value):
    check(repr(value))


@given(
    st.integers(0, 10**800),
    st.integers(-1200, 320),
    st.sampled_from(["{0}e{1}", "{0}.E{1}", "-{0}.0d{1}", "+0.{0}D{1}", "00{0}e{1}", "7.{0}e{1}"]),
)
def test_other_forms(mantissa, exponent, form):
    text = form.format(mantissa, exponent)
    plain = text.lower().replace("d", "e")
    assert real(text) == real(plain)
    check(plain)


@pytest.mark.parametrize(
    "text",
    [
        "1.2345678901234567e-300",  # as far from 1 as few are
        "2.2250738585072014e-308",  # the least normal one, and the largest below
        "2.2250738585072011e-308",
        "2.225073858507201136057409796709131975934819546351645648023426109724822222021076945516529523908135087914149158913039621106870086438694594645527657207407820621743379988141063267329253552286881372149012981122451451889849057222307285255133155755015914397476397983411801999323962548289017107081850690630666655994938275772572015763062690663332647565300009245888316433037779791869612049497390377829704905051080609940730262937128958950003583799967207254304360284078895771796150945516748243471030702609144621572289880258182545180325707018860872113128079512233426288368622321503775666622503982534335974568884423900265498198385487948292206894721689831099698365846814022854243330660339850886445804001034933970427567186443383770486037861622771738545623065874679014086723327636718751234567890123456789012345678901e-308",
        "5e-324",
        "2.4703282292062327208299439634110864618253e-324",  # just below half of it: 0
        "2.4703282292062327208299439634110864618254e-324",
        "1.7976931348623157e308",
        "1.7976931348623158079e308",  # just below the middle to what is infinite
        "1.7976931348623158080e308",
        "1e309",
        "1e-400",
        "1e23",
        "8.98846567431158e307",
        "9007199254740993",  # a middle: to the even one
        "9007199254740995",
        "9007199254740993." + 790 * "0" + "1",
        "9007199254740992." + 790 * "9",
        "0." + 400 * "0" + "1e400",
        "1" + 400 * "0" + "e-400",
        "0." + 120_000 * "0" + "1e120001",
        "0e999999999999999999999",
        "1e-999999999999999999999",
        "1e999999999999999999999",
    ],
)
def test_hard_ones(text):
    check(text)
    check(f"-{text}")


def random_texts(count):
    rng = random.Random(8)
    for _ in range(count):
        value = struct.unpack("<d", struct.pack("<Q", rng.getrandbits(64)))[0]
        if math.isfinite(value):
            yield f"{value:.{rng.randint(15, 40)}e}"
        yield f"{rng.getrandbits(64)}e{rng.randint(-345, 310)}"
        digits = rng.getrandbits(rng.randint(1, 200))
        yield f"{rng.getrandbits(9)}.{digits}e{rng.randint(-330, 300)}"


@pytest.mark.parametrize("count", slow_but([10_000, 150_000]))
def test_random_ones(count):
    for text in random_texts(count):
        check(text)


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


@pytest.mark.parametrize(
    ("text", "weight"), [("9007199254740992", 2.0**53), ("1000000000000000000", 1e18)]
)
def test_large_weights_that_a_double_holds(text, weight):
    data = np.frombuffer(text.encode(), np.uint8)
    assert read_weight(data, 0, np.zeros(4, np.int64))[:2] == (kernels.OK, weight)


@pytest.mark.parametrize("text", ["9007199254740993", "9223372036854775807"])
def test_large_weights_that_none_holds(text):
    data = np.frombuffer(text.encode(), np.uint8)
    assert read_weight(data, 0, np.zeros(4, np.int64))[0] == kernels.OVERFLOW

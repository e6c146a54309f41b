"""Numbers as text: units, digits, and what has no number."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.reporting import numbers

UNITS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0031, "3.10 ms"), (0.00999, "9.99 ms"), (0.9999, "1.00 s"), (16.6e-6, "16.6 µs"),
        (4.0, "4.00 s"), (191.04, "191 s"), (999.6, "1,000 s"), (60398.2, "60,398 s"), (0, "0 s"),
        (5e-10, "0.5 ns"), (1e29, "1e+29 s"), (math.inf, "forever"), (None, "–"),
    ],
)  # fmt: skip
def test_durations(seconds, text):
    assert numbers.duration(seconds) == text


@given(st.floats(1e-9, 1e12))
def test_a_duration_read_back_is_right_to_three_digits(seconds):
    value, unit = numbers.duration(seconds).replace(",", "").split()
    assert float(value) * UNITS[unit] == pytest.approx(seconds, rel=0.005)


@pytest.mark.parametrize(
    ("n_bytes", "text"),
    [(528, "528 B"), (1536, "1.50 KiB"), (966_367.6, "944 KiB"), (2**32, "4.00 GiB"),
     (math.inf, "no cap"), (None, "–")],
)  # fmt: skip
def test_memory(n_bytes, text):
    assert numbers.memory(n_bytes) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(9_412_000, "9,412,000"), (12_345_678, "12.3 M"), (2e9, "2.00 G"), (7241.3, "7,241.3"),
     (0.25, "0.25"), (math.inf, "unlimited"), (None, "–")],
)  # fmt: skip
def test_counts(value, text):
    assert numbers.count(value) == text


def test_shares_and_ratios():
    assert numbers.percent(0.0301) == "3.0 %"
    assert numbers.percent(math.nan) == "–"
    assert numbers.signed_percent(0.0042) == "+0.42 %"
    assert numbers.signed_percent(-0.0242) == "−2.42 %"
    assert numbers.signed_percent(-1e-9) == "0.00 %"
    assert numbers.signed_percent(math.nan) == "–"
    assert numbers.ratio(1.0765) == "1.08x"
    assert numbers.ratio(443.27) == "443x"
    assert numbers.ratio(math.inf) == "–"


def test_words():
    assert numbers.plural(1, "vertex", "vertices") == "1 vertex"
    assert numbers.plural(1200, "device") == "1,200 devices"
    assert numbers.speed(2e8) == "200 M units/s"
    assert numbers.speed(0.5) == "0.5 units/s"

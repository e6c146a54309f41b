"""Whole sizes: within their limits, sum to n, and no others finish earlier."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.sizing.memory_capped import target_sizes
from evener.sizing.rounding import limits, snapped, whole_sizes
from tests.examples import with_examples


def exact_limits(t, epsilon, cap):
    """The issue's formula in exact arithmetic: t and epsilon as they are written."""
    t, epsilon = Fraction(t), Fraction(str(epsilon))
    low = min(math.floor(t), math.ceil((1 - epsilon) * t))
    high = max(math.ceil(t), math.floor((1 + epsilon) * t))
    return low, min(high, cap)


@with_examples(300)
@given(
    st.lists(st.integers(1, 1000), min_size=1, max_size=8),
    st.integers(1, 10**8),
    st.sampled_from([0.0, 0.01, 0.03, 0.1, 0.15, 0.5]),
)
def test_limits_are_the_formula_exactly(speeds, n, epsilon):
    sizes = target_sizes(np.array(speeds, float), n, epsilon=epsilon)
    total = sum(speeds)
    for speed, low, high in zip(speeds, sizes.low, sizes.high, strict=True):
        assert (low, high) == exact_limits(Fraction(n * speed, total), epsilon, math.inf)


@pytest.mark.slow
@with_examples(300)
@given(st.data())
def test_no_whole_sizes_finish_earlier(data):
    k = data.draw(st.integers(1, 4))
    speed = st.one_of(st.sampled_from([1.0, 2.0, 3.0]), st.floats(0.05, 20))
    speeds = np.array(data.draw(st.lists(speed, min_size=k, max_size=k)))
    caps = np.array(data.draw(st.lists(st.integers(1, 12), min_size=k, max_size=k)), float)
    n = data.draw(st.integers(1, int(caps.sum())))
    epsilon = data.draw(st.sampled_from([0.0, 0.03, 0.3]))
    sizes = target_sizes(speeds, n, memory_units=caps, epsilon=epsilon)
    ranges = [range(int(a), int(b) + 1) for a, b in zip(sizes.low, sizes.high, strict=True)]
    best = min(
        max(x / s for x, s in zip(choice, speeds, strict=True))
        for choice in itertools.product(*ranges)
        if sum(choice) == n
    )
    assert sizes.sizes.sum() == n
    assert sizes.makespan == pytest.approx(best, rel=1e-9)


@with_examples(300)
@given(
    st.integers(1, 300),
    st.integers(0, 2**32),
    st.sampled_from(["equal", "ties", "wide", "even"]),
    st.one_of(st.integers(1, 1000), st.integers(1, 2**50)),
    st.sampled_from([0.0, 1e-9, 0.03]),
    st.sampled_from([None, 1.0, 1.001, 1.2]),
)
def test_a_whole_solution_always_lies_between(k, seed, kind, n, epsilon, room):
    rng = np.random.default_rng([417309, seed])
    speeds = {
        "equal": np.ones(k),
        "ties": rng.choice([1.0, 2.0, 16.0], k),
        "wide": np.exp(rng.normal(0, 6, k)),
        "even": rng.random(k) + 0.5,
    }[kind]
    caps = None
    if room is not None:
        caps = np.ceil(rng.dirichlet(np.ones(k)) * n * room) + 1e-9
    sizes = target_sizes(speeds, n, memory_units=caps, epsilon=epsilon)
    assert sizes.sizes.dtype == np.int64
    assert sizes.sizes.sum() == n
    assert (sizes.low <= sizes.sizes).all()
    assert (sizes.sizes <= sizes.high).all()
    assert sizes.low.sum() <= n <= sizes.high.sum()
    assert (sizes.low >= 0).all()
    if caps is not None:
        assert (sizes.high <= caps).all()


def test_large_halves_are_not_taken_for_whole():
    # Two targets of 1e9 + 1/2: with epsilon 0 one must round up, the other down.
    sizes = target_sizes([1.0, 1.0], 2 * 10**9 + 1, epsilon=0.0)
    assert sizes.sizes.tolist() == [10**9 + 1, 10**9]
    assert sizes.low.tolist() == [10**9] * 2
    assert sizes.high.tolist() == [10**9 + 1] * 2


def test_many_small_fractions_add_up():
    # 4,000 targets of 1000.00025: one device gets 1001.
    sizes = target_sizes(np.ones(4000), 4_000_001, epsilon=0.0)
    assert sizes.sizes.sum() == 4_000_001
    assert sizes.high.max() == 1001
    assert sorted(set(sizes.sizes.tolist())) == [1000, 1001]


def test_ties_go_to_the_lower_index():
    assert target_sizes(np.ones(4), 6).sizes.tolist() == [2, 2, 1, 1]


def test_more_devices_than_units():
    sizes = target_sizes(np.ones(5), 3)
    assert sizes.sizes.tolist() == [1, 1, 1, 0, 0]
    assert sizes.low.tolist() == [0] * 5


@pytest.mark.slow
def test_a_million_devices():
    rng = np.random.default_rng(602214)
    speeds, caps = rng.random(10**6) + 0.01, rng.random(10**6) * 2000 + 1000
    sizes = target_sizes(speeds, 10**9 + 7, memory_units=caps)
    assert sizes.sizes.sum() == 10**9 + 7
    assert (sizes.low <= sizes.sizes).all()
    assert (sizes.sizes <= np.floor(caps)).all()
    # No device could give a unit to another that would then finish before it does now.
    finish = sizes.seconds
    next_free = ((sizes.sizes + 1) / speeds)[sizes.sizes < sizes.high].min()
    assert finish[~sizes.saturated].max() <= next_free * (1 + 1e-12)


def test_targets_a_hair_above_whole_give_units_back():
    speeds, high = np.ones(3), np.full(3, 10.0)
    assert whole_sizes(8, np.full(3, 3.0), speeds, high).tolist() == [2, 3, 3]


def test_snapping_moves_little():
    hair = 4e-15
    values = np.array([7 - hair, 7 + hair, 6.9999999, 0.0, 1e-9])
    assert snapped(values).tolist() == [7.0, 7.0, 6.9999999, 0.0, 1e-9]


def test_limits_of_real_loads():
    low, high = limits(np.array([10.0, 4.0]), 0.1, np.array([np.inf, 4.2]), whole=False)
    np.testing.assert_allclose(low, [9.0, 3.6])
    np.testing.assert_allclose(high, [11.0, 4.2])

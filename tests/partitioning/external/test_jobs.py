"""Real weights become whole numbers finely enough; limits on blocks follow the targets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evener.partitioning.external.jobs import (
    LIMIT_32,
    LIMIT_64,
    Job,
    heaviest_blocks,
    whole_weights,
)

REAL = arrays(np.float64, st.integers(1, 40), elements=st.floats(1e-3, 1e3))


def test_whole_numbers_stay():
    whole = whole_weights(np.array([3, 0, 7]), LIMIT_32)
    assert whole.values.tolist() == [3, 0, 7]
    assert whole.scale == 1.0
    assert whole_weights(np.array([2.0, 5.0]), LIMIT_32).values.tolist() == [2, 5]


def test_by_hand():
    # The smallest becomes 500,000: a factor of 2e6.
    whole = whole_weights(np.array([0.25, 1.0, 0.0]), LIMIT_64)
    assert whole.values.tolist() == [500_000, 2_000_000, 0]
    assert whole.note is None


@given(REAL)
def test_precision_of_64_bits(weights):
    whole = whole_weights(weights, LIMIT_64)
    np.testing.assert_allclose(whole.values / whole.scale, weights, rtol=1e-6)
    assert whole.note is None


@given(REAL)
def test_total_within_32_bits(weights):
    whole = whole_weights(weights, LIMIT_32)
    assert whole.values.sum() <= LIMIT_32 + weights.size
    np.testing.assert_allclose(whole.values / whole.scale, weights, atol=0.5001 / whole.scale)


def test_coarse_rounding_is_told():
    weights = np.r_[1e-3, np.full(1000, 1e3)]
    whole = whole_weights(weights, LIMIT_32, least=1)
    assert "rounded to multiples of" in whole.note
    assert whole.values.min() >= 1
    assert whole_weights(np.array([2**40, 2**41]), LIMIT_32).values.tolist() == [500_000, 1_000_000]


def test_all_zero():
    assert whole_weights(np.zeros(3), LIMIT_32).values.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("targets", "total", "highest"),
    [
        ([3.0, 96.00000000000001], 99, [3, 98]),  # 3.09 -> 3; 98.88 -> 98
        ([0.4, 1.6], 2, [1, 2]),  # 0.412 -> 0, but a block holds something: 1; 1.648 -> 2
        ([1.0, 1.0], 200, [103, 103]),
    ],
)
def test_heaviest_blocks(targets, total, highest):
    none = np.zeros(0, np.int64)
    job = Job("x", none, none, None, None, np.array(targets), 0.03, 7, 1, "cut", "default")
    assert heaviest_blocks(job, total).tolist() == highest


def test_free_edges_are_left_out():
    # The path 0 - 1 - 2, its second edge free.
    job = Job(
        "x",
        np.array([0, 1, 3, 4]),
        np.array([1, 0, 2, 1], np.int32),
        None,
        np.array([5, 5, 0, 0]),
        np.ones(2),
        0.03,
        7,
        1,
        "cut",
        "default",
    ).without_free_edges()
    assert job.xadj.tolist() == [0, 1, 2, 2]
    assert job.adjncy.tolist() == [1, 0]
    assert job.adjwgt.tolist() == [5, 5]


def test_saved_and_loaded(tmp_path):
    rng = np.random.default_rng(5519)
    job = Job(
        "metis",
        np.array([0, 1, 2]),
        np.array([1, 0], np.int32),
        rng.random(2),
        None,
        np.ones(2),
        0.05,
        9,
        2,
        "cut",
        "strong",
    )
    job.save(tmp_path)
    back = Job.load(tmp_path)
    assert back.adjwgt is None
    np.testing.assert_array_equal(back.vwgt, job.vwgt)
    assert (back.tool, back.epsilon, back.seed, back.threads) == ("metis", 0.05, 9, 2)
    assert (back.n, back.k) == (2, 2)

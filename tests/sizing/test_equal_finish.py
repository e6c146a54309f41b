"""Loads that end at the same time, against bisection on the time in plain Python."""

import numpy as np
import pytest

from evener.sizing.equal_finish import PRECISION, finish_times, halved, together
from tests.examples import seeds


def slow_together(total, rates, start, low, high):
    """Loads and the time they end, by 300 halvings of the time."""
    early, late = float(start.min()) - 1.0, 1e9
    for _ in range(300):
        middle = (early + late) / 2
        done = np.clip(rates * (middle - start), low, high).sum()
        early, late = (middle, late) if done < total else (early, middle)
    return np.clip(rates * (late - start), low, high), late


@pytest.mark.parametrize("seed", seeds(60))
def test_constant_speeds_against_bisection(seed):
    rng = np.random.default_rng([84, seed])
    k = int(rng.integers(1, 9))
    rates, start = rng.uniform(0.1, 3, k), rng.uniform(0, 4, k) * rng.integers(0, 2, k)
    low = np.where(rng.random(k) < 0.3, rng.uniform(0, 1, k), 0.0)
    high = np.where(rng.random(k) < 0.4, low + rng.uniform(0, 3, k), np.inf)
    room = high.sum() if np.isfinite(high).all() else 20.0
    total = float(low.sum() + rng.uniform(0.01, 1) * (room - low.sum()))
    loads, seconds = together(total, rates, start, low, high)
    expected, last = slow_together(total, rates, start, low, high)
    assert loads.sum() == pytest.approx(total, rel=1e-12)
    assert loads == pytest.approx(expected, abs=1e-9)
    assert seconds == pytest.approx(last, rel=1e-9)


def test_by_hand():
    # The second begins after 4 s, by when the first, of 2 units/s, has done 8; then 3 units/s.
    two = np.array([2.0, 1.0]), np.array([0.0, 4.0]), np.zeros(2), np.full(2, np.inf)
    assert together(6.0, *two)[0].tolist() == [6, 0]
    loads, seconds = together(14.0, *two)
    assert (loads.tolist(), seconds) == ([12, 2], 6)


def test_no_room_and_too_much_asked():
    rates, start, low, high = np.ones(2), np.zeros(2), np.array([1.0, 0.0]), np.array([2.0, 3.0])
    assert together(9.0, rates, start, low, high)[0].tolist() == [2, 3]
    loads, seconds = together(0.5, rates, start, low, high)
    assert (loads.tolist(), seconds) == ([1, 0], 1)


def test_a_slow_device_counts_beside_a_full_fast_one():
    """Sums of speeds must not cancel: 1 + 1e-20 - 1 is zero, and nobody would do the rest."""
    loads, _ = together(10.0, np.array([1.0, 1e-20]), np.zeros(2), np.zeros(2), np.array([4, 99.0]))
    assert loads.tolist() == pytest.approx([4, 6])


def test_many_sets_at_once_as_each_alone():
    rng = np.random.default_rng(271)
    rates, start = rng.uniform(0.5, 2, (40, 6)), rng.uniform(0, 1, (40, 6))
    high = rng.uniform(1, 4, (40, 6))
    work = 0.8 * high.sum(axis=1)

    def done(times):
        return np.clip(rates * (times[:, None] - start), 0, high)

    found = finish_times(done, work, np.full(40, 20.0), np.zeros(40))
    each = [
        together(*row, np.zeros(6), top)[1]
        for *row, top in zip(work, rates, start, high, strict=True)
    ]
    assert found == pytest.approx(each, rel=2 * PRECISION)
    assert (done(found).sum(axis=1) >= work).all()


def test_halved_ends_at_neighbouring_numbers():
    early, late = halved(lambda time: time >= np.pi, 0.0, 4.0)
    assert (early, late) == (np.nextafter(np.pi, 0), np.pi)
    assert halved(lambda time: time >= np.pi, 0.0, 4.0, 0.1) == (3.0, 3.25)

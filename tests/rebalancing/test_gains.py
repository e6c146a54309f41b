"""What moves gained is told from noise, believed where measured, and forgotten."""

import numpy as np
import pytest

from evener.rebalancing.gains import FEWEST_AFTER, MOST_AFTER, RealizedGains, scatter

EVEN, UNEVEN = np.array([50.0, 50.0]), np.array([70.0, 30.0])
SLOWNESS = np.array([1.0, 2.0])


def judged(before, after, *, saving=0.4, noise=0.0, to=UNEVEN, slower=1.0, gains=None):
    """What is learnt of a move, and what an iteration takes [s] on either side of it."""
    gains, rng = gains or RealizedGains(), np.random.default_rng(2)
    for seconds, moves in ((before, True), (after, False)):
        for _ in range(MOST_AFTER + 1):
            now = SLOWNESS * [1 if moves else slower, 1]
            gains.see(seconds * np.exp(rng.normal(0, noise)), now)
        if moves:
            gains.moved(saving, (EVEN, to), MOST_AFTER, SLOWNESS)
    return gains


@pytest.mark.parametrize(
    ("after", "share", "trust"), [(0.6, 1.0, 1.0), (0.8, 0.5, 1.0), (0.92, 0.2, 0.6), (1.3, 0, 0.5)]
)
def test_a_move_that_falls_short_is_believed_less(after, share, trust):
    gains = judged(1.0, after)
    assert gains.latest.move == 0
    assert gains.latest.realized == pytest.approx(1 - after)
    assert gains.latest.share == pytest.approx(share)
    assert gains.trust == gains.latest.trust == pytest.approx(trust)
    far = np.array([90.0, 10.0])
    assert gains.believed(0.1, UNEVEN, far) == pytest.approx(0.1 * trust)


def test_a_little_doubt_is_left_where_times_scatter_too_much_until_speeds_change():
    assert judged(1.0, 1.0, noise=0.02).trust == 0.5
    loud = judged(1.0, 1.0, noise=1.0)
    assert loud.latest.share is None
    assert loud.trust == 0.8
    for _ in range(10):
        loud.see(1.0, SLOWNESS * 1.5)
    assert loud.trust == 1


def test_a_move_that_another_follows_at_once_leaves_a_little_doubt():
    gains = RealizedGains()
    for observations in (MOST_AFTER, FEWEST_AFTER):
        for _ in range(observations):
            gains.see(1.0, SLOWNESS)
        gains.moved(0.4, (EVEN, UNEVEN), MOST_AFTER, SLOWNESS)
    assert gains.judged == 0
    assert gains.trust == 0.8


def test_measured_seconds_are_believed_before_predicted_ones():
    gains = judged(1.0, 1.3)
    back = np.array([52.0, 48.0])
    assert gains.believed(0.1, UNEVEN, back) == pytest.approx(1.3 - 1.0)
    for _ in range(20):
        gains.see(1.0, SLOWNESS)
    assert gains.believed(0.4, EVEN, np.array([68.0, 32.0])) == pytest.approx(1.0 - 1.3)


@pytest.mark.parametrize(
    ("slowness", "seconds"), [([1.3, 2.0], 1.3), ([1.0, 1.5], 1.3), ([1, 2], 1.7), ([1, 2], 0.7)]
)
def test_a_clear_change_makes_it_forget(slowness, seconds):
    gains = judged(1.0, 1.3)
    for _ in range(10):
        gains.see(1.28, SLOWNESS * 1.05)
    assert gains.trust == 0.5
    for _ in range(10):
        gains.see(seconds, np.array(slowness))
    assert gains.trust == 1
    assert gains.believed(0.1, UNEVEN, EVEN) == 0.1


def test_moves_in_vain_halve_it_and_one_that_gains_restores_it_by_half():
    gains = judged(1.0, 1.0)
    assert judged(1.0, 1.0, gains=gains).trust == 0.25
    assert gains.judged == 2
    far = np.array([90.0, 10.0])
    assert judged(1.0, 0.85, saving=0.15, to=far, gains=gains).trust == pytest.approx(0.625)


def test_a_move_is_not_blamed_for_another_device_that_becomes_slower():
    gains = judged(1.0, 1.0, slower=1.3)
    assert gains.latest.share is None
    assert gains.trust == 1


def test_scatter_is_that_of_noise_and_not_of_a_step():
    rng = np.random.default_rng(3)
    values = rng.normal(5, 0.2, 4000)
    assert scatter(values) == pytest.approx(0.2, rel=0.05)
    values[2000:] += 10
    assert scatter(values) == pytest.approx(0.2, rel=0.05)
    assert scatter([1.0]) == 0

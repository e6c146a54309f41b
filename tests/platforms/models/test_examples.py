"""Emulated devices behave as those of the thesis: cliffs, plateaus, a GPU slow on small loads."""

import numpy as np
import pytest

from evener.errors import UsageError
from evener.platforms.models.examples import CURVE_SETS, curve_set, emulated_speeds
from evener.platforms.models.fitting import fit_device


@pytest.mark.parametrize("name", CURVE_SETS)
def test_curves_have_names_of_their_own_and_rising_times(name):
    curves = curve_set(name)
    assert len({curve.name for curve in curves}) == len(curves)
    for curve in curves:
        loads = np.geomspace(curve.low, min(curve.high, curve.capacity), 500)
        assert (np.diff(curve.model.time(loads)) > 0).all()


def test_two_servers_page_at_an_even_share():
    """Figure 2.5: at 11,000 / 4 rows P1 and P2 page, P3 and P4 do not."""
    even = {curve.name: curve.model.speed(2750) / curve.peak for curve in curve_set("cluster2")}
    assert max(even["P1"], even["P2"]) < 0.1
    assert min(even["P3"], even["P4"]) > 0.9


def test_a_gpu_is_slow_on_small_loads():
    gpu = next(curve for curve in curve_set("hybrid") if curve.name == "adonis-7c-gpu")
    edel = next(curve for curve in curve_set("hybrid") if curve.name == "edel-8c")
    assert gpu.model.speed(50.0) < edel.model.speed(50.0)
    assert gpu.model.speed(5000.0) > edel.model.speed(5000.0)


def test_samples_lie_on_the_curve_and_scatter_by_the_noise():
    exact = emulated_speeds("cluster2", points=30)
    for device, curve in zip(exact, curve_set("cluster2"), strict=True):
        for sample in device.samples:
            assert sample.seconds == pytest.approx(curve.model.time(sample.load))
            assert sample.half_width == pytest.approx(0.0, abs=1e-12)
    noisy = emulated_speeds("grenoble", points=20, noise=0.05, repetitions=25)
    assert noisy == emulated_speeds("grenoble", points=20, noise=0.05, repetitions=25)
    off = [
        (sample.seconds / curve.model.time(sample.load) - 1, sample.half_width / sample.seconds)
        for device, curve in zip(noisy, curve_set("grenoble"), strict=True)
        for sample in device.samples
    ]
    errors, widths = np.array(off).T
    assert np.abs(errors).mean() == pytest.approx(0.05 / 5 * np.sqrt(2 / np.pi), rel=0.1)
    assert widths.mean() == pytest.approx(1.96 * 0.05 / 5, rel=0.1)


def test_a_capacity_is_kept_and_one_point_is_the_largest():
    gpu = emulated_speeds("workstation", points=1)[2]
    assert gpu.samples[0].load == gpu.capacity
    assert fit_device(gpu).time(gpu.capacity + 1) == np.inf


@pytest.mark.parametrize(
    ("fields", "match"),
    [({"curves": "none"}, "no emulated curves"), ({"points": 0}, "points"),
     ({"noise": np.nan}, "noise"), ({"repetitions": 0}, "repetitions")],
)  # fmt: skip
def test_refuses(fields, match):
    with pytest.raises(UsageError, match=match):
        emulated_speeds(**{"curves": "lille", **fields})

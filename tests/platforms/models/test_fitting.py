"""Speed models: times, speeds and largest loads against slow, obvious references."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.errors import InputError
from evener.platforms.models.fitting import (
    SLOWER,
    Constant,
    Piecewise,
    fit_device,
    fit_model,
    kept_by_shape,
    pooled,
)
from evener.platforms.models.samples import DeviceSpeeds, Sample
from tests.examples import with_examples


@st.composite
def piecewise_models(draw):
    """Models of any shape, cliffs and plateaus among them."""
    count = draw(st.integers(1, 7))
    steps = draw(st.lists(st.integers(1, 40), min_size=count, max_size=count))
    speeds = draw(
        st.lists(st.sampled_from([0.1, 1, 2, 3, 10, 100.0]), min_size=count, max_size=count)
    )
    capacity = draw(st.sampled_from([np.inf, 0.5, 7.0, 60.0, 150.0]))
    return Piecewise(np.cumsum(steps).astype(float), np.array(speeds, dtype=float), capacity)


def time_by_hand(model, load):
    """Load over the speed read off the line between the two knots around it."""
    loads, speeds = model.loads.tolist(), model.speeds.tolist()
    if load > model.capacity:
        return np.inf
    if load <= loads[0]:
        return load / speeds[0]
    for (a, u), (b, v) in pairwise(zip(loads, speeds, strict=True)):
        if a <= load <= b:
            return load / (u + (v - u) * (load - a) / (b - a))
    return load / speeds[-1]


@pytest.mark.slow
@with_examples(150)
@given(piecewise_models(), st.floats(0, 50))
def test_piecewise_is_as_by_hand(model, seconds):
    grid = np.unique(np.concatenate([np.linspace(0, 400, 801), model.loads]))
    by_hand = [time_by_hand(model, load) for load in grid]
    np.testing.assert_allclose(model.time(grid), by_hand, rtol=1e-12)
    assert model.time(0.0) == 0.0
    assert (model.speed(grid) > 0).all()

    # No load on the grid beyond it is done in time; it itself is.
    most = model.max_load(seconds)
    assert 0 <= most <= model.capacity
    assert model.time(most * (1 - 1e-12)) <= seconds * (1 + 1e-9)
    beyond = grid > most * (1 + 1e-9)
    assert (model.time(grid[beyond]) > seconds * (1 - 1e-9)).all()


def test_max_load_beyond_a_bump_of_time():
    """Times 10, 100, 20 at loads 10, 20, 40: 20 s suffice for 40, 19 only before the bump."""
    model = Piecewise([10.0, 20.0, 40.0], [1.0, 0.2, 2.0])
    assert model.max_load(20.0) == 40.0
    assert model.max_load(30.0) == 60.0  # the last speed goes on
    assert 10.0 < model.max_load(19.0) < 20.0
    assert Piecewise([10.0, 20.0, 40.0], [1.0, 0.2, 2.0], 39.0).max_load(20.0) < 20.0


@pytest.mark.parametrize("model", [Constant(2.0, 9.0), Piecewise([1.0, 4.0], [2.0, 8.0], 9.0)])
def test_scalars_and_arrays_of_any_shape(model):
    loads = np.array([[0, 1, 2], [3, 9, 10]])
    for ask in (model.time, model.speed, model.max_load):
        several = ask(loads)
        assert several.shape == loads.shape
        assert several.dtype == np.float64
        assert several.tolist() == [[ask(float(x)) for x in row] for row in loads]
        assert type(ask(3)) is float
        for wrong in (-1.0, np.nan, np.array([1.0, -1.0])):
            with pytest.raises(InputError, match="must be >= 0, not"):
                ask(wrong)
    assert model.time(9.5) == np.inf
    assert model.max_load(1e9) == 9.0
    assert model.max_load(np.inf) == 9.0


@pytest.mark.parametrize(
    ("loads", "speeds", "match"),
    [([], [], "not make a speed model"), ([1.0], [1.0, 2.0], "not make a speed model"),
     ([2.0, 1.0], [1, 1], "strictly increase"),
     ([0.0, 1.0], [1, 1], "above zero"), ([1.0, 2.0], [1, 0], "above zero"),
     ([1.0, np.nan], [1, 1], "finite")],
)  # fmt: skip
def test_piecewise_refuses(loads, speeds, match):
    with pytest.raises(InputError, match=match):
        Piecewise(loads, speeds)


def test_knots_are_its_own():
    loads = np.array([1.0, 2.0])
    model = Piecewise(loads, [1.0, 1.0])
    loads[0] = 1.5
    assert model.loads.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        model.loads[0] = 1.5


def test_samples_of_one_load_are_pooled():
    twice = [Sample(10, 2.0, 0.3, 3), Sample(10, 4.0, 0.1, 1), Sample(5, 1.0)]
    five, ten = pooled(twice)
    assert (five.load, ten.load) == (5.0, 10.0)
    assert ten.seconds == pytest.approx(2.5)  # (3 x 2 + 4) / 4
    assert ten.half_width == pytest.approx(np.hypot(0.75 * 0.3, 0.25 * 0.1))
    assert ten.repetitions == 4
    assert pooled([Sample(10, 9.0, status="slower"), *twice])[1] == ten


def test_a_stopped_sample_counts_as_slower_than_seen():
    model = fit_model([Sample(10, 1.0), Sample(20, 4.0, status="slower")])
    assert model.speed(20) == pytest.approx(5.0 / SLOWER)


def test_fits_name_the_device():
    with pytest.raises(InputError, match=r"'gpu'.*no samples"):
        fit_device(DeviceSpeeds("gpu"))
    with pytest.raises(InputError, match="not 'cubic'"):
        fit_model([Sample(1, 1)], "cubic")
    assert fit_device(DeviceSpeeds("gpu", [Sample(4, 2)], capacity=8)).max_load(100) == 8
    assert fit_model([Sample(4, 2), Sample(8, 2)], "constant") == Constant(4.0)


@with_examples(200)
@given(st.lists(st.tuples(st.integers(1, 30), st.integers(1, 50)), min_size=1, max_size=25))
def test_kept_points_have_the_shape(steps):
    loads = np.cumsum([step for step, _ in steps]).astype(float)
    speeds = np.array([speed for _, speed in steps], dtype=float)
    kept = kept_by_shape(loads, speeds)
    x, s = loads[kept], speeds[kept]
    top = int(np.argmax(s))
    assert s[top] == speeds.max()
    assert (np.diff(s[: top + 1]) >= 0).all()
    slopes = np.diff(np.append(0.0, s[: top + 1])) / np.diff(np.append(0.0, x[: top + 1]))
    assert (np.diff(slopes) <= 1e-12).all()
    assert (np.diff(s[top:]) <= 0).all()
    # What the shape is for: time never falls.
    model = fit_model([Sample(a, a / b) for a, b in zip(loads, speeds, strict=True)], "shaped")
    assert (np.diff(model.time(np.linspace(0, loads[-1] * 1.2, 400))) >= -1e-12).all()
    # Points that have the shape stay.
    assert kept_by_shape(x, s).all()


def test_by_hand():
    """Speeds 4 3 6 9 8 8.5 2: 3 is below 4; 8.5 is above 8; 6 lies under the line from 4 to 9."""
    loads = np.arange(1.0, 8.0)
    speeds = np.array([4, 3, 6, 9, 8, 8.5, 2])
    assert kept_by_shape(loads, speeds).tolist() == [True, False, False, True, True, False, True]
    model = fit_model([Sample(x, x / s) for x, s in zip(loads, speeds, strict=True)], "shaped")
    assert [s.load for s in model.dropped] == [2.0, 3.0, 6.0]

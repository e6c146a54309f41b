"""Algorithm 1 is optimal: by hand, step by step, and against linear programming."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from evener.errors import InfeasibleError, InputError
from evener.platforms.platform import Device, Platform
from evener.sizing.memory_capped import target_sizes, target_weights
from tests.examples import with_examples


def algorithm_one(load, speeds, capacities):
    """The paper's Algorithm 1, line by line."""
    order = sorted(range(len(speeds)), key=lambda i: -speeds[i] / capacities[i])
    targets, left, speed_left = [0.0] * len(speeds), load, sum(speeds)
    for i in order:
        wanted = speeds[i] * left / speed_left
        targets[i] = min(wanted, capacities[i])
        left, speed_left = left - targets[i], speed_left - speeds[i]
    return targets


def best_makespan(load, speeds, capacities):
    """Least T with t_i <= T speed_i, t_i <= cap_i, sum t = load, by linear programming.

    In units of load / total speed, so that the solver's absolute tolerances mean something.
    """
    k, scale = len(speeds), load / speeds.sum()
    rows = np.hstack([np.diag(1 / speeds), -np.ones((k, 1))]) * speeds.sum()
    found = linprog(
        np.r_[np.zeros(k), 1.0],
        A_ub=rows / speeds.sum(),
        b_ub=np.zeros(k),
        A_eq=np.r_[np.ones(k), 0.0][None, :] / speeds.sum(),
        b_eq=[1.0],
        bounds=[(0, None if np.isinf(c) else c / scale) for c in capacities] + [(0, None)],
        method="highs",
    )
    assert found.status == 0, found.message
    return found.fun * scale


@st.composite
def machines(draw):
    k = draw(st.integers(1, 12))
    # Few values, so that speeds, capacities and their ratios tie.
    value = st.one_of(st.sampled_from([1.0, 2.0, 4.0]), st.floats(0.1, 100))
    speeds = np.array(draw(st.lists(value, min_size=k, max_size=k)))
    capacities = np.array(draw(st.lists(st.one_of(value, st.just(np.inf)), min_size=k, max_size=k)))
    room = capacities.sum()
    fill = draw(st.sampled_from([1.0, 0.999999, 0.9, 0.5, 0.01]))
    load = room * fill if np.isfinite(room) else draw(st.floats(0.01, 1000))
    return load, speeds, capacities


@pytest.mark.slow
@with_examples(300)
@given(machines())
def test_optimal_as_linear_programming_finds(machine):
    load, speeds, capacities = machine
    targets, saturated = target_weights(load, speeds, capacities)
    assert targets.sum() == pytest.approx(load, rel=1e-12)
    assert (targets >= 0).all()
    assert (targets <= capacities).all()
    np.testing.assert_array_equal(targets[saturated], capacities[saturated])
    best = best_makespan(load, speeds, capacities)
    assert (targets / speeds).max() == pytest.approx(best, rel=1e-7)
    # Devices with memory to spare finish together.
    np.testing.assert_allclose((targets / speeds)[~saturated], best, rtol=1e-6)


@pytest.mark.slow
@with_examples(200)
@given(machines())
def test_the_same_as_the_paper_step_by_step(machine):
    load, speeds, capacities = machine
    if np.isinf(capacities).any():
        capacities = np.minimum(capacities, 1e6)
    targets, _ = target_weights(load, speeds, capacities)
    np.testing.assert_allclose(targets, algorithm_one(load, speeds, capacities), rtol=1e-9)


def test_by_hand():
    # Speeds 1, 1, 4; the fast one holds 30 of 90: the others share 60 equally.
    targets, saturated = target_weights(90, [1, 1, 4], [100, 100, 30])
    assert targets.tolist() == [30.0, 30.0, 30.0]
    assert saturated.tolist() == [False, False, True]
    # Without caps in proportion to speed.
    assert target_weights(90, [1, 1, 4])[0].tolist() == [15.0, 15.0, 60.0]


def test_capacities_that_hold_the_load_exactly():
    caps = [10.0, 20.0, 30.0]
    targets, _ = target_weights(60, [5, 1, 1], caps)
    np.testing.assert_allclose(targets, caps)
    sizes = target_sizes([5, 1, 1], 60, memory_units=caps)
    assert sizes.sizes.tolist() == [10, 20, 30]
    assert sizes.high.tolist() == caps


def test_speeds_of_any_magnitude():
    for speeds in ([1e308, 1e308, 1e-308], [1e-308, 3e-308], [5e-324, 1e308]):
        targets, _ = target_weights(100, speeds)
        assert targets.sum() == pytest.approx(100)
    assert target_weights(100, [1e308, 1.5e308])[0].tolist() == pytest.approx([40, 60])


def test_infeasible_says_by_how_much_and_what_would_help():
    with pytest.raises(InfeasibleError, match="5 units short: all devices together hold 10"):
        target_weights(15, [1, 1], [5, 5])
    gib = 2.0**30
    devices = tuple(Device(f"gpu{i}", 1.0, memory=g * gib) for i, g in enumerate((1, 2)))
    n = int(4.2 * gib / 24)
    with pytest.raises(InfeasibleError) as caught:
        target_sizes(Platform(devices), n)
    room = 2 * gib // 24 + gib // 24
    assert caught.value.message == (
        f"1.20 GiB short: all devices together hold {room:,.0f} units, but the load is {n:,}"
    )
    assert f"a load of {room:,.0f} units" in caught.value.hint
    assert "1.401 times the memory, with 28.6 % less memory per unit" in caught.value.hint
    with pytest.raises(InfeasibleError) as caught:
        target_sizes(Platform((Device("a", 1.0, memory_units=10),)), 20_000)
    assert caught.value.hint == (
        "It would fit with 2000 times the memory, or with a load of 10 units."
    )


def test_memory_in_units_falls_short_by_units():
    platform = Platform((Device("a", 1.0, memory_units=10.5),))
    with pytest.raises(
        InfeasibleError, match=r"^2 units short: all devices together hold 10 units"
    ):
        target_sizes(platform, 12)


def test_no_room_at_all():
    with pytest.raises(InfeasibleError, match="hold 0 units") as caught:
        target_sizes(Platform((Device("a", 1.0, memory=3.0),)), 12)
    assert "single unit" in caught.value.hint


def test_the_tighter_of_bytes_and_units_caps():
    platform = Platform((
        Device("a", 1.0, memory=240.0, memory_units=50),
        Device("b", 1.0, memory=2400.0, memory_units=7.9),
        Device("c", 1.0),
    ))  # fmt: skip
    sizes = target_sizes(platform, 100, bytes_per_unit=24)
    assert sizes.sizes.tolist() == [10, 7, 83]
    assert sizes.saturated.tolist() == [True, True, False]
    assert sizes.high[:2].tolist() == [10, 7]
    assert sizes.makespan == 83


def test_weighted_loads_stay_real():
    sizes = target_sizes([1.0, 3.0], 10.5, unit=False, epsilon=0.1)
    assert sizes.sizes.tolist() == sizes.targets.tolist() == [2.625, 7.875]
    np.testing.assert_allclose(sizes.low, [2.3625, 7.0875])
    np.testing.assert_allclose(sizes.high, [2.8875, 8.6625])
    capped = target_sizes([1.0, 3.0], 10.5, unit=False, epsilon=0.1, memory_units=[9, 3.5])
    assert capped.targets.tolist() == [7.0, 3.5]
    assert capped.high[1] == 3.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: target_sizes([1.0], 0), "above zero"),
        (lambda: target_sizes([1.0], np.nan), "finite"),
        (lambda: target_sizes([1.0], 2.5), "whole number"),
        (lambda: target_sizes([1.0], 2.0**60), "2\\^53"),
        (lambda: target_sizes([1.0], 5, epsilon=1.0), "epsilon"),
        (lambda: target_sizes([1.0], 5, epsilon=-0.1), "epsilon"),
        (lambda: target_sizes([], 5), "at least one device"),
        (lambda: target_sizes([1.0, 0.0], 5), "device 1 has 0"),
        (lambda: target_sizes([1.0, np.nan], 5), "finite"),
        (lambda: target_sizes([1.0], 5, memory_units=[0]), "above zero"),
        (lambda: target_sizes([1.0], 5, memory_units=[1, 2]), "shape"),
        (lambda: target_sizes([1.0], 5, memory_units=[np.nan]), "above zero"),
    ],
)
def test_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()

"""Loads chosen by what is known: on the emulated curves, twenty points do what a grid's 100 do."""

import numpy as np
import pytest

from evener.errors import UsageError
from evener.measuring.adaptive import AdaptivePlan, ProvisionalSizes, equal_finish_loads
from evener.measuring.campaign import run_campaign
from evener.measuring.journal import Journal
from evener.measuring.loads import GridPlan, geometric_grid
from evener.measuring.outcomes import Gap, Point
from evener.platforms.models.examples import CURVE_SETS, curve_set
from evener.platforms.models.fitting import Constant, Piecewise, fit_model
from evener.platforms.models.samples import Sample
from evener.sizing.solving import solve_sizes
from tests.choosing import slow_but
from tests.measuring.virtual import EmulatedBench

NOISE = 0.01


def emulated(name):
    """Up to four devices of a set, and the loads they are all drawn for."""
    curves = curve_set(name)
    curves = curves[:: max(len(curves) // 4, 1)][:4]
    low, high = max(c.low for c in curves), min(c.high for c in curves)
    return [c.model for c in curves], max(round(low), 1), round(high)


def by_grid(models, low, high, points):
    plans = [GridPlan(geometric_grid(low, high, points)) for _ in models]
    return run_campaign(EmulatedBench(models, noise=NOISE), plans, Journal(None, {}))


def adaptively(models, low, high, total=None, noise=NOISE, most=20):
    plans = [AdaptivePlan(low, high, most) for _ in models]
    answer = ProvisionalSizes(plans, low, high, total)
    return run_campaign(
        EmulatedBench(models, noise=noise), plans, Journal(None, {}),
        learn=lambda found: answer.update([r.samples for r in found], [r.capacity for r in found]),
    )  # fmt: skip


def fitted(records):
    return [fit_model(r.samples, "piecewise", r.capacity) for r in records]


def loss(models, records, total):
    """By how much longer it takes with the sizes of fitted models than with the true ones'."""
    sizes = solve_sizes(fitted(records), total).sizes
    spent = max(m.time(float(size)) for m, size in zip(models, sizes, strict=True))
    return spent / solve_sizes(models, total).makespan - 1


@pytest.mark.parametrize("name", slow_but(CURVE_SETS))
def test_twenty_points_tell_the_sizes_as_well_as_a_grid_of_100(name):
    models, low, high = emulated(name)
    grid = by_grid(models, low, high, 100)
    losses = []
    for total in np.geomspace(3 * len(models) * low, 0.8 * len(models) * high, 5):
        found = adaptively(models, low, high, round(total))
        assert max(len(r.points) for r in found) <= 20
        losses.append((loss(models, found, round(total)), loss(models, grid, round(total))))
    ours, theirs = np.array(losses).T
    # A point is known to 1 %: no sizes can be better than that but by luck.
    assert ours.mean() <= theirs.mean() + NOISE
    assert (ours <= theirs + 4 * NOISE).all()


@pytest.mark.parametrize("name", slow_but(CURVE_SETS))
def test_and_the_whole_curve_nearly_so(name):
    models, low, high = emulated(name)

    def error(records):
        loads = [np.rint(np.geomspace(low, min(high, r.capacity), 300)) for r in records]
        return np.mean([
            np.abs(f.time(x) / m.time(x) - 1).mean()
            for f, m, x in zip(fitted(records), models, loads, strict=True)
        ])  # fmt: skip

    found, grid = adaptively(models, low, high), by_grid(models, low, high, 100)
    assert error(found) <= error(grid) + NOISE
    totals = np.geomspace(3 * len(models) * low, 0.8 * len(models) * high, 5)
    ours, theirs = (
        np.mean([loss(models, records, round(total)) for total in totals])
        for records in (found, grid)
    )
    assert ours <= theirs + NOISE


def test_without_surprises_few_points_do():
    (found,) = adaptively([Constant(5.0)], 10, 10_000, noise=0.0)
    assert len(found.points) <= 12


def test_a_cliff_is_hemmed_in():
    cliff = Piecewise(np.array([1.0, 70_000.0, 70_001.0, 1e6]), np.array([9.0, 9.0, 1.0, 1.0]))
    (found,) = adaptively([cliff], 1000, 1_000_000, noise=0.0)
    below = max(s.load for s in found.samples if s.speed > 5)
    above = min(s.load for s in found.samples if s.speed < 5)
    assert below < 70_001 <= above < 1.02 * below


def test_memory_ends_and_slow_loads_are_respected():
    plan = AdaptivePlan(10, 10_000)
    asked = []
    while (load := plan.next()) is not None:
        asked.append(load)
        if load > 3000:
            plan.add(Gap(load, "memory", "out of memory"))
        elif load > 1000:
            plan.add(Point(Sample(load, 9.0, status="slower")))
        else:
            plan.add(Point(Sample(load, load / 100)))
    assert len(asked) == len(set(asked)) <= 20
    assert plan.ceiling.load < 1100
    assert sum(load >= 3000 for load in asked) == 1


def test_what_takes_too_long_is_approached():
    plan = AdaptivePlan(10, 10_000)
    while (load := plan.next()) is not None:
        status = "slower" if load > 700 else "ok"
        plan.add(Point(Sample(load, load / 100, status=status)))
    assert 350 < plan.samples[-1].load <= 700
    assert plan.left_out == []


def test_a_later_measurement_of_a_load_counts():
    plan = AdaptivePlan(10, 10_000)
    for seconds in (9.0, 1.0):
        plan.add(Point(Sample(100, seconds)))
    assert [s.seconds for s in plan.samples] == [1.0]
    assert plan.done == 1


def test_devices_that_finish_alike():
    models = [Constant(1.0), Constant(3.0, capacity=60.0)]
    loads = equal_finish_loads(models, 10, 1000)
    assert loads.shape[1] == 2
    assert loads.sum(axis=1)[[0, -1]] == pytest.approx([20, 1060], rel=0.01)
    below = loads[loads[:, 1] < 60]
    assert below[:, 1] == pytest.approx(3 * below[:, 0])


def test_too_few_points():
    with pytest.raises(UsageError, match="3 points"):
        AdaptivePlan(1, 2, 2)

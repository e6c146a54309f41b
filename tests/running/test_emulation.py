"""Emulated machines: times follow the models, noise and drift, and only the clock passes."""

import numpy as np
import pytest

from evener.errors import InfeasibleError, InputError
from evener.platforms.models.fitting import Constant
from evener.running.emulation import Drift, EmulatedMachine

MODELS = [Constant(10.0), Constant(5.0, capacity=50.0)]


def test_times_are_those_of_the_models():
    machine = EmulatedMachine(MODELS)
    assert machine.run([20, 5]).tolist() == [2.0, 1.0]
    assert machine.run([20, 0]).tolist() == [2.0, 0.0]
    assert machine.measure(1, 50) == 10.0
    machine.wait(0.5)
    assert machine.clock == 2.0 + 2.0 + 10.0 + 0.5
    with pytest.raises(InfeasibleError, match="at most 50 units"):
        machine.run([0, 51])


def test_drift_comes_and_goes():
    machine = EmulatedMachine(MODELS, drifts=[Drift(0, start=2.0, factor=4.0, ramp=2.0, end=9.0)])
    seen = []
    while machine.clock < 12:
        at = machine.clock
        seen.append((at, float(machine.run([10, 5])[0])))
    assert seen[0][1] == seen[1][1] == 1.0
    assert seen[3] == (3.0, 2.0)
    assert max(seconds for _, seconds in seen) == 4.0
    assert seen[-1][1] == 1.0


def test_noise_is_repeatable_and_of_the_size_asked():
    first, second = (EmulatedMachine(MODELS, noise=0.1, seed=3) for _ in range(2))
    times = np.array([first.run([10, 10]) for _ in range(500)])
    assert np.array_equal(times[:5], np.array([second.run([10, 10]) for _ in range(5)]))
    assert np.log(times / [1.0, 2.0]).std(axis=0) == pytest.approx([0.1, 0.1], rel=0.1)


@pytest.mark.parametrize(
    "make",
    [
        lambda: EmulatedMachine([]),
        lambda: EmulatedMachine(MODELS, noise=-1),
        lambda: EmulatedMachine(MODELS, drifts=[Drift(2, 0.0, 2.0)]),
        lambda: Drift(0, 0.0, 0.0),
        lambda: Drift(0, 2.0, 2.0, end=1.0),
        lambda: EmulatedMachine(MODELS).run([1]),
        lambda: EmulatedMachine(MODELS).wait(-1),
    ],
)
def test_what_is_no_machine_is_refused(make):
    with pytest.raises(InputError):
        make()

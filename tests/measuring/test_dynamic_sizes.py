"""Sizes by measuring emulated devices: the steps, their file, going on when interrupted."""

from contextlib import contextmanager

import pytest

from evener.errors import InfeasibleError, InputError, NotFoundError
from evener.io.machines.speeds import read_speeds
from evener.measuring import session
from evener.measuring.devices import MeasuredDevice
from evener.measuring.dynamic_sizes import DynamicTerms, measure_sizes, seconds_of
from evener.measuring.outcomes import Gap, Point, Precision
from evener.measuring.session import Settings
from evener.platforms.models.fitting import Constant
from evener.platforms.models.piecewise import Piecewise
from evener.platforms.models.samples import Sample
from tests.measuring.virtual import EmulatedBench

DEVICES = (MeasuredDevice("d0", cpus=(0,)), MeasuredDevice("d1", cpus=(1,)))
SETTINGS = Settings("own:one", DEVICES, (600,), Precision(), 1e9, total=600)
CURVE = Piecewise([100.0, 200.0, 400.0], [30.0, 20.0, 5.0])


class Stopping(EmulatedBench):
    """Devices on which measuring is interrupted before the step of this number."""

    groups, agreed, stops_at = ["here", "here"], False, 0

    def has_company(self, name):
        return True

    def measure(self, loads):
        if len(self.asked) + 1 == self.stops_at:
            raise KeyboardInterrupt
        return super().measure(loads)


@pytest.fixture
def bench(monkeypatch):
    made = Stopping([Constant(10.0), CURVE])

    @contextmanager
    def emulated(settings, comm):
        yield made

    monkeypatch.setattr(session, "bench_of", emulated)
    return made


def test_until_times_agree(bench, tmp_path):
    told = []
    found = measure_sizes(
        SETTINGS, DynamicTerms(600, 0.02), tmp_path / "s.toml", lambda *step: told.append(step)
    )
    assert found.search.converged
    assert found.best.spread <= 0.02
    assert found.best.sizes.sum() == 600
    assert [(step, list(names)) for step, names, _ in told] == [
        (i + 1, ["d0", "d1"]) for i in range(len(bench.asked))
    ]
    assert [seen.sizes.tolist() for _, _, seen in told] == bench.asked
    assert bench.asked[0] == [300, 300]
    speeds = read_speeds(tmp_path / "s.toml")
    assert [s.load for s in speeds[1].samples] == sorted({loads[1] for loads in bench.asked})
    assert speeds[1].notes["measured"] == "together"
    assert not (tmp_path / "s.toml.journal").exists()


def test_interrupted_it_goes_on_with_the_next_step(bench, tmp_path):
    whole = measure_sizes(SETTINGS, DynamicTerms(600, 0.02), None)
    asked, bench.asked, bench.stops_at = bench.asked, [], 3
    with pytest.raises(KeyboardInterrupt):
        measure_sizes(SETTINGS, DynamicTerms(600, 0.02), tmp_path / "s.toml")
    bench.stops_at = 0
    with pytest.raises(InputError, match=r"epsilon was 0\.02, now it is 0\.1"):
        measure_sizes(SETTINGS, DynamicTerms(600, 0.1), tmp_path / "s.toml")
    found = measure_sizes(SETTINGS, DynamicTerms(600, 0.02), tmp_path / "s.toml")
    assert bench.asked == asked
    assert found.best.sizes.tolist() == whole.best.sizes.tolist()
    assert not (tmp_path / "s.toml.journal").exists()


def test_memory_that_ends_and_limits(bench):
    bench.models = [Constant(10.0, 120.0), CURVE]
    found = measure_sizes(SETTINGS, DynamicTerms(400, 0.02, low=[0, 60]), None)
    assert found.best.sizes[0] <= 120
    assert found.records[0].gaps[0].kind == "memory"
    bench.models = [Constant(10.0, 120.0), Constant(10.0, 200.0)]
    with pytest.raises(InfeasibleError, match=r"(?s)no longer sum to.*d1: out of memory"):
        measure_sizes(SETTINGS, DynamicTerms(400, 0.02), None)
    bench.models = [Constant(10.0, 1.0)] * 2
    with pytest.raises(NotFoundError, match="first load; d0: out of memory"):
        measure_sizes(SETTINGS, DynamicTerms(400, 0.02), None)


def test_samples_of_earlier_measurements(bench):
    known = {"d0": [Sample(100, 10.0)], "d1": [Sample(x, x / CURVE.speed(x)) for x in (100, 200)]}
    found = measure_sizes(SETTINGS, DynamicTerms(300, 0.02, samples=known), None)
    assert bench.asked[0] != [150, 150]
    assert found.search.converged
    assert len(bench.asked) == 1


def test_seconds_of_what_was_not_measured_to_its_end():
    stopped = Point(Sample(4, 2.0, status="slower"))
    assert seconds_of([stopped, Gap(9, "raised", "x"), None]).tolist() == [10.0, float("inf"), 0.0]

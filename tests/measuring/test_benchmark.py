"""One kernel at one load, on a virtual clock: nothing here depends on how fast this computer is."""

import math

import numpy as np
import pytest

from evener.errors import UsageError
from evener.measuring.benchmark import Company, benchmark, waited_for_core
from evener.measuring.outcomes import Gap, Point, Precision
from tests.measuring.virtual import Clock, Virtual


def run(seconds_of, noise=lambda: 1.0, **precision):
    clock = Clock()
    kernel = Virtual(clock, seconds_of, noise)
    return benchmark(kernel, 100, Precision(**precision), clock=clock), kernel


def test_a_steady_kernel_needs_three_repetitions():
    point, kernel = run(lambda d: d * 1e-3)
    assert isinstance(point, Point)
    assert point.sample.seconds == pytest.approx(0.1)
    assert (point.sample.load, point.sample.repetitions, point.reached) == (100.0, 3, True)
    assert kernel.calls == ["initialize", *["execute"] * 4, "finalize"]  # one to warm up
    assert point.flops == 200.0


def test_noise_is_repeated_until_the_interval_is_narrow():
    rng = np.random.default_rng(3)
    point, _ = run(lambda d: 0.02, lambda: rng.normal(1.0, 0.05))
    assert 3 < point.sample.repetitions < 100
    assert point.sample.half_width <= 0.025 * point.sample.seconds
    assert point.sample.seconds == pytest.approx(0.02, rel=0.05)


def test_the_interval_holds_the_truth_though_it_ends_when_it_is_narrow():
    rng = np.random.default_rng(2)
    hits = 0
    for _ in range(200):
        point, _ = run(lambda d: 0.1, lambda: rng.normal(1.0, 0.05))
        hits += abs(point.sample.seconds - 0.1) <= point.sample.half_width
    assert hits >= 180


def test_repetitions_end_at_the_most_asked_for():
    rng = np.random.default_rng(4)
    point, _ = run(lambda d: 0.02, lambda: rng.uniform(0.1, 2.0), repetitions=7)
    assert point.sample.repetitions == 7
    assert not point.reached


def test_a_point_ends_at_its_time_limit():
    rng = np.random.default_rng(4)
    point, _ = run(lambda d: 1.0, lambda: rng.uniform(0.5, 1.5), seconds=4.0)
    assert 3 <= point.sample.repetitions <= 6
    alone, _ = run(lambda d: 9.0, seconds=4.0)
    assert (alone.sample.repetitions, alone.sample.half_width) == (1, 9.0)
    assert not alone.reached


def test_short_kernels_are_executed_many_times_between_two_looks():
    clock = Clock()
    ticks = []

    def coarse():
        ticks.append(0)
        return math.floor(clock.now / 1e-4) * 1e-4  # a clock that shows tenths of milliseconds

    kernel = Virtual(clock, lambda d: 1e-6)
    point = benchmark(kernel, 1, Precision(shortest=0.01), clock=coarse)
    assert point.sample.seconds == pytest.approx(1e-6, rel=0.02)
    assert len(ticks) < 100


def test_the_first_execution_is_not_counted():
    clock = Clock()
    first = iter([50.0])
    kernel = Virtual(clock, lambda d: 0.1, lambda: next(first, 1.0))
    assert benchmark(kernel, 1, clock=clock).sample.seconds == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("seconds", "kind"), [(0.0, "at once"), (-1.0, "clock"), (math.nan, "clock")]
)
def test_times_that_cannot_be(seconds, kind):
    gap, kernel = run(lambda d: seconds)
    assert isinstance(gap, Gap)
    assert gap.kind == kind
    assert kernel.calls[-1] == "finalize"


class CudaAPIError(Exception):
    """As the driver's, by name."""


@pytest.mark.parametrize("where", ["complexity", "initialize", "execute", "finalize"])
@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError("no"), "raised"),
        (MemoryError(), "memory"),
        (CudaAPIError("[2] Call to cuMemAlloc results in CUDA_ERROR_OUT_OF_MEMORY"), "memory"),
    ],
)
def test_kernels_that_raise(where, error, kind):
    clock = Clock()
    kernel = Virtual(clock, lambda d: 1.0)

    def fail(*args):
        raise error

    setattr(kernel, where, fail)
    outcome = benchmark(kernel, 8, clock=clock)
    if where == "finalize":
        assert isinstance(outcome, Point)  # what was measured stays
    else:
        assert (outcome.load, outcome.kind) == (8, kind)
        assert "no" in outcome.message or kind == "memory"


@pytest.mark.parametrize("flops", [math.nan, math.inf, -1.0])
def test_a_complexity_that_counts_nothing(flops):
    kernel = Virtual(Clock(), lambda d: 1.0)
    kernel.complexity = lambda d: flops
    gap = benchmark(kernel, 8, clock=kernel.clock)
    assert (gap.load, gap.kind) == (8, "raised")
    assert "complexity(8) returned" in gap.message


def test_company_is_waited_for_and_kept():
    clock = Clock()
    kernel = Virtual(clock, lambda d: 1.0)
    called = []
    company = Company(
        lambda: called.append("start"),
        lambda: called.append("pulse"),
        lambda outcome: called.append("linger") or called.count("linger") < 3,
    )
    point = benchmark(kernel, 1, clock=clock, company=company)
    assert called == ["pulse", "start", *["pulse"] * 3, *["linger"] * 3]
    assert kernel.calls.count("execute") == 1 + point.sample.repetitions + 2


def test_a_core_that_others_share_is_noticed():
    clock = Clock()
    kernel = Virtual(clock, lambda d: 1.0)
    point = benchmark(kernel, 1, clock=clock, waited=lambda: 0.75 * clock.now)
    assert point.share == pytest.approx(0.25)
    assert benchmark(kernel, 1, clock=clock).share == 1.0


def test_waiting_for_a_core_adds_up():
    before = waited_for_core()
    assert 0 <= before <= waited_for_core()


def test_a_device_that_is_too_slow_is_not_timed_again():
    point, _ = run(lambda d: 1.0, slowest=1000.0)  # 100 units in a tenth of a second
    assert (point.slow, point.sample.repetitions, point.sample.status) == (True, 1, "ok")
    assert not run(lambda d: 0.05, slowest=1000.0)[0].slow


def test_patience_follows_the_slowest_speed():
    assert Precision(seconds=5.0).patience(1e9) == 5.0
    assert Precision(seconds=5.0, slowest=100.0).patience(200) == 2.0
    assert Precision(seconds=5.0, slowest=100.0).patience(1) == 0.1


@pytest.mark.parametrize(
    "wrong",
    [{"precision": 0.0}, {"precision": math.nan}, {"confidence": 1.0}, {"repetitions": 2},
     {"seconds": math.inf}, {"seconds": -1.0}, {"shortest": -1.0}, {"slowest": math.nan}],
)  # fmt: skip
def test_precision_that_cannot_be(wrong):
    with pytest.raises(UsageError):
        Precision(**wrong)

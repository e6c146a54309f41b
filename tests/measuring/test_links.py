"""Links: fitted to messages made up, and round trips that bring back what was sent."""

import math

import numpy as np
import pytest

from evener.errors import NotFoundError, ToolError, UsageError
from evener.measuring import links
from evener.measuring.links import SIZES, fit_link, measure_link, measure_links
from evener.measuring.outcomes import Precision
from evener.measuring.pings import ProcessPing, ThreadPing
from evener.platforms.models.samples import Sample
from evener.running.comm import run_threads
from tests.measuring.virtual import Clock, Virtual

ALPHA, BETA = 3e-6, 2e-10


def test_alpha_and_beta_come_back_from_a_virtual_link():
    clock = Clock()
    rng = np.random.default_rng(1)
    ping = Virtual(clock, lambda d: 2 * (ALPHA + BETA * d), lambda: rng.normal(1.0, 0.02))
    found = measure_link(ping, clock=clock, precision=Precision(0.01, shortest=1e-4, least=0.0))
    assert found.link.alpha == pytest.approx(ALPHA, rel=0.05)
    assert found.link.beta == pytest.approx(BETA, rel=0.05)
    assert found.GB_per_s == pytest.approx(5.0, rel=0.05)
    assert abs(found.link.alpha - ALPHA) <= 2 * found.alpha_half
    assert [s.load for s in found.samples] == list(SIZES)


def test_intervals_hold_the_truth_as_often_as_they_say():
    rng = np.random.default_rng(2)
    hits = 0
    for _ in range(300):
        times = [(ALPHA + BETA * d) * rng.normal(1.0, 0.05) for d in SIZES]
        found = fit_link([Sample(d, t) for d, t in zip(SIZES, times, strict=True)], 0.9)
        hits += abs(found.link.beta - BETA) <= found.beta_half
    assert 0.84 <= hits / 300 <= 0.96


def test_neither_is_ever_negative():
    falling = fit_link([Sample(8, 5e-6), Sample(1000, 4e-6), Sample(2000, 4.4e-6)])
    assert falling.link.beta == 0.0
    assert falling.link.alpha == pytest.approx(4.4e-6, rel=0.1)
    assert falling.GB_per_s == math.inf
    free = fit_link([Sample(1000, 1e-6), Sample(2000, 2.2e-6), Sample(4000, 4.4e-6)])
    assert free.link.alpha == 0.0
    assert free.link.beta == pytest.approx(1.07e-9, rel=0.05)


def test_two_sizes_leave_no_doubt_to_be_judged_and_one_is_too_few():
    found = fit_link([Sample(8, 1e-6), Sample(8000, 3e-6)])
    assert found.alpha_half == found.beta_half == math.inf
    with pytest.raises(NotFoundError, match="two sizes"):
        fit_link([Sample(8, 1e-6), Sample(8, 2e-6)])


def test_threads_hand_copies_over():
    ping = ThreadPing()
    for d in (8, 100_000):
        ping.initialize(d)
        ping._buffer[:] = 7
        ping.execute()
        assert (ping._buffer == 7).all()
        ping.finalize()


def test_processes_send_everything_back():
    with ProcessPing((-1, -1)) as ping:
        for d in (8, 3_000_000, 9):
            ping.initialize(d)
            for _ in range(2):
                ping.execute()
            assert bytes(ping._answer[:d]) == ping._message
        children = ping._children
        children[0].kill()
        children[0].wait()
        with pytest.raises(ToolError, match="has ended"):
            ping.execute()
    assert all(child.poll() is not None for child in children)


QUICK = Precision(0.5, repetitions=4, seconds=0.2, shortest=0.0, least=0.0)


@pytest.mark.parametrize("between", ["cores", "threads", "ranks"])
def test_every_pair_and_one_to_all(between, monkeypatch):
    monkeypatch.setattr(links, "PRECISION", QUICK)
    found = run_threads(3, lambda comm: measure_links(between, [-1, -1, -1], comm, (8, 4096)))[0]
    names = {
        "cores": ["cpu-1-cpu-1", "cpu-1-cpu-1", "cpu-1-all"],
        "threads": ["threads"],
        "ranks": ["rank0-rank1", "rank0-rank2", "rank0-all"],
    }
    assert [link.name for link in found] == names[between]
    assert [s.load for s in found[0].fitted.samples] == [8, 4096]
    assert found[-1].many == (1 if between == "threads" else 2)
    assert found[-1].speeds.notes["ends"] == found[-1].many


def test_a_link_has_two_ends():
    with pytest.raises(UsageError, match="needs two"):
        run_threads(1, lambda comm: measure_links("ranks", [], comm))
    with pytest.raises(UsageError, match="needs two"):
        run_threads(1, lambda comm: measure_links("cores", [0], comm))

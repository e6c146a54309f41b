"""Sizes that hold a halo: the quick search for the moment against the exact solver."""

import numpy as np
import pytest

from evener.errors import InfeasibleError
from evener.models import Constant, Piecewise
from evener.sizing.solving import solve_sizes
from evener.solving.halos import HaloLaw
from evener.solving.sizes import Table, even_sizes


def laws(seed, k):
    rng = np.random.default_rng(seed)
    messages, per_surface, border = rng.random((3, k)) * [[0.02], [0.01], [2.0]]
    return HaloLaw(messages, per_surface, border, 0.5), rng.random(k) * 0.01


CLIFF = Piecewise(np.array([10.0, 200, 260]), np.array([9000.0, 8000, 900]))
SLOW, FAST = Constant(1000.0), Constant(16000.0)


@pytest.mark.parametrize("overlap", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_all_end_at_one_time_that_is_the_least(seed, overlap):
    models = [SLOW, FAST, CLIFF, SLOW, FAST, CLIFF]
    law, fixed = laws(seed, len(models))
    room = np.array([np.inf, 800, np.inf, 5.0, np.inf, np.inf])
    even = even_sizes(models, fixed, law, 3000.0, room, overlap=overlap)
    assert even.loads.sum() == pytest.approx(3000) and (even.loads <= room * (1 + 1e-9)).all()
    used = even.loads > 0
    start = fixed + (0.0 if overlap else law.messages)
    assert (start[~used] >= even.seconds).all()
    ends = np.array(
        [
            load / np.interp(load, table.loads, table.speeds[row]) + start[b]
            for b, (load, table, row) in enumerate(rows_of(models, law, overlap, even.loads))
        ]
    )
    assert (ends[used] <= even.seconds * (1 + 1e-6)).all()
    free = used & (even.loads < room * (1 - 1e-9))
    assert (ends[free] >= even.seconds * (1 - 1e-6)).all()


def rows_of(models, law, overlap, loads):
    from evener.solving.sizes import _tables

    tables = _tables(models, law, 3000.0, overlap)
    for b, load in enumerate(loads):
        table = next(one for one in tables if b in one.devices)
        yield load, table, int(np.flatnonzero(table.devices == b)[0])


def test_without_halos_the_exact_solver_finds_the_same():
    models, none = [SLOW, FAST, CLIFF, SLOW], np.zeros(4)
    law = HaloLaw(none, none, none, 0.5)
    even = even_sizes(models, none, law, 5000.0, np.full(4, np.inf))
    exact = solve_sizes(models, 5000, "exact")
    assert even.seconds == pytest.approx(exact.makespan, rel=2e-3)
    np.testing.assert_allclose(even.loads, exact.sizes, atol=3)


def test_times_that_fall_are_left_to_the_exact_solver():
    jump = Piecewise(np.array([100.0, 110]), np.array([100.0, 1000]))
    none = np.zeros(2)
    even = even_sizes([jump, SLOW], none, HaloLaw(none, none, none, 0.5), 400.0, np.full(2, np.inf))
    loads = np.linspace(0, 400, 4001)
    least = np.maximum(jump.time(loads), (400 - loads) / 1000.0).min()
    assert even.seconds == pytest.approx(least, rel=0.01)


def test_too_little_room_is_refused():
    none = np.zeros(2)
    with pytest.raises(InfeasibleError):
        even_sizes([SLOW, FAST], none, HaloLaw(none, none, none, 0.5), 100.0, np.array([30.0, 30]))


def test_a_table_says_what_is_done_by_a_time():
    loads, speeds = np.array([1.0, 2, 4]), np.array([[1.0, 2, 3]])
    table = Table(np.zeros(1, np.int64), SLOW, loads, loads / speeds, speeds)
    assert table.rises is False  # 1 s, 1 s, 4/3 s
    rising = Table(table.devices, SLOW, loads, loads / (speeds / loads), speeds / loads)
    for load in (0.3, 1.0, 1.7, 3.9, 4.0, 9.0):
        speed = np.interp(load, loads, (speeds / loads)[0])
        assert rising.done_by(np.array([load / speed]))[0] == pytest.approx(load)

"""A whole measurement of emulated devices, from settings to the file and what is said of it."""

from contextlib import contextmanager
from dataclasses import replace

import pytest

from evener.cli.commands.measured import show_records
from evener.cli.output import Output
from evener.errors import InputError
from evener.io.machines.speeds import read_speeds
from evener.measuring import session
from evener.measuring.devices import MeasuredDevice
from evener.measuring.journal import Journal
from evener.measuring.outcomes import Point, Precision
from evener.platforms.models.fitting import Constant
from evener.platforms.models.samples import Sample
from tests.measuring.virtual import EmulatedBench

DEVICES = (MeasuredDevice("d0", cpus=(0,)), MeasuredDevice("d1", cpus=(1,)))


class Slowing(EmulatedBench):
    """Two devices of one computer, half as fast together as alone, slower in the second hour."""

    groups, agreed = ["here", "here"], False

    def has_company(self, name):
        return True

    def measure(self, loads):
        together = all(load is not None for load in loads)
        rate = (0.5 if together else 1.0) * (1.0 if len(self.asked) < 6 else 0.8)
        self.models = [Constant(100.0 * rate), Constant(200.0 * rate)]
        return super().measure(loads)


@pytest.fixture
def bench(monkeypatch):
    made = Slowing([None, None])

    @contextmanager
    def emulated(settings, comm):
        yield made

    monkeypatch.setattr(session, "bench_of", emulated)
    return made


def measured(file, **options):
    settings = session.Settings(
        "own:one", DEVICES, (1, 2, 4, 8, 16, 32), Precision(), 1e9, **options
    )
    return session.measure(settings, file, lambda step, fraction: None)


def test_one_load_again_at_the_end_and_one_alone(bench, tmp_path, capsys):
    records = measured(tmp_path / "s.toml")
    assert bench.asked[6:] == [[8, 8], [8, None], [None, 8]]
    show_records(records, "own:one", "s.toml", Output())
    said = capsys.readouterr().out
    assert "d0: 25.0 % more time at the end than at the start (drift), at 8 units" in said
    assert "d1: 60.0 % more time than alone, at 8 units" in said
    first, second = read_speeds(tmp_path / "s.toml")
    assert [s.seconds for s in first.samples] == pytest.approx(
        [x / 50 for x in (1, 2, 4, 8, 16, 32)]
    )
    assert "8: " in second.notes["again"]
    assert second.notes["measured"] == "together"


def test_an_interrupted_grid_is_not_dropped_for_another(tmp_path):
    grid = session.Settings("own:one", DEVICES, (1, 2, 4, 8, 16, 32), Precision(), 1e9)
    journal = Journal(tmp_path / "s.journal", grid.lasting)
    journal.add("d0", Point(Sample(4, 1.0)))
    journal.close()
    with pytest.raises(InputError, match=r"loads was '1, 2, to 32 \(6\)', now it is '1, 6, to"):
        Journal(tmp_path / "s.journal", replace(grid, loads=(1, 6, 32)).lasting)
    journal = Journal(tmp_path / "s.journal", grid.lasting)
    assert journal.n_found == 1
    journal.close()


def test_alone_nothing_is_compared(bench, tmp_path):
    records = measured(tmp_path / "s.toml", together=False)
    assert all(None in row for row in bench.asked)
    assert [len(r.alone) for r in records] == [0, 0]
    assert read_speeds(tmp_path / "s.toml")[0].notes["measured"] == "alone"


def test_adaptive_with_a_total(bench, tmp_path):
    records = measured(tmp_path / "s.toml", adaptive=8, total=30, together=False)
    assert all(3 <= len(r.points) <= 8 for r in records)

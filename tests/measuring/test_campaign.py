"""Whole measurements of emulated devices: rounds, the journal, what is kept of a broken one."""

import json
import math

import pytest

from evener.errors import InputError
from evener.measuring.benchmark import Gap, Point
from evener.measuring.campaign import Record, run_campaign
from evener.measuring.journal import Journal
from evener.measuring.plans import GridPlan
from evener.models import Constant
from evener.samples import Sample
from tests.measuring.virtual import EmulatedBench

MODELS = [Constant(100.0), Constant(50.0, capacity=60.0)]
LOADS = [10, 20, 40, 80]
SETTINGS = {"kernel": "spmv", "devices": ["a", "b"]}


def campaign(bench, journal, **options):
    return run_campaign(bench, [GridPlan(LOADS) for _ in bench.models], journal, **options)


def test_devices_are_measured_side_by_side():
    bench = EmulatedBench(MODELS)
    first, second = campaign(bench, Journal(None, {}))
    assert bench.asked[:4] == [[10, 10], [20, 20], [40, 40], [80, 80]]
    assert all(row[0] == 80 for row in bench.asked[4:])  # company for the other
    assert [s.load for s in first.samples] == LOADS
    assert [s.seconds for s in first.samples] == pytest.approx([0.1, 0.2, 0.4, 0.8])
    assert first.capacity == math.inf
    assert 60 / 1.1 < second.capacity <= 60
    assert second.gaps[0] == Gap(80, "memory", "out of memory")


def test_or_one_after_the_other():
    bench = EmulatedBench(MODELS)
    campaign(bench, Journal(None, {}), together=False)
    assert bench.asked[:4] == [[load, None] for load in LOADS]
    assert bench.asked[4] == [None, 10]


class Killed(BaseException):
    """Ends a campaign at any moment."""


@pytest.mark.parametrize("kill_after", range(7))
@pytest.mark.parametrize("torn", [b"", b'{"device": "d0", "po'])
def test_after_a_kill_nothing_measured_is_measured_again(tmp_path, kill_after, torn):
    file = tmp_path / "s.journal"
    whole = campaign(EmulatedBench(MODELS, noise=0.1), Journal(None, {}))
    bench = EmulatedBench(MODELS, noise=0.1)
    measure = bench.measure

    def until_killed(loads):
        if len(bench.asked) == kill_after:
            raise Killed
        return measure(loads)

    bench.measure = until_killed
    journal = Journal(file, SETTINGS)
    with pytest.raises(Killed):
        campaign(bench, journal)
    journal.close()
    with file.open("ab") as broken:
        broken.write(torn)
    journal = Journal(file, SETTINGS)
    bench.measure = measure
    again = campaign(bench, journal)
    journal.close()
    assert [r.samples for r in again] == [r.samples for r in whole]
    assert [r.gaps for r in again] == [r.gaps for r in whole]
    assert len(bench.asked) == len({str(row) for row in bench.asked})  # each round once
    assert len(file.read_text().splitlines()) == 1 + sum(len(r.points + r.gaps) for r in whole)


@pytest.mark.parametrize(
    ("text", "line"),
    [("nonsense\n", 1), ("{}\n", 1), ("[]\n", 1), ("OK\n{}\n", 2), ("OK\nnull\n", 2),
     ('OK\n{"device": "d", "point": {"sample": {"load": -1, "seconds": 1}}}\n', 2)],
)  # fmt: skip
def test_journals_that_are_none(tmp_path, text, line):
    file = tmp_path / "s.journal"
    head = json.dumps({"journal": 1, "settings": SETTINGS})
    file.write_text(text.replace("OK", head))
    with pytest.raises(InputError) as caught:
        Journal(file, SETTINGS)
    assert (caught.value.file, caught.value.line) == (str(file), line)
    assert file.read_text() == text.replace("OK", head)  # left as it was


def test_the_journal_of_another_measurement(tmp_path):
    file = tmp_path / "s.journal"
    journal = Journal(file, SETTINGS)
    assert not file.exists()  # before there is anything to keep
    journal.add("d", Point(Sample(5, 1.0)))
    journal.close()
    with pytest.raises(InputError, match="kernel was 'spmv', now it is 'gemm'"):
        Journal(file, {**SETTINGS, "kernel": "gemm"})
    with pytest.raises(InputError, match="cannot be kept"):
        Journal(tmp_path / "nowhere" / "s.journal", SETTINGS).add("d", Point(Sample(5, 1.0)))


def test_two_processes_do_not_share_a_journal(tmp_path):
    pytest.importorskip("fcntl")
    file = tmp_path / "s.journal"
    first = Journal(file, SETTINGS)
    first.add("d", Point(Sample(5, 1.0)))
    with pytest.raises(InputError, match="another process"):
        Journal(file, SETTINGS)
    first.close()
    second = Journal(file, SETTINGS)
    assert second.n_found == 1
    second.close()


def test_what_was_odd_is_noted():
    record = Record("d")
    record.add(Point(Sample(5, 1.0), outliers=2, drift=0.1, share=0.2))
    record.add(Gap(9, "raised", "no"))
    notes = record.speeds("akima", {"kernel": "x"}).notes
    assert notes == {
        "kernel": "x",
        "gaps": "9 (raised): no",
        "at_work": "20% of the time at least; others had its core",
        "outliers": 2,
        "drift": "5: +10.0%",
    }

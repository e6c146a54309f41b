"""Whole measurements of emulated devices: rounds, the journal, what is kept of a broken one."""

import json
import math

import pytest

from evener.errors import InputError
from evener.measuring.campaign import DeviceRecord, run_campaign
from evener.measuring.journal import Journal
from evener.measuring.loads import GridPlan
from evener.measuring.outcomes import Gap, Point
from evener.platforms.models.fitting import Constant
from evener.platforms.models.samples import Sample
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


class KillingBench(EmulatedBench):
    """Its second device is killed at loads from 40 on, `times` times each."""

    times = 1

    def one(self, model, load):
        done = sum(row[1] == load for row in self.asked)
        if model is self.models[1] and load >= 40 and done <= self.times:
            return Gap(load, "killed", "its process was ended by SIGKILL")
        return super().one(model, load)


@pytest.mark.parametrize("times", [1, 2])
def test_who_is_killed_once_tries_again_and_twice_has_no_memory(times):
    bench = KillingBench([MODELS[0], Constant(100.0)])
    bench.times = times
    _, second = campaign(bench, Journal(None, {}))
    if times == 1:
        assert second.capacity == math.inf
        assert [s.load for s in second.samples] == LOADS
    else:
        assert second.capacity < 40
        assert second.gaps[0] == Gap(40, "memory", "its process was ended by SIGKILL, twice")


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
    with pytest.raises(InputError, match="cannot be written"):
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
    record = DeviceRecord("d")
    record.add(Point(Sample(5, 1.0), outliers=2, drift=0.1, share=0.2))
    record.add(Gap(9, "raised", "no"))
    record.add(Point(Sample(7, 1.0, status="slower")))
    record.skipped, record.why_skipped = [8, 11], "above a load that took too long"
    notes = record.speeds("akima", {"kernel": "x"}).notes
    assert notes == {
        "kernel": "x",
        "gaps": "9 (raised): no",
        "skipped": "8, 11: above a load that took too long",
        "at_work": "20% of the time at least; otherwise other processes used its core",
        "slower": "7: stopped before they were done; models count 5 times their seconds",
        "outliers": 2,
        "drift": "5: +10.0%",
    }


class Disturbed(EmulatedBench):
    """One device that something else holds up, or speeds up, at one load for the first time."""

    def __init__(self, times, at=100, **options):
        super().__init__([Constant(50.0), Constant(100.0)], **options)
        self.times, self.at, self.seen = times, at, 0

    def one(self, model, load):
        point = super().one(model, load)
        if load != self.at or model is not self.models[0]:
            return point
        self.seen += 1
        factor = self.times[min(self.seen, len(self.times)) - 1]
        return Point(Sample(load, point.sample.seconds * factor))


def checked_campaign(bench, **options):
    journal = Journal(None, {})
    plans = [GridPlan([1, 10, 100, 1000]) for _ in bench.models]
    return run_campaign(bench, plans, journal, checks=journal.aside("checked"), **options)


@pytest.mark.parametrize("factor", [3.0, 1 / 3])
@pytest.mark.parametrize("together", [True, False])
def test_a_sample_that_stands_out_is_measured_again(factor, together):
    record, other = checked_campaign(Disturbed([factor, 1.0]), together=together)
    assert [s.seconds for s in record.samples] == pytest.approx([0.02, 0.2, 2.0, 20.0])
    (check,) = record.checks
    assert (check.load, check.first.sample.seconds) == (100, pytest.approx(2.0 * factor))
    assert str(check) in record.speeds("piecewise", {}).notes["checked"]
    assert other.checks == []


def test_once_and_believed_if_it_comes_again():
    bench = Disturbed([3.0, 3.0])
    record, _ = checked_campaign(bench)
    assert bench.seen == 2
    assert [s.seconds for s in record.samples] == pytest.approx([0.02, 0.2, 6.0, 20.0])


def test_the_better_of_two_bad_ones_is_kept():
    record, _ = checked_campaign(Disturbed([3.0, 9.0]))
    assert record.samples[2].seconds == pytest.approx(6.0)


@pytest.mark.parametrize(
    ("stops", "loads", "capacity"), [(1, [1, 10, 100, 1000], "ok"), (2, [1, 10, 100], "slower")]
)
def test_a_load_that_was_stopped_is_measured_again(stops, loads, capacity):
    """One stall does not end the curve; a load that is stopped twice does, as beyond memory."""

    class Stalled(EmulatedBench):
        seen = 0

        def one(self, model, load):
            if load != 100:
                return super().one(model, load)
            self.seen += 1
            stalled = Point(Sample(load, 5.0, status="slower"))
            return stalled if self.seen <= stops else super().one(model, load)

    journal = Journal(None, {})
    plans = [GridPlan([1, 10, 100, 1000], search=False)]
    bench = Stalled([Constant(100.0)])
    (record,) = run_campaign(bench, plans, journal, checks=journal.aside("checked"))
    assert [round(s.load) for s in record.samples] == loads
    assert record.samples[2].status == capacity
    assert bench.seen == 2
    (check,) = record.checks
    assert str(check).startswith("100: 5.00 s, then ")
    assert ("slower" in record.speeds("piecewise", {}).notes) == (stops == 2)


def test_loads_that_are_not_tried_are_named():
    class Slow(EmulatedBench):
        def one(self, model, load):
            return super().one(model, load) if load < 20 else Point(
                Sample(load, 1.0, status="slower"))  # fmt: skip

    (record,) = campaign(Slow([Constant(100.0)]), Journal(None, {}))
    assert [s.load for s in record.samples] == [10, 20]
    assert (record.skipped, record.why_skipped) == ([40, 80], "above a load that took too long")


def test_what_failed_is_tried_again_after_a_kill(tmp_path):
    file = tmp_path / "s.journal"
    journal = Journal(file, SETTINGS)
    for load, kind in enumerate(("raised", "lost", "stuck", "at once", "clock", "memory"), 1):
        journal.add("d", Gap(load, kind, "no"))
    journal.close()
    journal = Journal(file, SETTINGS)
    assert [journal.get("d", load) for load in range(1, 6)] == [None] * 5
    assert journal.get("d", 6) == Gap(6, "memory", "no")
    journal.add("d", Point(Sample(1, 0.5)))
    journal.close()
    journal = Journal(file, SETTINGS)
    assert journal.get("d", 1) == Point(Sample(1, 0.5))
    journal.close()

"""Times from running programs: our own files, Paraver's, and timers around a block."""

import json
import math

import pytest

from evener.errors import InputError
from evener.measuring.traces import TraceLog, read_paraver, read_traces, timed
from tests.measuring.virtual import Clock

CSV = "iteration,device,seconds,load\n1,a,0.5,10\n2,a,0.7,10\n1,b,0.2,5\n3,a,1.5,20\n"
PRV = """#Paraver (21/11/26 at 10:00):{end}:1(2):1:2(1:1,2:1)
c:1:1:1:1
1:1:1:1:1:0:100:1
1:1:1:1:1:100:150:3
1:1:1:1:1:150:400:1
1:2:1:2:1:0:300:1
1:2:1:2:2:0:340:1
1:2:1:2:1:300:400:3
2:1:1:1:1:0:6000:1
2:1:1:1:1:200:42:7:6000:1
2:1:1:1:1:400:6000:0
2:2:1:2:1:0:6000:1
2:2:1:2:1:100:6000:1
3:1:1:1:1:100:100:2:1:2:1:120:120:8:0
"""


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


def test_csv_and_json_lines_are_put_together(write):
    more = [{"device": "b", "load": 5, "seconds": 0.4}, {"device": "c", "load": 1, "seconds": 1}]
    lines = "".join(json.dumps(entry) + "\n" for entry in more)
    a, b, c = read_traces([write("t.csv", CSV), write("t.jsonl", lines)]).devices
    assert [(s.load, s.repetitions) for s in a.samples] == [(10, 2), (20, 1)]
    assert a.samples[0].seconds == pytest.approx(0.6)
    assert a.samples[0].half_width == pytest.approx(12.706 * 0.1, rel=1e-3)  # Student's, n = 2
    assert a.samples[1].half_width == 0.0
    assert b.samples[0].seconds == pytest.approx(0.3)
    assert c.name == "c"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", None, "contains no times"),
        ("device,load\na,1\n", 1, "no column seconds"),
        (CSV + "1,a,nan,5\n", 6, "seconds must be finite"),
        (CSV + "1,a,-1,5\n", 6, "seconds"),
        (CSV + "1,a,0,5\n", 6, "seconds"),
        (CSV + "1,a,1,0\n", 6, "load"),
        (CSV + "1,a\n1,a,1,5\n", 6, "2 fields"),
        (CSV + "1, ,1,5\n", 6, "device"),
        ('{"device": "a", "load": 1}\n', 1, "seconds is missing"),
        ('{"device": "a", "load": 1, "seconds": true}\n', 1, "seconds"),
        ('{"device": 5, "load": 1, "seconds": 1}\n', 1, "device"),
        ('{"dev\n{"device": "a", "load": 1, "seconds": 1}\n', 1, "not JSON"),
    ],
)
def test_traces_that_are_none(write, text, line, message):
    file = write("t.txt", text)
    with pytest.raises(InputError, match=message) as caught:
        read_traces([file])
    assert (caught.value.file, caught.value.line) == (str(file), line)


@pytest.mark.parametrize(
    "text", [CSV + "1,a,0", '{"device": "a", "load": 1, "seconds": 2}\n{"device": "a", "lo']
)
def test_a_line_that_was_cut_off_is_left_out_and_said(write, text):
    found = read_traces([write("t", text)])
    assert found.devices[0].name == "a"
    assert "cut off" in found.notes[0]


def test_useful_time_of_ranks_in_a_paraver_trace(write):
    file = write("t.prv", PRV.format(end="400_ns"))
    # The first rank computes 350 of 400 ns; of the second's threads the busier one counts.
    whole = [350e-9], [340e-9]
    assert read_paraver(file) == [pytest.approx(times) for times in whole]
    assert read_paraver(file, iterations=10)[0] == pytest.approx([35e-9])
    first, second = read_paraver(file, event=6000)
    assert first == pytest.approx([150e-9, 200e-9])
    assert second == pytest.approx([100e-9])
    microseconds = read_paraver(write("u.prv", PRV.format(end="400")))
    assert microseconds[0] == pytest.approx([350e-6])
    one, two = read_traces([file], [[10, 20]], event=6000).devices
    assert (one.name, one.samples[0].load, one.samples[0].repetitions) == ("rank0", 10, 2)
    assert two.samples[0].seconds == pytest.approx(100e-9)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("#nothing\n", {}, "lacks #Paraver"),
        ("#Paraver (x):9_ns:\n", {}, "no state"),
        ("#Paraver (x):9_ns:\n1:1:1:1:1:5:2:1\n", {}, "not a Paraver record"),
        ("#Paraver (x):9_ns:\n1:1:1:1:1:zero\n", {}, "not a Paraver record"),
        (f"#Paraver (x):9_ns:\n1:1:1:1:1:0:{10**400}:1\n", {}, "not a Paraver record"),
        (PRV.format(end=400), {"event": 42}, "fewer than two events"),
        (PRV.format(end=400), {"iterations": 0}, "iterations"),
    ],
)
def test_paraver_traces_that_are_none(write, text, options, message):
    with pytest.raises(InputError, match=message):
        read_paraver(write("t.prv", text), **options)


def test_a_paraver_trace_cut_off(write):
    whole = PRV.format(end="400_ns").partition("\n2:")[0]
    found = read_paraver(write("t.prv", whole + "\n1:1:1:1:1:40"))
    assert found == [pytest.approx([350e-9]), pytest.approx([340e-9])]


def test_loads_of_ranks_must_be_given(write):
    file = write("t.prv", PRV.format(end=400))
    with pytest.raises(InputError, match="does not contain the loads"):
        read_traces([file])
    with pytest.raises(InputError, match="2 ranks need 2 loads, not 1"):
        read_traces([file], [[5]])
    with pytest.raises(InputError, match="load must be finite"):
        read_traces([file], [[5, math.nan]])
    with pytest.raises(InputError, match="more lists"):
        read_traces([file], [[5, 5], [5, 5]])
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_traces([file.with_name("none.csv")])


class Two:
    """Observes the times of two ranks."""

    seen = ()

    def observe(self, times):
        self.seen = times
        return [3, 4]


class Other:
    """A communicator whose other rank took two seconds."""

    def allgather(self, value):
        return [value, 2.0]


def test_a_block_is_timed_and_the_balancer_told():
    clock, balancer = Clock(), Two()
    with timed(balancer, Other(), clock) as taken:
        clock.now += 1.5
    assert (taken.seconds, taken.sizes, balancer.seen) == (1.5, [3, 4], [1.5, 2.0])
    balancer.seen = ()
    with pytest.raises(KeyError), timed(balancer, Other(), clock):
        raise KeyError
    assert balancer.seen == ()


def test_a_log_of_times_is_a_trace(tmp_path):
    clock = Clock()
    log = TraceLog(tmp_path / "t.jsonl", "mine", 100)
    for load in (100, 100, 200):
        log.load = load
        with timed(log, clock=clock):
            clock.now += load / 50
    (device,) = read_traces([tmp_path / "t.jsonl"]).devices
    assert [(s.load, s.seconds, s.repetitions) for s in device.samples] == [
        (100, 2, 2),
        (200, 4, 1),
    ]
    with pytest.raises(InputError, match="seconds"), timed(log, clock=clock):
        pass  # no time at all
    with pytest.raises(InputError, match="one device"):
        log.observe([1.0, 2.0])
    with pytest.raises(InputError, match="cannot be written"):
        TraceLog(tmp_path / "no" / "t.jsonl", "mine", 5).observe([1.0])

"""Samples that plans are made with, and traces that viewers open, of what a run took."""

import json

import numpy as np
import pytest

import evener as ev
from evener.errors import UsageError
from evener.graphs.generating.grid import grid
from evener.io.machines.speeds import read_speeds, write_speeds
from evener.platforms.platform import Device, Platform
from evener.running.apps import bfs, pagerank
from evener.running.executing import run_program
from evener.running.program_run import ProgramRun
from evener.running.records import samples_of, trace_of, write_trace

SPANS = {"computing", "packing", "waiting", "unpacking"}


@pytest.fixture(scope="module")
def plan():
    return ev.plan(grid((40, 30)), [1.0, 1.0, 2.0])


@pytest.fixture(scope="module")
def run(plan):
    return run_program(pagerank.PROGRAM, grid((40, 30)), plan.partition, most=6)


def test_samples_are_loads_and_mean_seconds_and_can_be_read(plan, run, tmp_path):
    write_speeds(tmp_path / "run.samples", samples_of(run, plan))
    read = read_speeds(tmp_path / "run.samples")
    assert [one.name for one in read] == plan.platform.names
    for b, one in enumerate(read):
        (sample,) = one.samples
        seconds = [step.computing for step in run.steps[b]]
        assert sample.load == plan.certificate.weights[b]
        assert sample.seconds == pytest.approx(np.median(seconds))
        assert sample.repetitions == 6
        assert sample.half_width > 0


def test_supersteps_of_unlike_work_count_by_their_mean(plan):
    run = run_program(bfs.PROGRAM, grid((40, 30)), plan.partition)
    for b, one in enumerate(samples_of(run, plan)):
        seconds = [step.computing for step in run.steps[b]]
        assert one.samples[0].seconds == pytest.approx(np.mean(seconds))


def test_a_device_without_a_block_keeps_its_stated_speed_in_the_measured_unit(run):
    graph = grid((40, 30))
    devices = [Device("a", 1.0), Device("b", 3.0)]
    alone = ev.Partition(np.zeros(graph.n, np.int32), 2)
    judged = ev.evaluate(graph, alone, Platform(tuple(devices)))
    found = run_program(pagerank.PROGRAM, graph, alone, most=3)
    plan = ev.plan(graph, [1.0, 3.0])
    changed = type(plan)(**{**vars(plan), "partition": alone, "evaluation": judged})
    a, b = samples_of(found, changed)
    assert b.samples[0].speed == pytest.approx(3 * a.samples[0].speed)
    assert "not measured" in b.notes["source"]


def test_a_run_without_supersteps_has_no_speeds(plan):
    nothing = ProgramRun(np.zeros(3), ((), (), ()), 0.0)
    with pytest.raises(UsageError, match="no superstep was computed"):
        samples_of(nothing, plan)


@pytest.mark.parametrize("program", [pagerank.PROGRAM, bfs.PROGRAM])
def test_spans_add_up_follow_each_other_and_lie_within_the_run(plan, program):
    run = run_program(program, grid((40, 30)), plan.partition, most=6)
    for steps in run.steps:
        spans = [span for step in steps for span in step.spans]
        for name in SPANS:
            own = sum(seconds for what, _, seconds in spans if what == name)
            assert own == pytest.approx(sum(getattr(step, name) for step in steps))
        ends = [began + seconds for _, began, seconds in spans]
        assert all(end <= span[1] + 1e-9 for end, span in zip(ends[:-1], spans[1:], strict=True))
        assert spans[0][1] >= 0
        assert ends[-1] <= run.seconds + 1e-3


def test_traces_have_the_documented_fields(run, plan, tmp_path):
    """Fields of complete and metadata events, by the Trace Event Format's description."""
    write_trace(tmp_path / "t.json", trace_of(run, plan.platform.names, ["x", "x", "y"]))
    trace = json.loads((tmp_path / "t.json").read_text())
    assert trace["displayTimeUnit"] in ("ms", "ns")
    named = {"process_name": [], "thread_name": []}
    tracks = {}
    for event in trace["traceEvents"]:
        assert isinstance(event["pid"], int)
        assert isinstance(event["tid"], int)
        assert event["ph"] in "XM"
        if event["ph"] == "M":
            assert event["name"] in (*named, "thread_sort_index")
            key = "sort_index" if event["name"] == "thread_sort_index" else "name"
            assert list(event["args"]) == [key]
            named.get(event["name"], []).append(event["args"].get("name"))
            continue
        assert event["name"] in SPANS
        assert event["ts"] >= 0
        assert event["dur"] >= 0
        assert isinstance(event["cat"], str)
        assert 0 <= event["args"]["superstep"] < 6
        tracks.setdefault((event["pid"], event["tid"]), []).append(event)
    assert named == {"process_name": ["x", "y"], "thread_name": plan.platform.names}
    assert sorted(tracks) == [(1, 1), (1, 2), (2, 3)]
    for device, events in enumerate(tracks.values()):
        total = sum(event["dur"] for event in events if event["name"] == "computing")
        assert total == pytest.approx(1e6 * run.of_devices("computing")[:, device].sum(), abs=0.01)

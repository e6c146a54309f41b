"""The page of a run: its figures are those of the run; the sentence on what to do."""

import numpy as np
import pytest

import evener as ev
from evener.graphs.generating.grid import grid
from evener.planning import breakdown as breakdowns
from evener.planning.breakdown import breakdown_of, divided_by
from evener.platforms.platform import Device, Level, Link, Platform
from evener.reporting.runs import COLUMNS, ROW, _filled, advice_of, machine_names, write_run
from evener.running.apps import pagerank
from evener.running.engine.recording import Superstep
from evener.running.program_run import ProgramRun
from tests.reporting.pages import parse

GRAPH = grid((30, 20))
SHORTEST_TOLD = breakdowns.SHORTEST_TOLD
COMMANDS = {"units": ["plan", "--kernel"], "loads": ["plan", "a b"], "exchange": ["advise"]}


@pytest.fixture(autouse=True)
def runs_of_any_length(monkeypatch):
    """Those made here are of milliseconds."""
    monkeypatch.setattr(breakdowns, "SHORTEST_TOLD", 0.0)


def made(k=3, computing=(1e-3, 1e-3, 4e-3)):
    """A plan and a run of two supersteps on machines a and b."""
    link = Link(1e-6, 1e-9)
    levels = (Level("all", link), Level("node", link))
    places = ["a", "a", "b"]
    devices = [Device(f"cpu{i}", 1e6, at=places[min(i, 2)]) for i in range(k)]
    plan = ev.plan(GRAPH, Platform(tuple(devices), levels), objective="cut")
    longest = max(computing)
    runs = []
    for seconds in (computing[min(i, 2)] for i in range(k)):
        steps = []
        for i in range(2):
            step = Superstep(edges=400, sent=100)
            step.add("computing", 2 * i * longest, seconds)
            step.add("packing", 2 * i * longest + seconds, 1e-5)
            step.add("waiting", 2 * i * longest + seconds + 1e-5, longest - seconds)
            steps.append(step)
        runs.append(tuple(steps))
    run = ProgramRun(np.zeros(GRAPH.n), tuple(runs), 2 * longest)
    return plan, run, breakdown_of(run, divided_by(plan), GRAPH, pagerank.PROGRAM)


def test_the_page_shows_each_device_under_its_machine(tmp_path):
    plan, run, breakdown = made()
    advice = advice_of(breakdown, plan.platform.names, COMMANDS)
    write_run(tmp_path / "p.html", run, plan.platform, breakdown, advice, "pagerank")
    text = (tmp_path / "p.html").read_text()
    assert "http" not in text.replace("http-equiv", "")
    root = parse(text)
    (heading,) = root.all("h1")
    assert heading.text == advice.sentence + ":"
    assert [one.text for one in root.all("h3")] == ["a", "b"]
    bars = [one.attributes["title"] for one in root.all("li") if "title" in one.attributes]
    assert bars[2] == "cpu2: computing 4.00 ms, packing 10.0 µs, waiting 0 s, unpacking 0 s"
    rows = [[cell.text for cell in row.all() if cell.tag in ("td", "th")] for row in root.all("tr")]
    assert [row[0] for row in rows[1:]] == ["cpu0", "cpu1", "cpu2"]
    assert rows[-1][3] == "4.00 ms"
    assert {path.attributes["class"] for path in root.all("path")} >= {"computing", "waiting"}


def test_what_to_do():
    plan, _, breakdown = made()
    found = advice_of(breakdown, plan.platform.names, COMMANDS)
    assert found.sentence.startswith("cpu0 waits 74.8 % of the time, because cpu2 computes 4.00 ms")
    assert found.command == "plan 'a b'"
    plan, _, breakdown = made(computing=(1e-3, 1e-3, 1e-3))
    assert advice_of(breakdown, plan.platform.names, COMMANDS).command == ""
    plan, _, breakdown = made(1)
    assert "only device" in advice_of(breakdown, plan.platform.names, COMMANDS).sentence


def test_a_short_run_tells_nothing(monkeypatch):
    plan, run, breakdown = made(computing=(1e-4, 1e-4, 4e-4))
    assert run.seconds < SHORTEST_TOLD
    monkeypatch.setattr(breakdowns, "SHORTEST_TOLD", SHORTEST_TOLD)
    found = advice_of(breakdown, plan.platform.names, COMMANDS)
    assert found == ("A run of 800 µs is too short to say why devices wait.", "")


def test_of_many_devices_the_busiest_and_the_idlest_are_drawn(tmp_path):
    plan, run, breakdown = made(60)
    advice = advice_of(breakdown, plan.platform.names, COMMANDS)
    write_run(tmp_path / "p.html", run, plan.platform, breakdown, advice, "pagerank")
    text = (tmp_path / "p.html").read_text()
    assert "The 16 busiest devices of 60, and the 16 that wait most." in text
    assert len([one for one in parse(text).all("li") if "title" in one.attributes]) == 32
    assert len(text) < 3e6


def test_columns_add_up_to_the_spans():
    spans = [("computing", 0.0, 0.3), ("waiting", 0.3, 0.7), ("packing", 1.0, 1e-5)]
    filled = _filled(spans, 1.00001, breakdowns.ACTIVITIES)
    assert filled.sum(axis=1) * 1.00001 / COLUMNS == pytest.approx([0.3, 1e-5, 0.7, 0])
    assert filled.max() <= 1 + 1e-9
    assert ROW > 0


def test_machines_are_named_by_the_place_that_their_devices_share():
    link = Link(1e-6, 1e-9)
    levels = tuple(Level(name, link) for name in ("site", "node", "socket"))
    at = ["n0/s0", "n0/s1", "n1/s0", "n1/s1"]
    kinds = ["cpu", "cuda"] * 2
    devices = [
        Device(f"d{i}", 1.0, kind, at=a) for i, (a, kind) in enumerate(zip(at, kinds, strict=True))
    ]
    assert machine_names(Platform(tuple(devices), levels)) == ["n0", "n0", "n1", "n1"]
    assert machine_names(Platform.flat([1, 2])) == ["all devices"] * 2

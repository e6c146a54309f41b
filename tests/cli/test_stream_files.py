"""`evener report`, `export` and `replay` of stream plans, and what other commands say of these."""

import json

import numpy as np
import pytest

from evener.io.dataflow.reading import read_stream_graph
from evener.io.plans.partitions import read_part
from evener.io.plans.stream_plan import read_stream_plan, write_stream_plan
from tests.cli.commands.test_map import APP, MACHINE


@pytest.fixture
def here(tmp_path, monkeypatch, evener):
    (tmp_path / "app.toml").write_text(APP)
    (tmp_path / "m.toml").write_text(MACHINE)
    (tmp_path / "other.toml").write_text(APP.replace("1e6", "2e6"))
    monkeypatch.chdir(tmp_path)
    assert evener("map", "app.toml", "--machine", "m.toml", "--method", "greedy").code == 0
    return tmp_path


def test_a_report_says_what_would_help(evener, here):
    said = evener("report", "app.plan", "app.toml", "--json")
    assert said.code == 0, said.err
    found = json.loads(said.out)
    assert "scalar takes 10.0 ms on cpu" in found["limits"][1]
    changes = {one["change"]: one["seconds"] for one in found["changes"]}
    assert changes["twice the mips of cpu"] == pytest.approx(0.005 + 8e-9)
    assert "Filters on devices" in (here / "app.html").read_text()
    plain = evener("report", "app.plan").out
    assert "twice the mips of cpu" in plain
    written = evener("map", "app.toml", "--machine", "m.toml", "--report", "map.html")
    assert "Written: map.html" in written.out
    assert "placed by ours" in (here / "map.html").read_text()


@pytest.mark.parametrize("to", ["csv", "json", "dot", "metis", "npy", "npz"])
def test_exports_are_read_back(evener, here, to):
    assert evener("export", "app.plan", "--to", to, "-o", "x").code == 0
    plan = read_stream_plan("app.plan")
    if to == "dot":
        graph = read_stream_graph("x").graph
        assert graph.names == plan.names
        assert graph.vector.tolist() == plan.graph.vector.tolist()
        text = (here / "x").read_text()
        assert text.count('device="cpu" style=filled fillcolor="#') == 1
        assert text.count('device="gpu"') == 1
        return
    assert read_part("x", 2, labels=np.array(plan.names)).tolist() == plan.part.tolist()


def test_a_plan_is_made_again(evener, here):
    said = evener("replay", "app.plan", "app.toml")
    assert (said.code, "Identical" in said.out) == (0, True), said.err
    other = evener("replay", "app.plan", "other.toml")
    assert (other.code, "the input files differ" in other.err) == (3, True)
    plan = read_stream_plan("app.plan")
    plan.part[:] = 0
    write_stream_plan("app.plan", plan)
    moved = evener("replay", "app.plan", "app.toml")
    assert (moved.code, "1 of 2 filters are on another device" in moved.err) == (5, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["report", "app.plan", "other.toml"], "is not the file the plan was made from"),
        (["report", "app.plan", "--coords", "x"], "has no options on reading"),
        (["replay", "app.plan"], "Give that file, too"),
        (["export", "app.plan", "--to", "vtu", "-o", "x"], "filters cannot be exported to 'vtu'"),
        (["distribute", "app.plan", "app.toml", "-o", "d"], "is a plan of a stream graph"),
        (["info", "app.plan"], "contains a plan or a partition, not a graph"),
        (["evaluate", "app.toml", "app.plan", "--epsilon", "0.1"], "--epsilon says nothing of"),
        (["evaluate", "app.toml", "app.plan", "--edges"], "--edges says nothing of"),
        (["evaluate", "app.toml", "x", "--reading", "ceil", "--k", "2"], "Add --stream"),
        (["compare", "app.toml", "--seconds", "1", "--k", "2"], "Add --stream"),
        (["compare", "app.toml", "--stream", "--preset", "fast"], "--preset says nothing"),
        (["compare", "app.toml", "--stream", "--with", "hmop", "--machine", "m.toml"], "hmap?"),
    ],
)  # fmt: skip
def test_what_is_refused(evener, here, words, said):
    refused = evener(*words)
    assert refused.code != 0
    assert said in refused.err, refused.err


def test_a_plan_that_says_another_period_is_refused(evener, here):
    plan = read_stream_plan("app.plan")
    plan.computing[:] = 1.0
    write_stream_plan("app.plan", plan)
    said = evener("report", "app.plan")
    assert (said.code, "app.plan: says a period of" in said.err) == (3, True)


def test_its_machine_is_read_from_a_plan(evener, here):
    said = evener("map", "app.toml", "--machine", "app.plan", "--method", "greedy", "-o", "y.plan")
    assert said.code == 0, said.err
    assert read_stream_plan("y.plan").platform == read_stream_plan("app.plan").platform

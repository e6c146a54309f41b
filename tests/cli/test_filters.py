"""Commands on stream graphs and their plans: evaluate, compare, report, export, replay."""

import json

import numpy as np
import pytest

from evener.cli.kinds.filters import advice_to_dict, stream_figures
from evener.io.dataflow.reading import read_stream_graph
from evener.io.plans.partitions import read_part
from evener.io.plans.stream_plan import read_stream_plan, write_stream_plan
from evener.planning.stream import MapOptions, counted, map_filters, problem_of
from evener.planning.stream_advice import advise_on_stream
from tests.cli.commands.test_map import APP, MACHINE
from tests.streams.twins import small_case


@pytest.fixture
def here(tmp_path, monkeypatch, evener):
    (tmp_path / "app.toml").write_text(APP)
    (tmp_path / "m.toml").write_text(MACHINE)
    (tmp_path / "names.csv").write_text("filter,block\nvector,0\nscalar,1\n")
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
        (["report", "app.plan", "--coords", "x"], "reading options do not apply"),
        (["replay", "app.plan"], "Give that file after"),
        (["export", "app.plan", "--to", "vtu", "-o", "x"], "filters cannot be exported to 'vtu'"),
        (["distribute", "app.plan", "app.toml", "-o", "d"], "is a plan of a stream graph"),
        (["info", "app.plan"], "contains a plan or a partition, not a graph"),
        (["evaluate", "app.toml", "app.plan", "--epsilon", "0.1"], "--epsilon does not apply to"),
        (["evaluate", "app.toml", "app.plan", "--edges"], "--edges does not apply to"),
        (["evaluate", "app.toml", "x", "--reading", "ceil", "--k", "2"], "Add --stream"),
        (["compare", "app.toml", "--seconds", "1", "--k", "2"], "Add --stream"),
        (["compare", "app.toml", "--stream", "--preset", "fast"], "--preset does not apply"),
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
    assert (said.code, "app.plan: states a period of" in said.err) == (3, True)


def test_its_machine_is_read_from_a_plan(evener, here):
    said = evener("map", "app.toml", "--machine", "app.plan", "--method", "greedy", "-o", "y.plan")
    assert said.code == 0, said.err
    assert read_stream_plan("y.plan").platform == read_stream_plan("app.plan").platform


def test_devices_of_any_tool_are_judged(evener, here):
    """On the wrong devices: 10^6 / 10^6 a second, and 10^6 / 10^8 without lanes."""
    words = ["evaluate", "app.toml", "names.csv", "--stream", "--machine", "m.toml"]
    said = evener(*words, "--json")
    assert said.code == 0, said.err
    found = json.loads(said.out)
    assert found["period"] == pytest.approx(1.0 + 8e-9)
    assert found["computing"] == pytest.approx([1e-2, 1.0])
    assert (found["bottleneck"], found["used"]) == ("gpu", 2)
    assert "Cost read as literal, sender, sum." in evener(*words, "--reading", "literal,sender").out


def test_a_plan_is_judged_by_its_own_machine_and_reading(evener, here):
    evener("map", "app.toml", "--machine", "m.toml", "--method", "greedy", "--reading", "max1")
    said = evener("evaluate", "app.toml", "app.plan")
    assert "Cost read as max1, both, sum." in said.out
    assert "Period 10.0 ms" in said.out
    by_file = evener("evaluate", "app.toml", "names.csv", "--as", "app.plan", "--json")
    assert json.loads(by_file.out)["period"] == pytest.approx(1.0 + 8e-9)
    (here / "short.csv").write_text("filter,block\nvector,0\n")
    short = evener("evaluate", "app.toml", "short.csv", "--as", "app.plan")
    assert (short.code, "filter" in short.err) == (3, True)


def test_methods_beside_each_other(evener, here):
    named = "random,greedy,metis,exact"
    words = ["compare", "app.toml", "--stream", "--machine", "m.toml", "--with", named]
    said = evener(*words, "--json", "--report", "x.html")
    assert said.code == 0, said.err
    assert "greedy" in (here / "x.html").read_text()
    found = json.loads(said.out)["methods"]
    periods = [one["period"] for one in found if not one["note"]]
    assert periods == sorted(periods)
    assert {one["method"] for one in found} == set(named.split(","))
    assert periods[0] == pytest.approx(0.01 + 8e-9)
    assert all(one["cpu_seconds"] >= 0 and one["bound"] <= one["period"] for one in found
               if not one["note"])  # fmt: skip


def test_figures_are_the_plans():
    problem = small_case(4, n=5, k=3)
    plan = map_filters(problem.graph, problem.processors.platform, MapOptions("round-robin"))
    found = stream_figures(plan)
    assert {"period", "bound", "bottleneck", "method"} <= found.keys()
    assert max(np.add(found["computing"], found["communicating"])) == found["period"]
    assert found["used"] == len(set(plan.part.tolist()))
    problem = problem_of(plan)
    advice = advise_on_stream(problem, plan.part, counted(plan, problem), plan.bound)
    told = advice_to_dict(advice)
    assert [one["change"] for one in told["changes"]] == [one.text for one in advice.changes]
    assert told["limits"][0].startswith(f"{plan.bottleneck} is busiest")

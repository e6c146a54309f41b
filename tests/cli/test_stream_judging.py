"""`evener evaluate --stream` and `evener compare --stream`."""

import json

import pytest

from tests.cli.commands.test_map import APP, MACHINE


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "app.toml").write_text(APP)
    (tmp_path / "m.toml").write_text(MACHINE)
    (tmp_path / "names.csv").write_text("filter,block\nvector,0\nscalar,1\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


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

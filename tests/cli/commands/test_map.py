"""`evener map`: from a stream graph to a plan."""

import json

import numpy as np
import pytest

from evener.io.plans.stream_plan import read_stream_plan

APP = """
[[filter]]
name = "scalar"
scalar = 1e6
[[filter]]
name = "vector"
scalar = 1
vector = 1e6
[[edge]]
from = "scalar"
to = "vector"
bytes = 8
"""
MACHINE = """
[[device]]
name = "cpu"
mips = 100
[[device]]
name = "gpu"
mips = 1
vector_length = 1e6
[[link]]
between = ["cpu", "gpu"]
GB_per_s = 1
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "app.toml").write_text(APP)
    (tmp_path / "m.toml").write_text(MACHINE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_filters_go_where_they_are_quick(evener, here):
    said = evener("map", "app.toml", "--machine", "m.toml", "-o", "x.plan", "--json")
    assert said.code == 0, said.err
    found = json.loads(said.out)
    assert np.load(here / "x.plan")["part"].tolist() == [0, 1]
    assert found["period"] == pytest.approx(0.01 + 8e-9)
    assert found["bound"] <= found["period"]
    assert (found["bottleneck"], found["method"]) == ("cpu", "ours")
    plan = read_stream_plan(here / "x.plan")
    assert plan.period == found["period"]
    assert plan.names == ("scalar", "vector")


@pytest.mark.parametrize("method", ["exact", "greedy", "list", "round-robin", "random"])
def test_every_method_says_the_period_of_its_mapping(evener, here, method):
    words = ["map", "app.toml", "--machine", "m.toml", "--method", method, "--reading", "literal"]
    said = evener(*words)
    assert said.code == 0, said.err
    assert "Period" in said.out
    assert (here / "app.plan").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--k", "2"], "has no mips"),
        (["--machine", "m.toml", "--method", "hmop"], "did you mean hmap"),
        (["--machine", "m.toml", "--reading", "cail"], "unknown reading"),
        (["--machine", "m.toml", "--seconds", "0"], "above zero"),
        (["--machine", "m.toml", "-o", "app.toml"], "app.toml"),
    ],
)
def test_what_is_refused(evener, here, words, said):
    refused = evener("map", "app.toml", *words)
    assert refused.code != 0
    assert said in refused.err
    assert (here / "app.toml").read_text() == APP

"""`evener plan --speeds FILE`: sized, predicted and reported by curves; replayed from the plan."""

import json

import numpy as np
import pytest

from evener.files.writing import write_text
from evener.io.machines.speeds import read_speeds, write_speeds
from evener.io.plans.plan import read_plan
from evener.io.write import write_graph
from evener.platforms.models.examples import emulated_speeds
from evener.platforms.models.fitting import fit_device
from evener.platforms.models.samples import DeviceSpeeds, Sample
from tests.assertions import grid


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A graph of 2,000 vertices, curves of two kinds of devices, and a machine of three."""
    monkeypatch.chdir(tmp_path)
    write_graph("g.graph", grid(40, 50))
    cliff = (Sample(100, 0.001), Sample(500, 0.005), Sample(520, 0.2), Sample(2000, 1.0, 0.1))
    plain = (Sample(1000, 0.02, 0.001, 5),)
    write_speeds("s.toml", [DeviceSpeeds("small", cliff), DeviceSpeeds("big", plain, 1900.0)])
    write_text("m.toml", '[[level]]\nname = "net"\nalpha_us = 1\nGB_per_s = 1\n'
               '[[device]]\nname = "small"\ncount = 2\nspeed = 5\n'
               '[[device]]\nname = "big"\nspeed = 1\nmemory_units = 1300\n')  # fmt: skip
    return tmp_path


@pytest.mark.slow
def test_seconds_are_those_of_the_models_at_the_real_loads(evener, place):
    said = evener("plan", "g.graph", "--machine", "m.toml", "--speeds", "s.toml", "-o", "g.plan",
                  "--report", "g.html", "--with", "rcb", "--json")  # fmt: skip
    assert said.code == 0, said.err
    made = json.loads(said.out)
    models = {d.name: fit_device(d) for d in read_speeds("s.toml")}
    assert [block["device"] for block in made["blocks"]] == ["small0", "small1", "big"]
    for block in made["blocks"]:
        model = models[block["device"].rstrip("01")]
        assert block["compute_seconds"] == pytest.approx(model.time(float(block["weight"])))
        assert block["low"] <= block["weight"] <= block["high"]
    # The small ones stay on this side of their cliff; at their speed before it they would get 800.
    assert max(block["high"] for block in made["blocks"][:2]) < 520
    assert made["bound"] <= made["seconds"] <= 1.05 * made["bound"]
    assert any("speed curves" in note for note in made["notes"])

    plan = read_plan("g.plan")
    assert plan.platform.devices[0].curve == read_speeds("s.toml")[0]
    assert plan.platform.devices[1].curve is plan.platform.devices[0].curve
    again = evener("replay", "g.plan", "g.graph")
    assert again.code == 0, again.err + again.out
    page = (place / "g.html").read_text()
    assert "Speed curves" in page
    assert "small: piecewise, 4 samples" in page
    assert len(page) < 3_000_000


def test_without_a_machine_the_file_says_who_there_is(evener, place):
    said = evener(
        "plan", "g.graph", "--speeds", "s.toml", "-o", "g.plan", "--with", "rcb", "--json"
    )
    made = json.loads(said.out)
    assert [block["device"] for block in made["blocks"]] == ["small", "big"]
    judged = json.loads(evener("evaluate", "g.graph", "g.plan", "--speeds", "s.toml", "--json").out)
    assert judged["blocks"] == made["blocks"]
    page = evener("report", "g.plan", "-o", "g.html")
    assert page.code == 0
    assert "Speed curves" in (place / "g.html").read_text()


def test_another_method_of_sizing_is_kept_with_the_plan(evener, place):
    words = ["plan", "g.graph", "-o", "g.plan", "--with", "rcb", "--json"]
    exact = json.loads(evener(*words, "--speeds", "s.toml").out)
    made = json.loads(evener(*words, "--speeds", "s.toml", "--method", "constant").out)
    assert made["seconds"] > exact["seconds"]
    assert any("method constant" in note for note in made["notes"])
    assert read_plan("g.plan").options["sizing"] == "constant"
    assert evener("replay", "g.plan", "g.graph").code == 0
    said = evener(*words, "--speeds", "1,2", "--method", "gpa")
    assert said.code == 2
    assert "but no device has one" in said.err


@pytest.mark.slow
def test_a_list_of_speeds_has_no_such_section(evener, place):
    evener("plan", "g.graph", "--speeds", "1,2", "-o", "g.plan", "--report", "g.html", "--quiet")
    assert "Speed curves" not in (place / "g.html").read_text()


@pytest.mark.parametrize(
    ("words", "code", "match"),
    [("--speeds none.toml", 3, "the speeds file cannot be read"),
     ("--speeds s.toml --k 2", 2, "does not work with"),
     ("--speeds m.toml", 3, "unknown key"),
     ("--speeds w.toml --machine m.toml", 3, "'small0'"), ("--speeds tiny.toml", 4, "short")],
)  # fmt: skip
def test_refuses(evener, place, words, code, match):
    write_speeds("w.toml", emulated_speeds("cluster2", points=3))
    write_speeds("tiny.toml", [DeviceSpeeds("a", (Sample(9, 1.0),), 1999.0)])
    said = evener("plan", "g.graph", "-o", "g.plan", *words.split())
    assert (said.code, match in said.err) == (code, True), said.err
    assert not (place / "g.plan").exists()


def test_unused_curves_are_named(evener, place):
    write_speeds("more.toml", [*read_speeds("s.toml"), DeviceSpeeds("lost", (Sample(1, 1.0),))])
    said = evener(
        "plan", "g.graph", "--machine", "m.toml", "--speeds", "more.toml", "--with", "rcb"
    )
    assert "no device of m.toml is called lost" in said.err


def test_compare_judges_by_curves(evener, place):
    said = evener("compare", "g.graph", "--speeds", "s.toml", "--with", "rcb,metis", "--json")
    made = json.loads(said.out)
    assert np.isfinite([tool["seconds"] for tool in made["tools"]]).all()

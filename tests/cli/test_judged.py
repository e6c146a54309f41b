"""`evener plan --versus`: another tool beside the plan."""

import json

import numpy as np
import pytest

from evener.cli.judged import ratios
from evener.io.plans.plan import read_plan
from evener.io.write import write_graph
from evener.planning.evaluate import stage_of
from evener.plans.plan import Rival
from tests.assertions import grid


def test_both_tools_and_their_ratios_are_printed(evener, grid_file, tmp_path):
    plan = tmp_path / "x.plan"
    said = evener("plan", grid_file, "--k", 3, "--with", "evener", "--versus", "rcb", "-o", plan)
    assert said.code == 0, said.err
    rows = [line.split() for line in said.out.splitlines()]
    assert ["evener", "/", "rcb"] in [row[:3] for row in rows]
    made = read_plan(plan)
    own = next(row for row in rows if row[:1] == ["evener"] and row[1:2] != ["/"])
    assert own[1] == f"{made.evaluation.edge_cut:,.6g}"


@pytest.fixture
def large_grid_file(tmp_path):
    """A grid so large that it is tried once: smaller ones keep no start."""
    file = tmp_path / "large.graph"
    graph = grid(50, 60)
    write_graph(file, graph.with_(coords=None))
    np.savetxt(tmp_path / "large.graph.xyz", graph.coords, fmt="%d")
    return file


def test_json_holds_stages_and_the_rival(evener, large_grid_file, tmp_path):
    words = ("--k", 3, "--with", "evener", "--versus", "rib", "--json", "-o", tmp_path / "x.plan")
    found = json.loads(evener("plan", large_grid_file, *words).out)
    assert [stage["name"] for stage in found["stages"]][:2] == ["placed", "refined"]
    assert found["stages"][-1]["edge_cut"] == found["edge_cut"]
    assert found["cpu_seconds"] > 0
    versus = found["versus"]
    assert versus["tool"] == "rib"
    first = versus["stages"][0]
    assert versus["ratios"]["edge_cut"] == found["edge_cut"] / first["edge_cut"]
    assert versus["ratios"]["max_volume"] == found["max_volume"] / first["max_volume"]


def test_the_rival_stays_with_the_plan(evener, grid_file, tmp_path):
    plan, page = tmp_path / "x.plan", tmp_path / "x.html"
    evener("plan", grid_file, "--k", 3, "--with", "evener", "--versus", "rcb", "-o", plan)
    rival = read_plan(plan).rival
    assert rival.tool == "rcb"
    assert rival.stages[0].name == "before repair"
    assert rival.cpu_seconds is None
    assert evener("report", plan, "-o", page).code == 0
    assert "Against rcb" in page.read_text()
    assert evener("replay", plan, grid_file).code == 0


def test_without_a_rival_there_is_none(evener, grid_file, tmp_path):
    found = json.loads(evener("plan", grid_file, "--k", 2, "--json", "-o", tmp_path / "x.plan").out)
    assert found["versus"] is None


def test_an_unknown_rival_is_refused_before_any_work(evener, grid_file, tmp_path):
    said = evener("plan", grid_file, "--k", 2, "--versus", "nobody", "-o", tmp_path / "x.plan")
    assert said.code == 2
    assert "no partitioner 'nobody'" in said.err
    assert not (tmp_path / "x.plan").exists()


def test_a_rival_that_cannot_do_the_objective_lowers_the_cut(evener, grid_file, tmp_path):
    said = evener("plan", grid_file, "--k", 3, "--with", "evener", "--objective", "max_volume",
                  "--versus", "rcb", "-o", tmp_path / "x.plan")  # fmt: skip
    assert said.code == 0, said.err
    assert "rcb: rcb minimises cut, not max_volume" in said.out


@pytest.mark.slow
def test_the_report_has_both(evener, large_grid_file, tmp_path):
    page = tmp_path / "x.html"
    said = evener("plan", large_grid_file, "--k", 3, "--with", "evener", "--versus", "hilbert",
                  "--report", page, "-o", tmp_path / "x.plan")  # fmt: skip
    assert said.code == 0, said.err
    text = page.read_text()
    assert "Against hilbert" in text
    assert "Stages of the search" in text


def test_plans_of_a_rival_that_failed_are_plans(evener, grid_file, tmp_path):
    """Coordinates are missing for it: the note says so."""
    (grid_file.parent / "grid.graph.xyz").unlink()
    said = evener("plan", grid_file, "--k", 3, "--with", "evener", "--versus", "rcb",
                  "-o", tmp_path / "x.plan")  # fmt: skip
    assert said.code == 0, said.err
    assert "rcb: rcb needs coordinates" in said.out
    assert (tmp_path / "x.plan").exists()


@pytest.fixture
def made(evener, grid_file, tmp_path):
    evener("plan", grid_file, "--k", 2, "-o", tmp_path / "x.plan")
    return read_plan(tmp_path / "x.plan")


def test_ratios_to_nothing_are_none(made):
    same = stage_of("before repair", made.evaluation)
    found = ratios(made, Rival("x", (same,), made.prediction.makespan, 0.0))
    assert (found["edge_cut"], found["seconds"], found["cpu_seconds"]) == (1.0, 1.0, None)
    assert ratios(made, Rival("x")) == {}

"""evener report: a plan's page made again, with and without the picture."""

import json

import pytest

from evener.io.plans.plan import write_plan
from evener.io.write import write_graph
from tests.assertions import grid, run_evener
from tests.reporting.conftest import machine, plan_of, stripes


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A plan without inputs' hashes, and the graph it was made from; the current folder."""
    monkeypatch.chdir(tmp_path)
    graph = grid(6, 30, coords=None)
    write_graph(tmp_path / "mesh.graph", graph, "metis")
    plan = plan_of(graph, stripes(6, 30, 3), machine(3), inputs={})
    write_plan(tmp_path / "mesh.plan", plan)
    return tmp_path


@pytest.mark.slow
def test_made_again(evener, folder):
    """In two processes."""
    first = evener("report", "mesh.plan", "mesh.graph", "-o", "a.html")
    assert (first.code, first.err) == (0, "")
    assert "All 3 blocks hold their contract" in first.out
    page = (folder / "a.html").read_text()
    assert "All 3 blocks hold their contract" in page
    again = run_evener("report", "mesh.plan", "mesh.graph", "-o", "b.html", "--json", cwd=folder)
    result = json.loads(again.stdout)
    assert result["written"] == "b.html"
    assert result["verdict"] in page
    assert (folder / "b.html").read_text() == page


def test_the_plan_alone_is_enough(evener, folder):
    said = evener("report", "mesh.plan", "--json")
    assert json.loads(said.out)["written"] == "mesh.html"
    assert 'class="network"' in (folder / "mesh.html").read_text()


def test_another_file_is_refused(evener, folder):
    graph = grid(6, 30, coords=None)
    plan = plan_of(graph, stripes(6, 30, 3), machine(3), inputs={"mesh.graph": "00" * 32})
    write_plan(folder / "mesh.plan", plan)
    said = evener("report", "mesh.plan", "mesh.graph", "-o", "a.html")
    assert said.code == 3
    assert "is not the file the plan was made from" in said.err
    assert not (folder / "a.html").exists()


def test_a_missing_plan(evener, tmp_path):
    said = evener("report", tmp_path / "none.plan")
    assert said.code == 3
    assert "none.plan" in said.err
    assert "Traceback" not in said.err

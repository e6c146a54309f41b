"""evener report: a plan's page made again, with and without the picture."""

import json

import pytest

from evener.filing.plans import write_plan
from evener.filing.writing_graphs import write_graph
from tests.assertions import grid, run_evener
from tests.reporting.conftest import machine, plan_of, stripes


@pytest.fixture
def folder(tmp_path):
    """A plan without inputs' hashes, and the graph it was made from."""
    graph = grid(6, 30, coords=None)
    write_graph(tmp_path / "mesh.graph", graph, "metis")
    plan = plan_of(graph, stripes(6, 30, 3), machine(3), inputs={})
    write_plan(tmp_path / "mesh.plan", plan)
    return tmp_path


@pytest.mark.slow
def test_made_again(folder):
    first = run_evener("report", "mesh.plan", "mesh.graph", "-o", "a.html", cwd=folder)
    assert (first.returncode, first.stderr) == (0, "")
    assert "All 3 blocks hold their contract" in first.stdout
    page = (folder / "a.html").read_text()
    assert "All 3 blocks hold their contract" in page
    again = run_evener("report", "mesh.plan", "mesh.graph", "-o", "b.html", "--json", cwd=folder)
    result = json.loads(again.stdout)
    assert result["written"] == "b.html"
    assert result["verdict"] in page
    assert (folder / "b.html").read_text() == page


def test_the_plan_alone_is_enough(folder):
    done = run_evener("report", "mesh.plan", "--json", cwd=folder)
    assert json.loads(done.stdout)["written"] == "mesh.html"
    assert 'class="network"' in (folder / "mesh.html").read_text()


def test_another_file_is_refused(folder):
    graph = grid(6, 30, coords=None)
    plan = plan_of(graph, stripes(6, 30, 3), machine(3), inputs={"mesh.graph": "00" * 32})
    write_plan(folder / "mesh.plan", plan)
    done = run_evener("report", "mesh.plan", "mesh.graph", "-o", "a.html", cwd=folder)
    assert done.returncode == 3
    assert "is not the file the plan was made from" in done.stderr
    assert not (folder / "a.html").exists()


def test_a_missing_plan(tmp_path):
    done = run_evener("report", "none.plan", cwd=tmp_path)
    assert done.returncode == 3
    assert "none.plan" in done.stderr
    assert "Traceback" not in done.stderr

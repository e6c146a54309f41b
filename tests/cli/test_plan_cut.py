"""`evener plan --cut`: a plan of vertices or of edges, and the reason."""

import json

import pytest

from evener.cli import main
from evener.graphs.generating.grid import grid
from evener.io.plans.edge_plan import read_edge_plan
from evener.io.plans.kinds import EDGES, kind_in
from evener.io.plans.plan import read_plan
from evener.io.write import write_graph
from tests.running.edge_cases import star

MACHINE = """
[[level]]
name = "net"
alpha_us = 1.0
GB_per_s = 5.0

[[device]]
name = "cpu"
count = 6
speed = 1e4
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cut")
    write_graph(folder / "star.graph", star(60))
    write_graph(folder / "grid.graph", grid([12, 12]).with_(coords=None))
    (folder / "m.toml").write_text(MACHINE)
    return folder


def plan(folder, graph, *words):
    files = [str(folder / graph), "--machine", str(folder / "m.toml"), "-o", str(folder / "x.plan")]
    return main(["plan", *files, *words])


def test_a_star_is_divided_by_edges_and_says_why(folder, capsys):
    words = ["--kernel", "pagerank", "--cut", "auto", "--preset", "fast"]
    assert plan(folder, "star.graph", *words, "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["cut"]["divided"] == "edges"
    made = read_edge_plan(folder / "x.plan")
    assert said["cut"]["reason"] in made.notes
    assert said["cut"]["seconds"]["edges"] < said["cut"]["seconds"]["vertices"]
    run = ["run", str(folder / "x.plan"), str(folder / "star.graph"), "--app", "wcc", "--verify"]
    assert main(run) == 0


def test_a_grid_keeps_its_vertices(folder, capsys):
    assert plan(folder, "grid.graph", "--cut", "auto") == 0
    reason = read_plan(folder / "x.plan").notes[-1]
    assert reason.startswith("Blocks of vertices: predicted ")
    assert reason in capsys.readouterr().out


def test_what_is_asked_is_divided(folder, capsys):
    assert plan(folder, "grid.graph", "--cut", "edges", "--quiet") == 0
    assert kind_in(folder / "x.plan") == EDGES
    assert plan(folder, "grid.graph", "--json") == 0
    assert json.loads(capsys.readouterr().out)["cut"] == {"divided": "vertices"}
    assert plan(folder, "grid.graph", "--cut", "auto", "--report", str(folder / "x.html")) == 2
    assert "--report does not work with --cut" in capsys.readouterr().err

"""replay, report and export read a plan's input as the plan says, wherever its files lie."""

import json

import numpy as np
import pytest

from evener.cli import main
from evener.graphs.generating.grid import grid
from evener.io import read, write_graph

N = 30


@pytest.fixture
def planned(tmp_path, monkeypatch):
    """A plan of folder/net.txt, read as an edge list, with coordinates and weights beside it."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "folder"
    folder.mkdir()
    graph = grid([5, 6])
    write_graph(folder / "net.csv", graph.with_(coords=None))
    (folder / "net.csv").rename(folder / "net.txt")
    np.savetxt(folder / "places.txt", graph.coords)
    np.savetxt(folder / "work.txt", np.column_stack([np.ones(N), np.arange(N)]), fmt="%d")
    words = ["--format", "edges", "--coords", "folder/places.txt", "--weights", "folder/work.txt:1"]
    assert (
        main(["plan", "folder/net.txt", "--k", "3", "--with", "rcb", *words, "-o", "p.plan"]) == 0
    )
    return tmp_path


@pytest.mark.parametrize("command", ["replay", "report", "export"])
def test_files_beside_the_graph_are_found(planned, command, capsys):
    more = {"export": ["--to", "csv", "-o", "part.csv"], "report": ["-o", "p.html"]}
    assert main([command, "p.plan", "folder/net.txt", *more.get(command, [])]) == 0
    assert "Identical" in capsys.readouterr().out or command != "replay"


@pytest.mark.parametrize("command", ["replay", "report", "export"])
def test_files_elsewhere_are_named(planned, command, capsys):
    more = {"export": ["--to", "csv", "-o", "part.csv"], "report": ["-o", "p.html"]}
    (planned / "folder" / "work.txt").rename(planned / "elsewhere.txt")
    words = [command, "p.plan", "folder/net.txt", *more.get(command, [])]
    assert main(words) == 3
    assert "work.txt: cannot be read" in capsys.readouterr().err
    assert main([*words, "--weights", "elsewhere.txt:1"]) == 0


def test_points_are_exported_as_points(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["generate", "triangles", "--n", "40", "-o", "m.su2"]) == 0
    assert main(["plan", "m.su2", "--by", "points", "--k", "3", "-o", "p.plan"]) == 0
    assert main(["export", "p.plan", "m.su2", "--to", "vtu", "-o", "p.vtu"]) == 0
    written = read("p.vtu").mesh
    with np.load("p.plan") as plan:
        assert (written.point_data["part"] == plan["part"]).all()


@pytest.fixture
def grouped(tmp_path, monkeypatch):
    """net.graph, a grid; groups.txt, in which the first and last vertex of each row share one."""
    monkeypatch.chdir(tmp_path)
    write_graph(tmp_path / "net.graph", grid([6, 5]).with_(coords=None))
    groups = np.full((6, 5), -1)
    groups[:, 0] = groups[:, -1] = np.arange(6)
    np.savetxt(tmp_path / "groups.txt", groups.ravel(), fmt="%d")
    (tmp_path / "parts.txt").write_text("\n".join(["0 0 0 1 1".replace(" ", "\n")] * 6))
    return tmp_path


def test_groups_are_planned_replayed_and_judged(grouped, evener):
    plan = ["plan", "net.graph", "--k", "2", "--together", "groups.txt", "-o", "p.plan"]
    assert evener(*plan).code == 0
    with np.load("p.plan") as held:
        part = held["part"].reshape(6, 5)
    assert (part[:, 0] == part[:, -1]).all()
    assert "Identical" in evener("replay", "p.plan", "net.graph").out
    (grouped / "groups.txt").rename(grouped / "elsewhere.txt")
    assert evener("replay", "p.plan", "net.graph").code == 3
    there = ["--together", "elsewhere.txt"]
    assert "Identical" in evener("replay", "p.plan", "net.graph", *there).out
    judged = ["evaluate", "net.graph", "--k", "2", *there]
    assert "several blocks" not in evener(*judged, "p.plan").out
    assert "6 groups are in several blocks" in evener(*judged, "parts.txt").out
    assert json.loads(evener(*judged, "parts.txt", "--json").out)["split_groups"] == 6
    assert "no format stores them" in evener("convert", "net.graph", "net.npz", *there).err


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--together", "short.txt"], 3, "contains 1 groups; 30 are needed"),
        (["--together", "halves.txt"], 3, "whole"),
        (["--together", "coupled"], 2, "needs a mesh with periodic"),
        (["--together", "groups.txt", "--memory", "1 GiB"], 2, "--together"),
        (["--together", "none.txt"], 3, "none.txt"),
    ],
)
def test_wrong_groups_are_refused(grouped, evener, words, code, said):
    (grouped / "short.txt").write_text("0\n")
    (grouped / "halves.txt").write_text("0.5\n" * 30)
    answer = evener("plan", "net.graph", "--k", "2", *words, "-o", "p.plan")
    assert (answer.code, said in answer.err) == (code, True), answer.err
    assert not (grouped / "p.plan").exists()

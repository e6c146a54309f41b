"""replay, report and export read a plan's input as the plan says, wherever its files lie."""

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

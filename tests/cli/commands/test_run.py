"""evener run: values in the file's order, what each device took, refusals."""

import json

import numpy as np
import pytest

from evener.cli import main
from evener.graphs.generating.random_graphs import barabasi_albert
from evener.io import read_graph, write_graph
from evener.running.apps import bfs

MACHINE = (
    '[[device]]\nname = "old"\ncount = 2\nspeed = 1.0\n[[device]]\nname = "new"\nspeed = 2.0\n'
)
PROGRAM = """
def init(vertex):
    return vertex


def apply(old, combined):
    return max(old, combined)


combine = "max"
dtype = "int64"
"""


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    """A graph, and a plan for three devices."""
    folder = tmp_path_factory.mktemp("run")
    write_graph(folder / "web.graph", barabasi_albert(500, 2, 3))
    (folder / "m.toml").write_text(MACHINE)
    words = ["plan", str(folder / "web.graph"), "--machine", str(folder / "m.toml")]
    assert main([*words, "-o", str(folder / "web.plan"), "--quiet"]) == 0
    return folder


def run(case, *words):
    return main(["run", str(case / "web.plan"), str(case / "web.graph"), *words])


def test_levels_in_the_order_of_the_file(case, capsys, tmp_path):
    output = tmp_path / "levels.npy"
    assert run(case, "--app", "bfs", "--source", "7", "--verify", "--json", "-o", str(output)) == 0
    said = json.loads(capsys.readouterr().out)
    levels = np.load(output)
    graph = read_graph(case / "web.graph")
    assert bfs.verify(graph, np.where(levels < 0, np.iinfo(np.int32).max, levels), 7)
    assert said["verified"] is True
    assert said["supersteps"] == levels.max() + 1
    assert said["seconds"] > 0
    assert [device["name"] for device in said["devices"]] == ["old0", "old1", "new"]
    assert sum(device["edges"] for device in said["devices"]) == said["edges"]


def test_pagerank_for_people(case, capsys):
    assert run(case, "--app", "pagerank", "--set", "damping=0.9", "--verify") == 0
    said = capsys.readouterr().out
    assert "pagerank: 10 supersteps in" in said
    assert "Verified by another algorithm." in said
    assert said.startswith("device")


def test_a_program_of_the_users(case, tmp_path):
    (tmp_path / "largest.py").write_text(PROGRAM)
    output = tmp_path / "values.npy"
    assert run(case, "--program", str(tmp_path / "largest.py"), "-o", str(output), "--quiet") == 0
    assert np.load(output).tolist() == [499] * 500


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--app", "bsf"], "did you mean bfs?"),
        (["--app", "bfs", "--source", "500"], "there is no vertex 500 among 500"),
        (["--app", "pagerank", "--source", "1"], "pagerank has no parameter source"),
        (["--app", "pagerank", "--set", "damping"], "NAME=VALUE is needed"),
        (["--app", "pagerank", "--devices", "cpu:0"], "1 devices for 3 blocks"),
        (["--app", "pagerank", "--devices", "gpu7"], "there is no device 'gpu7'"),
        (["--app", "pagerank", "--program", "x.py"], "not allowed with"),
        ([], "one of the arguments"),
        (["--program", "absent.py"], "cannot be read"),
        (["--app", "pagerank", "-o", "WEB.GRAPH"], ""),
    ],
)
def test_wrong_words_are_refused(case, capsys, words, reason):
    words = [str(case / "web.graph") if word == "WEB.GRAPH" else word for word in words]
    assert run(case, *words) != 0
    said = capsys.readouterr()
    assert reason in said.err
    assert said.out == ""


def test_another_graph_is_refused(case, capsys, tmp_path):
    write_graph(tmp_path / "small.graph", barabasi_albert(50, 2, 3))
    words = ["run", str(case / "web.plan"), str(tmp_path / "small.graph"), "--app", "pagerank"]
    assert main(words) != 0
    assert "500" in capsys.readouterr().err


def test_wrong_values_end_with_exit_code_5(case, capsys, monkeypatch):
    monkeypatch.setattr(bfs, "verify", lambda *_: False)
    assert run(case, "--app", "bfs", "--verify") == 5
    assert "WRONG" in capsys.readouterr().out

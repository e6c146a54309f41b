"""`evener advise`."""

import json

import pytest

from evener.cli import main
from evener.io.write import write_graph
from tests.assertions import grid

MACHINE = """
[[device]]
name = "gpu0"
at = "n0"
speed = 1e8
fixed_seconds = 1e-5
cost_per_hour = 2.5
watts = 300

[[device]]
name = "cpu"
count = 4
at = "n0"
speed = 1e7
cost_per_hour = 0.1
watts = 60

[[level]]
name = "cluster"

[[level]]
name = "node"
alpha_us = 5
GB_per_s = 10
"""


@pytest.fixture
def files(tmp_path):
    graph, machine = tmp_path / "g.graph", tmp_path / "m.toml"
    write_graph(graph, grid(30, 30))
    machine.write_text(MACHINE)
    return str(graph), str(machine)


@pytest.mark.slow
def test_rows_the_verdict_and_a_picture(files, tmp_path, capsys):
    graph, machine = files
    picture = tmp_path / "curve.svg"
    words = ["advise", graph, "--machine", machine, "--preset", "fast", "-o", str(picture)]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert "Use gpu0 alone, leave the other 4 out" in said
    assert "best" in said
    assert picture.read_text().startswith("<?xml")
    assert main([*words, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["best"]["devices"] == ["gpu0"]
    assert answer["left_out"] == ["cpu0", "cpu1", "cpu2", "cpu3"]
    assert answer["gain"] > 1
    assert answer["all"]["n_devices"] == 5
    assert all(one["cost_per_1000"] > 0 and one["joules_per_1000"] > 0
               for one in answer["choices"])  # fmt: skip
    assert answer["written"] == [str(picture)]


def test_what_cannot_be_drawn_or_read_is_refused_before_any_work(files, tmp_path, capsys):
    graph, machine = files
    assert main(["advise", graph, "--machine", machine, "-o", "curve.pdf"]) == 2
    assert main(["advise", graph, "--machine", machine, "-o", str(tmp_path / "no" / "x.png")]) != 0
    assert main(["advise", graph]) == 2
    assert main(["advise", graph, "--machine", machine, "--kernel", "nothing"]) in (2, 3)
    assert main(["advise", str(tmp_path / "absent.graph"), "--machine", machine]) == 3
    assert "Traceback" not in capsys.readouterr().err

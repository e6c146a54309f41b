"""`evener doctor` says what is there, tries the core, and its exit code follows."""

import json
import re

import pytest

from evener.cli import main
from evener.cli.commands import doctor
from evener.errors import ToolError


def test_for_people(capsys):
    assert main(["doctor"]) == 0
    out, err = capsys.readouterr()
    assert "numpy" in out
    assert "METIS in a child process" in out
    assert re.search(r"; compiled in \S+\.(nbc|pack)\n", out)
    assert "The core is fine." in out
    assert err == ""


def test_json(capsys):
    assert main(["doctor", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["ok"] is True
    assert answer["threads"] >= 1
    assert all(answer["packages"].values())
    assert {"scotch", "kaminpar", "mtkahypar"} <= {tool["name"] for tool in answer["optional"]}
    for tool in answer["optional"]:
        assert (tool["version"] is None) == (tool["get"] is not None)
    assert all(check["ok"] for check in answer["checks"])


def test_a_broken_core(capsys, monkeypatch):
    def broken():
        raise ToolError("metis crashed (SIGSEGV)")

    monkeypatch.setattr(doctor, "_try_metis", broken)
    assert main(["doctor"]) == 5
    out, err = capsys.readouterr()
    assert "FAILED" in out
    assert "The core is not fine." in out
    assert "metis crashed (SIGSEGV)" in err


def test_a_missing_package(capsys, monkeypatch):
    found = doctor._version
    monkeypatch.setattr(
        doctor, "_version", lambda name: None if name == "meshlane" else found(name)
    )
    assert main(["doctor", "--json"]) == 5
    captured = capsys.readouterr()
    assert json.loads(captured.out)["packages"]["meshlane"] is None
    assert "pip install meshlane" in captured.err


@pytest.mark.parametrize("side", [2, 7])
def test_grid(side):
    xadj, adjncy = doctor._grid(side)
    assert xadj[-1] == adjncy.size == 4 * side * (side - 1)
    assert sorted(adjncy[: xadj[1]].tolist()) == [1, side]

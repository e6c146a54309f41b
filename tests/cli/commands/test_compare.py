"""`evener compare`: a row a tool, failures told below, one JSON object, a page."""

import json

import numpy as np
import pytest

from evener.partitioning import tools
from evener.partitioning.external.children import Outcome


@pytest.fixture
def broken_tool(monkeypatch):
    """A tool that returns nonsense."""
    fields = {key: getattr(tools.TOOLS["rcb"], key) for key in tools.Tool.__dataclass_fields__}
    fields |= {"name": "broken", "run": lambda graph, _: Outcome(np.full(graph.n, 9), 0.0, "0")}
    monkeypatch.setitem(tools.TOOLS, "broken", tools.Tool(**fields))


def test_json(evener, grid_file, broken_tool):
    said = evener("compare", grid_file, "--speeds", "1,1,4", "--with", "hilbert,broken,metis",
                  "--json")  # fmt: skip
    assert said.code == 0
    hilbert, broken, metis = json.loads(said.out)["tools"]
    assert [row["tool"] for row in (hilbert, broken, metis)] == ["hilbert", "broken", "metis"]
    assert hilbert["holds"] is metis["holds"] is True
    limits = [[(b["low"], b["target"], b["high"]) for b in row["blocks"]]
              for row in (hilbert, metis)]  # fmt: skip
    assert limits[0] == limits[1]
    assert metis["cpu_seconds"] > 0
    assert broken["note"].startswith("broken returned block numbers 9 to 9")
    assert broken["edge_cut"] is None
    assert "blocks" not in broken


def test_for_people(evener, grid_file, broken_tool):
    said = evener("compare", grid_file, "--k", 3, "--with", "rcb,broken")
    assert said.code == 0
    lines = said.out.splitlines()
    assert lines[0].split()[0] == "tool"
    assert lines[1].split()[0] == "rcb"
    assert lines[-1].startswith("broken: broken returned block numbers")


@pytest.mark.slow
def test_all_installed_tools_by_default(evener, grid_file):
    # All devices are at one place: no levels to follow.
    names = [
        name
        for name, tool in tools.TOOLS.items()
        if tool.available() is None and not tool.along_tree
    ]
    said = evener("compare", grid_file, "--k", 2, "--json")
    assert [row["tool"] for row in json.loads(said.out)["tools"]] == names


def test_a_page_as_well(evener, grid_file, tmp_path, broken_tool):
    page = tmp_path / "x.html"
    said = evener("compare", grid_file, "--k", 2, "--with", "rcb,auto,broken", "--report", page)
    assert said.code == 0, said.err
    assert "rcb" in page.read_text()


def test_unknown_tools_are_refused_before_reading(evener, tmp_path):
    said = evener("compare", tmp_path / "missing", "--k", 2, "--with", "metis,none")
    assert said.code == 2
    assert "no partitioner 'none'" in said.err


def test_infeasible(evener, grid_file, small_machine):
    said = evener("compare", grid_file, "--machine", small_machine, "--with", "rcb")
    assert (said.code, said.out) == (4, "")

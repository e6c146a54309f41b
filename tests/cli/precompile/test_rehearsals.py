"""What was rehearsed has nothing left to compile."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from evener.cli.precompile import rehearsals
from evener.partitioning.tools import TOOLS
from tests.assertions import run_python


@pytest.mark.slow
def test_plans_and_files_meet_no_type_that_was_not_rehearsed():
    """In a process of its own: in this one other tests have called kernels, with other types."""
    root = Path(__file__).parents[3]
    ended = run_python("-m", "tests.cli.precompile.rehearsed", cwd=root, timeout=280)
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert found["new"] == {}
    assert found["idle"] == [], "kernels that no rehearsal calls"


def test_partitioners_that_are_not_installed_are_left_out(monkeypatch):
    absent = replace(TOOLS["rcb"], missing=lambda: "it is not installed")
    monkeypatch.setitem(TOOLS, "rcb", absent)
    called = []
    monkeypatch.setattr(rehearsals, "_plan", lambda graph, name: called.append(name))
    rehearsals.others()
    assert "kmeans" in called
    assert "rcb" not in called

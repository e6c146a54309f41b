"""Predicted makespans beside SimGrid's, in which messages share links and ports by its rules."""

import importlib
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.slow
def test_makespans_are_those_of_a_simulation(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    checking = importlib.import_module("simulated")
    if (reason := checking.missing()) is not None:
        pytest.skip(reason)
    lines = checking.measured(checking.SHAPES, range(100, 102))
    assert len(lines) == 32
    for line in lines:
        off = line["predicted"] / line["simulated"] - 1
        assert abs(off) <= checking.TOLERANCES[line["shared"]], line

"""Predicted makespans beside SimGrid's, in which messages share links and ports by its rules."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "benchmarks" / "simulated.py"


def script():
    spec = importlib.util.spec_from_file_location("simulated", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_makespans_are_those_of_a_simulation():
    checking = script()
    if (reason := checking.missing()) is not None:
        pytest.skip(reason)
    lines = checking.measured(checking.SHAPES, range(100, 102))
    assert len(lines) == 32
    for line in lines:
        off = line["predicted"] / line["simulated"] - 1
        assert abs(off) <= checking.TOLERANCES[line["shared"]], line

"""`evener refine`: repaired, improved, written; before and after told."""

import json

import numpy as np
import pytest


@pytest.fixture
def part_file(tmp_path):
    """Rows of the grid in turn: a cut of all edges between rows."""
    file = tmp_path / "x.part"
    file.write_text("\n".join(str(v // 12 % 2) for v in range(120)) + "\n")
    return file


def test_json(evener, grid_file, part_file, tmp_path):
    said = evener("refine", grid_file, part_file, "--k", 2, "-o", tmp_path / "y.part", "--json")
    assert said.code == 0, said.err
    found = json.loads(said.out)
    assert found["before"]["edge_cut"] == 108
    assert found["after"]["edge_cut"] < 50
    assert found["repaired"] == 0
    assert found["after"]["holds"] is True
    part = np.loadtxt(tmp_path / "y.part", dtype=int)
    given = np.loadtxt(part_file, dtype=int)
    assert found["moved"] == (part != given).sum()
    again = evener("evaluate", grid_file, tmp_path / "y.part", "--k", 2, "--json")
    assert json.loads(again.out)["edge_cut"] == found["after"]["edge_cut"]


@pytest.mark.parametrize("objective", ["total_volume", "max_volume"])
def test_broken_contracts_are_repaired_first(evener, grid_file, part_file, tmp_path, objective):
    out = tmp_path / "y.csv"
    said = evener("refine", grid_file, part_file, "--speeds", "1,3", "-o", out, "--to", "csv",
                  "--objective", objective, "--preset", "fast")  # fmt: skip
    assert said.code == 0, said.err
    assert "moved to keep every contract" in said.out
    assert said.out.splitlines()[0].split() == ["measure", "before", "after"]
    again = evener("evaluate", grid_file, out, "--speeds", "1,3", "--json")
    assert json.loads(again.out)["holds"] is True


def test_inputs_are_not_overwritten(evener, grid_file, part_file):
    said = evener("refine", grid_file, part_file, "--k", 2, "-o", part_file)
    assert said.code == 2
    assert "is an input" in said.err


def test_a_wrong_partition_is_named(evener, grid_file, part_file, tmp_path):
    part_file.write_text("0\n1\n")
    said = evener("refine", grid_file, part_file, "--k", 2, "-o", tmp_path / "y.part")
    assert said.code == 3
    assert "x.part" in said.err

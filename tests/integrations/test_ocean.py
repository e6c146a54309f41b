"""partmesh.txt of ADCIRC and partition.prop of SCHISM, written and read back."""

import numpy as np
import pytest

import evener as ev
from evener.cli import main
from evener.integrations import ocean

GR3 = "\n2 5\n1 0 0 5\n2 1 0 6\n3 1 1 7\n4 0 1 8\n5 2 0 1\n1 4 1 2 3 4\n2 3 2 5 3\n"


@pytest.mark.parametrize(
    ("to", "by", "name", "numbers"),
    [("adcirc", "points", "partmesh.txt", 1), ("schism", "cells", "partition.prop", 2)],
)
def test_files(tmp_path, monkeypatch, to, by, name, numbers):
    monkeypatch.setattr(ocean, "_LINES", 2)
    mesh, plan, target = tmp_path / "hgrid.gr3", tmp_path / "x.plan", tmp_path / name
    mesh.write_text(GR3)
    other = "cells" if by == "points" else "points"
    for divided in (other, by):
        words = ["plan", str(mesh), "--by", divided, "--k", "2", "-o", str(plan), "--quiet"]
        assert main(words) == 0
        words = ["export", str(plan), "--to", to, "-o", str(target), "--quiet"]
        assert main(words) == (0 if divided == by else 2)
    part = ev.read_plan(plan).partition.part
    rows = np.loadtxt(target, int, ndmin=2)
    assert rows.shape == (part.size, numbers)
    if numbers == 1:
        assert rows[:, 0].tolist() == (part + 1).tolist()
    else:
        assert rows.tolist() == [[i, block] for i, block in enumerate(part.tolist(), 1)]
    assert ev.read_part(target, part.size).tolist() == part.tolist()

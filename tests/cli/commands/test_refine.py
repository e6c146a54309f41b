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
    assert "moved to meet every contract" in said.out
    assert said.out.splitlines()[0].split() == ["measure", "before", "after"]
    again = evener("evaluate", grid_file, out, "--speeds", "1,3", "--json")
    assert json.loads(again.out)["holds"] is True


LINKED = "".join(f'[[device]]\nname = "d{i}"\nspeed = {s}e8\n' for i, s in enumerate((1, 1, 4)))


@pytest.mark.parametrize(
    "words",
    [["x.part", "--machine", "m.toml"], ["x.part", "--as", "x.plan"], ["x.plan"],
     ["x.part", "--machine", "m.toml", "--epsilon", "0.2"], ["x.part", "--speeds", "1,1,4"]],
)  # fmt: skip
def test_a_file_is_judged_as_evaluate_judges_it(evener, grid_file, tmp_path, monkeypatch, words):
    """By seconds on a machine with links: equal thirds are no breach of targets there."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.toml").write_text(LINKED + '[[level]]\nname = "net"\nalpha_us = 10\n')
    (tmp_path / "x.part").write_text("\n".join(str(v % 3) for v in range(120)) + "\n")
    assert evener("plan", grid_file, "--machine", "m.toml", "-o", "x.plan").code == 0
    judged = json.loads(evener("evaluate", grid_file, *words, "--json").out)
    refined = evener("refine", grid_file, *words, "-o", "y.part", "--json")
    assert refined.code == 0, refined.err
    found = json.loads(refined.out)
    assert found["judged_by"] == judged["judged_by"]
    assert found["before"]["blocks"] == judged["blocks"]
    by_speed = words[-1] in ("0.2", "1,1,4")
    assert (found["repaired"] > 0) == by_speed
    assert found["after"]["edge_cut"] <= found["before"]["edge_cut"]
    if not by_speed:  # each block keeps its work
        given, after = ([one["weight"] for one in found[when]["blocks"]] for when in
                        ("before", "after"))  # fmt: skip
        assert after == pytest.approx(given, rel=0.03)


@pytest.mark.parametrize("form", ["lines", "column", "npy"])
def test_fixed_vertices_stay(evener, grid_file, part_file, tmp_path, form):
    fixed = (np.arange(120) % 5 == 0).astype(int)
    spec = file = tmp_path / ("x.npy" if form == "npy" else "x.txt")
    if form == "npy":
        np.save(file, fixed)
    elif form == "lines":
        np.savetxt(file, fixed, fmt="%d")
    else:
        np.savetxt(
            file, np.stack([fixed, 1 - fixed], 1), fmt="%d", header="kept moved", comments=""
        )
        spec = f"{file}:kept"
    said = evener("refine", grid_file, part_file, "--k", 2, "-o", tmp_path / "y.part", "--json",
                  "--fixed", spec)  # fmt: skip
    assert said.code == 0, said.err
    part = np.loadtxt(tmp_path / "y.part", dtype=int)
    assert (part == np.loadtxt(part_file, dtype=int))[fixed == 1].all()
    assert json.loads(said.out)["after"]["edge_cut"] < 108


@pytest.mark.parametrize(
    ("text", "said_so"),
    [("1\n0\n", "contains 2 flags; 120 are needed"), ("2\n" * 120, "only 0 and 1"),
     ("1\n" * 120, "vertices fixed there weigh 60"), ("0 1\n" * 120, "1 dimension"),
     ("# none\n", "contains no flags")],
)  # fmt: skip
def test_wrong_flags_are_named(evener, grid_file, part_file, tmp_path, text, said_so):
    file, output = tmp_path / "x.fixed", tmp_path / "y.part"
    file.write_text(text)
    said = evener("refine", grid_file, part_file, "--speeds", "1,3", "-o", output, "--fixed", file)
    assert said.code in (3, 4)
    assert said_so in said.err
    assert not output.exists()


def test_inputs_are_not_overwritten(evener, grid_file, part_file):
    said = evener("refine", grid_file, part_file, "--k", 2, "-o", part_file)
    assert said.code == 2
    assert "is also an input" in said.err


def test_a_wrong_partition_is_named(evener, grid_file, part_file, tmp_path):
    part_file.write_text("0\n1\n")
    said = evener("refine", grid_file, part_file, "--k", 2, "-o", tmp_path / "y.part")
    assert said.code == 3
    assert "x.part" in said.err


def test_a_partition_is_not_written_as_a_plan(evener, grid_file, part_file, tmp_path):
    said = evener("refine", grid_file, part_file, "--k", 2, "-o", tmp_path / "y.plan")
    assert said.code == 2
    assert "y.plan would not be a plan" in said.err
    assert not (tmp_path / "y.plan").exists()

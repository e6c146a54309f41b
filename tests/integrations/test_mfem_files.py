"""evener export --to mfem: the partitioning file, counted and read line by line."""

from dataclasses import replace

import numpy as np
import pytest

import evener as ev
from evener.cli import main
from evener.errors import InputError
from evener.integrations import mfem
from evener.integrations.requests import ExportRequest
from tests.io import mesh_samples as samples


@pytest.fixture
def square(tmp_path):
    (tmp_path / "a.su2").write_text(samples.SQUARE)
    return tmp_path


def plan_and_export(folder, *options):
    mesh, plan, target = folder / "a.su2", folder / "a.plan", folder / "partitioning.txt"
    assert main(["plan", str(mesh), "--speeds", "1,3", "-o", str(plan), "--quiet", *options]) == 0
    return main(["export", str(plan), str(mesh), "--to", "mfem", "-o", str(target)])


def test_lines(square, monkeypatch):
    monkeypatch.setattr(mfem, "_LINES", 3)
    assert plan_and_export(square) == 0
    lines = (square / "partitioning.txt").read_text().splitlines()
    assert lines[:2] == ["number_of_elements 4", "number_of_processors 2"]
    part = ev.read_plan(square / "a.plan").partition.part
    assert [int(line) for line in lines[2:]] == part.tolist()


def test_devices_without_a_block_count(square):
    plan = ev.plan(square / "a.su2", [1, 1, 1])
    part = np.array([0, 0, 1, 1])
    emptied = replace(plan, partition=ev.Partition(part, 3))
    made = mfem.files(ExportRequest(emptied, target=square / "partitioning.txt"))
    lines = b"".join(made.files["partitioning.txt"]).split()
    assert lines[1::2][:2] == [b"4", b"3"]
    assert lines[4:] == [b"0", b"0", b"1", b"1"]


def test_points_are_refused(square, capsys):
    assert plan_and_export(square, "--by", "points") == 2
    assert "MFEM divides elements" in capsys.readouterr().err
    assert not (square / "partitioning.txt").exists()


def test_it_is_read_back(square):
    assert plan_and_export(square) == 0
    part = ev.read_plan(square / "a.plan").partition.part
    assert ev.read_part(square / "partitioning.txt", 4).tolist() == part.tolist()


LINES = "number_of_elements 3\nnumber_of_processors 2\n0\n1\n1\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (LINES.replace("elements 3", "elements 4"), "only 3 of the declared 4 elements"),
        (LINES + "0\n", "contains more"),
        (LINES.replace("0\n1\n1", "0\n2\n1"), "block 2 does not exist: there are 2"),
        (LINES.replace("0\n1\n1", "0\n1.5\n1"), "a block must be a whole number"),
        (LINES.replace("0\n1\n1", "0\n1 1\n1"), "the line has 2 numbers"),
        (LINES.replace("processors 2", "processors x"), "need numbers"),
        (LINES.replace("0\n1\n1", "0\n-1\n1"), "blocks begin at 0"),
    ],
)
def test_damaged_files(tmp_path, text, words):
    (tmp_path / "p.txt").write_text(text)
    assert text != LINES
    with pytest.raises(InputError, match=words):
        ev.read_part(tmp_path / "p.txt", 3)

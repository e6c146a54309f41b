"""examples/read_plan.c and .f90: compiled, they read the binary form and refuse what is damaged."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from evener.io.plans.partitions import write_part
from tests.integrations.programs import program
from tests.test_docs import ROOT, assert_printed, blocks_of, commands_of, run_command

pytestmark = pytest.mark.integrations
EXAMPLES = Path(__file__).parents[2] / "examples"
STRICT = ("-O2", "-Wall", "-Wextra", "-pedantic", "-Werror")
COMPILERS = {
    "gcc": ("gcc", "-std=c99", *STRICT, "read_plan.c"),
    "g++": ("g++", "-x", "c++", *STRICT, "read_plan.c"),
    "gfortran": ("gfortran", "-std=gnu", "-O2", "-Wall", "-Werror", "read_plan.f90"),
}
PART = np.array([2, 0, 1, 0, 2, 2], np.int32)


@pytest.fixture(scope="module", params=COMPILERS)
def reader(request, tmp_path_factory):
    """The program that a compiler made."""
    *words, source = COMPILERS[request.param]
    program(words[0])
    out = tmp_path_factory.mktemp("reader") / "read_plan"
    subprocess.run([*words, EXAMPLES / source, "-o", out], check=True, timeout=100)
    return out


@pytest.fixture
def whole(tmp_path):
    write_part(tmp_path / "x.bin", PART, "binary", devices=["old", "g\u00fc", "new"])
    return (tmp_path / "x.bin").read_bytes()


def run(reader, *words):
    return subprocess.run([reader, *words], capture_output=True, check=False, timeout=10)


def test_sizes(reader, whole, tmp_path):
    done = run(reader, tmp_path / "x.bin")
    assert done.returncode == 0
    lines = [line.split("\t") for line in done.stdout.decode().splitlines()]
    assert [line[0] for line in lines] == ["2", "1", "3"]
    assert [line[1] for line in lines] == ["old", "g\u00fc", "new"]


DAMAGED = {
    "another magic": lambda whole: b"EVNRPLAN" + whole[8:],
    "another version": lambda whole: whole[:8] + b"\2" + whole[9:],
    "a block too high": lambda whole: whole[:24] + b"\3" + whole[25:],
    "a block below 0": lambda whole: whole[:24] + b"\xff" * 4 + whole[28:],
    "many vertices": lambda whole: whole[:16] + b"\xff" * 7 + b"\0" + whole[24:],
    "cut in the head": lambda whole: whole[:20],
    "cut in the blocks": lambda whole: whole[:40],
    "empty": lambda whole: b"",
    "cut in the names": lambda whole: whole[:-2],
    "too long": lambda whole: whole + b"\0",
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_files(reader, whole, tmp_path, damage):
    (tmp_path / "x.bin").write_bytes(DAMAGED[damage](whole))
    done = run(reader, tmp_path / "x.bin")
    assert done.returncode == 1
    assert b"read_plan: " in done.stderr


@pytest.mark.parametrize("words", [[], ["missing"]])
def test_no_file(reader, words):
    done = run(reader, *words)
    assert done.returncode == 1
    assert b"read_plan: " in done.stderr


@pytest.mark.slow
def test_the_page(tmp_path, monkeypatch):
    """The commands of docs/integrations.md that compile print what stands below them."""
    for name in ("cc", "gfortran"):
        program(name)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(EXAMPLES)
    page = ROOT / "docs" / "integrations.md"
    for block in blocks_of(page, "Example mesh", "C, C++ and Fortran"):
        for command, expected in commands_of(block.text) if block.language == "console" else ():
            code, printed = run_command(command)
            assert code == 0, printed
            assert_printed(expected or "...", printed, command)

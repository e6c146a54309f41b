"""The binary form: its bytes are those that docs/formats.md says, and damaged files are refused."""

import struct

import numpy as np
import pytest

from evener.cli import main
from evener.errors import InputError
from evener.io.plans.partitions import read_part, write_part

PART = np.array([2, 0, 1, 0], np.int32)
DEVICES = ("old", "g\u00fc", "")
HEAD = b"EVNRPART" + struct.pack("<IIQ", 1, 3, 4)
BLOCKS = struct.pack("<4i", 2, 0, 1, 0)
NAMES = b"\3\0\0\0old" + b"\3\0\0\0g\xc3\xbc" + b"\0\0\0\0"
WHOLE = HEAD + BLOCKS + NAMES


def test_every_byte(tmp_path):
    write_part(tmp_path / "x", PART, "binary", devices=DEVICES)
    assert (tmp_path / "x").read_bytes() == WHOLE
    assert read_part(tmp_path / "x", 4).tolist() == PART.tolist()


def test_names_that_are_not_known_are_empty(tmp_path):
    write_part(tmp_path / "x", PART, "binary")
    assert (tmp_path / "x").read_bytes() == HEAD + BLOCKS + bytes(3 * 4)
    assert read_part(tmp_path / "x", 4).tolist() == PART.tolist()


@pytest.mark.parametrize("size", range(8, len(WHOLE)))
def test_files_cut_short(tmp_path, size):
    (tmp_path / "x").write_bytes(WHOLE[:size])
    with pytest.raises(InputError, match="ends"):
        read_part(tmp_path / "x", 4)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (WHOLE + b"\0", "continues after the last name for 1 bytes"),
        (WHOLE.replace(b"PART\1", b"PART\2"), "version 2, which is unknown"),
        (HEAD + struct.pack("<4i", 2, 0, 3, 0) + NAMES, "vertex 2 has block 3, but there are 3"),
        (HEAD + struct.pack("<4i", 2, -1, 1, 0) + NAMES, "vertex 1 has block -1"),
        (HEAD[:16] + b"\xff" * 8 + BLOCKS, "declares 18,446,744,073,709,551,615 vertices"),
        (HEAD[:12] + b"\xff" * 4 + HEAD[16:] + BLOCKS + NAMES, "name of device 3 of 4,294,967,295"),
    ],
)
def test_wrong_files(tmp_path, content, words):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(InputError, match=words):
        read_part(tmp_path / "x", 4)


def test_another_number_of_vertices(tmp_path):
    (tmp_path / "x").write_bytes(WHOLE)
    with pytest.raises(InputError, match="contains blocks of 4 vertices; 5 are needed"):
        read_part(tmp_path / "x", 5)


@pytest.mark.slow
def test_a_plan_and_back(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["generate", "grid", "--shape", "8x9", "-o", "g.graph", "--quiet"]) == 0
    assert main(["plan", "g.graph", "--speeds", "1,3", "-o", "g.plan", "--quiet"]) == 0
    assert main(["export", "g.plan", "--to", "binary", "-o", "g.bin"]) == 0
    assert main(["evaluate", "g.graph", "g.bin", "--speeds", "1,3"]) == 0
    assert read_part("g.bin", 72).tolist() == np.load("g.plan")["part"].tolist()

"""Machine files of described computers: what is marked as guessed, and that they are read back."""

import re

import pytest

from evener.cli.described_machines import PER, described_to_toml, write_described
from evener.io.machines.hwloc import computer_of_hwloc
from evener.io.machines.platforms import read_platform
from evener.io.machines.scontrol import nodes_of_scontrol
from evener.platforms.described import Described, described
from evener.platforms.platform import Device, Level, Platform
from tests.io.machines.descriptions import content_of


def test_marks_stand_beside_what_is_guessed_and_nothing_else():
    devices = (
        Device("a0", 1.0, memory=2.0**30),
        Device("a1", 1.0, memory=2.0**30),
        Device("b", 2.0),
    )
    platform = Platform(devices, (Level("machine"), Level("socket")), name="m")
    guessed = {"a0": frozenset({"speed"}), "level socket": frozenset({"alpha_us"})}
    text = described_to_toml(Described(platform, guessed, ("read", "from")))
    assert text.split("\n")[:2] == ["# read", "# from"]
    assert [line for line in text.split("\n") if "# guessed" in line] == [
        "alpha_us = 0.0  # guessed",
        "speed = 1.0  # guessed",
    ]
    tables = text.split("\n\n")
    assert "guessed" not in tables[1]  # machine
    assert "guessed" in tables[2]  # socket
    assert 'name = "a"' in tables[3]
    assert "guessed" not in tables[4]


def test_long_and_odd_remarks_stay_comments():
    platform = Platform((Device("a", 1.0),))
    remark = "word " * 60 + "x" * 300 + "\nspeed = 9"
    text = described_to_toml(Described(platform, {}, (remark,)))
    head, _, table = text.partition("[[device]]")
    assert all(line.startswith("#") for line in head.rstrip().split("\n"))
    assert max(len(line) for line in head.split("\n") if "x" * 9 not in line) <= 100
    assert "\n\n" not in head.strip()
    assert table.startswith('\nname = "a"')


@pytest.mark.parametrize("per", PER)
def test_files_are_read_back(tmp_path, per):
    for computers in (
        [computer_of_hwloc(content_of("gpu_node"), "x")],
        nodes_of_scontrol(content_of("slurm_unlike"), "x").computers,
    ):
        found = described(computers, per)
        write_described(tmp_path / "m.toml", found)
        assert read_platform(tmp_path / "m.toml") == found.platform
        memories = re.findall(r"memory_GiB = (\S+)", (tmp_path / "m.toml").read_text())
        assert memories
        assert max(len(text.replace(".", "").strip("0")) for text in memories) <= 4

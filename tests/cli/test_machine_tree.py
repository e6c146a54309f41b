"""`evener machine show`: a machine as a tree of text."""

import json

from evener.cli.commands.machine import MAX_LINES
from evener.io.machines.platform_dicts import platform_from_dict
from evener.io.machines.platforms import write_platform
from evener.platforms.examples import grid, topo1
from evener.platforms.platform import Device, Level, Platform


def test_show_draws_levels_places_and_devices(evener, tmp_path):
    file = tmp_path / "m.toml"
    evener("machine", "topo1", "--k", 48, "--fast", 4, "--links", "--units", 1000, "-o", file)
    code, shown, _ = evener("machine", "show", file)
    assert code == 0
    lines = shown.rstrip("\n").split("\n")
    assert lines[0] == "topo1: 48 devices (cluster: 2 µs, 10 GB/s)"
    assert "n0: 24 devices (node: 0.5 µs, 40 GB/s)" in lines[1]
    assert "fast0 .. fast3 (4 equal)  cpu  speed 16" in lines[2]
    assert "slow20 .. slow43 (24 equal)" in lines[5]
    assert len(lines) == 6


def test_show_names_memory_capabilities_and_links(evener, tmp_path):
    file = tmp_path / "m.toml"
    file.write_text(
        '[[device]]\nname = "[red]x"\nspeed = 1\nkind = "cuda"\nmemory_GiB = 4\nat = "a"\n'
        "memory_units = 1e6\ncapabilities = { mips = 5 }\n"
        '[[device]]\nname = "y\\u001b"\nspeed = 1\nat = "b"\n'
        '[[link]]\nbetween = ["a", "b"]\nalpha_us = 3\n'
    )
    _, shown, _ = evener("machine", "show", file)
    assert "[red]x  cuda  speed 1  4 GiB  1e+06 units  mips 5" in shown.replace(
        "1,000,000", "1e+06"
    )
    assert "a - b: 3 µs, no limit" in shown
    assert "\x1b" not in shown


def test_show_summarises_what_is_long(evener, tmp_path):
    file = tmp_path / "m.toml"
    many = [Device(f"d{i}", 1.0) for i in range(10_000)]
    write_platform(file, Platform(tuple(many)))
    _, shown, _ = evener("machine", "show", file)
    assert "d0 .. d9999 (10,000 equal)" in shown
    assert len(shown.split("\n")) < 5
    unequal = [Device(f"d{i}", 1.0 + i, at=f"n{i % 500}") for i in range(1000)]
    write_platform(file, Platform(tuple(unequal), (Level("cluster"), Level("node"))))
    _, shown, _ = evener("machine", "show", file)
    assert f"{500 - MAX_LINES} more places" in shown
    write_platform(file, grid([10, 10], speeds=range(1, 101)))
    _, shown, _ = evener("machine", "show", file)
    assert f"{100 - MAX_LINES} more groups of devices" in shown
    assert f"{180 - MAX_LINES} more links" in shown


def test_show_as_json_and_quiet(evener, tmp_path):
    file = tmp_path / "m.toml"
    write_platform(file, topo1(24, 2, 4))
    _, shown, _ = evener("machine", "show", file, "--json")
    assert platform_from_dict(json.loads(shown)) == topo1(24, 2, 4)
    assert evener("machine", "show", file, "--quiet") == (0, "", "")


def test_show_places_the_mistake(evener, tmp_path):
    file = tmp_path / "m.toml"
    file.write_text('[[device]]\nname = "a"\nspeeed = 1\n')
    code, shown, said = evener("machine", "show", file)
    assert (code, shown) == (3, "")
    assert f"{file}:3: unknown key 'speeed' in device 'a'; did you mean speed?" in said

"""`evener tile`: the table, the drawing, the pictures, the JSON object, and what is refused."""

import json

import numpy as np
import pytest

from evener.cli.commands.tile import _shortened
from evener.io.machines.platforms import write_platform
from evener.io.machines.surfaces import write_surfaces
from evener.platforms.examples import tree
from evener.platforms.models.fitting import SpeedSurface


def test_a_table_and_a_drawing(evener):
    said = evener("tile", "--speeds", "2,1,1", "--size", 64, "--block", 16)
    assert said.code == 0
    lines = said.out.splitlines()
    assert lines[0].split() == ["device", "top", "left", "height", "width", "blocks", "target",
                                "time"]  # fmt: skip
    assert lines[1].split() == ["dev0", "0", "0", "4", "2", "8", "8", "1.00x"]
    assert lines[4][0] == "┌"
    assert "dev2" in said.out
    assert lines[-2].startswith("4 x 4 blocks of 16 by guillotine: half-perimeters 14, 1.0")
    assert lines[-2].endswith("all done after 1.00x")
    assert lines[-1].startswith("Speeds are relative: ")


def test_json_and_pictures(evener, tmp_path):
    file = tmp_path / "m.toml"
    write_platform(file, tree([2, 1, 3], fast=1))
    for name, start in (("t.png", b"\x89PNG"), ("t.svg", b"<?xml")):
        picture = tmp_path / name
        said = evener("tile", "--machine", file, "--size", "80x60", "--block", 4, "--json",
                      "--method", "hierarchical", "--picture", picture)  # fmt: skip
        found = json.loads(said.out)
        assert picture.read_bytes().startswith(start)
    assert found["shape"] == [20, 15]
    assert sum(h * w for h, w in zip(found["height"], found["width"], strict=True)) == 300
    assert found["makespan"] == max(found["seconds"])
    assert "fast0" in (tmp_path / "t.svg").read_text()
    # The same call makes the same picture, byte for byte.
    before = (tmp_path / "t.svg").read_bytes()
    evener("tile", "--machine", file, "--size", "80x60", "--block", 4, "--quiet",
           "--method", "hierarchical", "--picture", tmp_path / "t.svg")  # fmt: skip
    assert (tmp_path / "t.svg").read_bytes() == before


def test_a_file_of_rows_and_columns(evener, tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("old")
    machine = tmp_path / "m.toml"
    machine.write_text(
        '[[device]]\nname = "a,b"\nspeed = 2\n[[device]]\nname = "c"\ncount = 2\nspeed = 1\n'
    )
    words = ["tile", "--machine", machine, "--size", "100x60", "--block", 16]
    said = evener(*words, "-o", file)
    assert said.code == 0, said.err
    assert f"Written: {file}\n" in said.out
    head, *rows = file.read_text().splitlines()
    assert head == "device,first_row,end_row,first_column,end_column"
    assert [row.rsplit(",", 4)[0] for row in rows] == ['"a,b"', "c0", "c1"]
    owners = np.zeros((100, 60), int)
    for row in rows:
        top, bottom, left, right = map(int, row.rsplit(",", 4)[1:])
        owners[top:bottom, left:right] += 1
    assert (owners == 1).all()
    assert json.loads(evener(*words, "-o", file, "--json").out)["file"] == str(file)
    printed = evener(*words, "-o", "-", "--quiet")
    assert printed.out == file.read_text()


def test_memory_and_nodes_count(evener, tmp_path):
    file = tmp_path / "m.toml"
    file.write_text(
        '[[level]]\nname = "cluster"\n[[level]]\nname = "node"\n'
        '[[device]]\nname = "gpu"\nspeed = 10\nmemory_GiB = 0.001\nat = "a"\n'
        '[[device]]\nname = "cpu"\nspeed = 1\nat = "b"\n'
    )
    said = evener("tile", "--machine", file, "--size", 400, "--block", 10, "--method", "br")
    assert said.code == 0, said.err
    # 0.001 GiB hold 447 blocks of 10 x 10 elements of 24 bytes, of 1,600.
    assert 400 <= int(said.out.splitlines()[1].split()[5]) <= 447
    assert "The nodes together need" in said.out
    said = evener("tile", "--machine", file, "--size", 400, "--bytes-per-element", 0)
    assert said.code == 2


def test_many_devices_are_summed_up(evener):
    said = evener("tile", "--k", 200, "--size", 4096)
    assert "... and 140 more" in said.out
    assert "┌" not in said.out
    assert "by br" in said.out


@pytest.mark.parametrize(
    ("words", "code", "reason"),
    [
        (["--k", 3], 2, "--size"),
        (["--k", 3, "--size", "0"], 2, "not '0'"),
        (["--k", 3, "--size", "8x8x8"], 2, "ROWSxCOLUMNS"),
        (["--k", 3, "--size", 8, "--block", 0], 2, "--block"),
        (["--k", 3, "--size", 8, "--picture", "x.gif"], 2, ".png or .svg"),
        (["--k", 3, "--size", 8, "--picture", "no/such/x.png"], 3, "folder"),
        (["--k", 3, "--size", 8, "-o", "no/such/x.csv"], 3, "folder no/such does not exist"),
        (["--k", 3, "--size", 8, "-o", "x.svg", "--picture", "x.svg"], 2, "two outputs"),
        (["--k", 3, "--size", 8, "--method", "hierarchical"], 2, "no device has a place"),
        (["--k", 3, "--size", 8, "--method", "fpm-kl", "--columns", 2], 2, "2 columns"),
        (["--k", 3, "--size", 8, "--method", "kl", "--columns", 4], 2, "4 columns"),
        (["--k", 3, "--size", 8, "--method", "kl", "--columns", "2,2"], 2, "do not add up to 3"),
        (["--k", 3, "--size", 8, "--columns", "2,x"], 2, "whole number"),
        (["--k", 3, "--size", 8, "--method", "kl", "--sizes", "gpa"], 2, "does not take sizes"),
        (["--k", 3, "--size", 8, "--columns", 3], 2, "These methods do: kl, fpm-kl."),
        (["--k", 3, "--size", 8, "--slices"], 2, "does not take slices"),
        (["--k", 257, "--size", 8, "--method", "guillotine"], 2, "at most 256"),
        (["--k", 3, "--size", 99999, "--method", "guillotine"], 2, "blocks per side"),
        (["--k", 3, "--size", 10**12], 3, "cannot be divided"),
    ],
)
def test_what_is_refused(evener, words, code, reason):
    said = evener("tile", *words)
    assert said.code == code
    assert reason in said.err
    assert "bug" not in said.err


def test_numbers_of_devices_in_columns_and_ways_to_size(evener):
    said = evener("tile", "--k", 5, "--size", 60, "--method", "kl", "--columns", "2,3", "--json")
    assert sorted(json.loads(said.out)["width"]) == [24, 24, 36, 36, 36]
    for sizes in ("exact", "gpa", "npa"):
        words = ["--k", 3, "--size", 60, "--method", "1.5d", "--sizes", sizes, "--json"]
        assert json.loads(evener("tile", *words).out)["targets"] == [1200, 1200, 1200]


def test_by_surfaces_of_height_and_width(evener, tmp_path, monkeypatch):
    """The second device is twice as fast on every shape: both end nearly together."""
    monkeypatch.chdir(tmp_path)
    sides = [1.0, 60.0]
    speeds = [[2.0, 3.0], [4.0, 5.0]]
    surfaces = {name: SpeedSurface(sides, sides, np.multiply(speeds, scale))
                for name, scale in (("slow", 1), ("fast", 2))}  # fmt: skip
    write_surfaces("s.toml", surfaces)
    for method in ("fpm-kl", "1.5d"):
        said = evener("tile", "--speeds", "s.toml", "--size", "60", "--method", method, "--json")
        assert said.code == 0, said.err
        made = json.loads(said.out)
        assert (made["method"], made["devices"]) == (method, ["slow", "fast"])
        assert made["height"][0] * made["width"][0] < made["height"][1] * made["width"][1]
        if method == "fpm-kl":  # 1.5d takes areas as square when it sizes them
            assert max(made["seconds"]) < 1.2 * min(made["seconds"])


def test_areas_that_nobody_measured_are_named(evener, tmp_path):
    file = tmp_path / "speeds.toml"
    file.write_text('[[device]]\nname = "a"\nsamples = [[10, 1.0], [100, 5.0]]\n')
    assert "outside the measured range" not in evener("tile", "--speeds", file, "--size", 9).out
    assert (
        "a gets 400, measured from 10 to 100" in evener("tile", "--speeds", file, "--size", 20).out
    )


def test_curves_on_a_machine_s_tree(evener, tmp_path):
    machine, speeds = tmp_path / "m.toml", tmp_path / "s.toml"
    write_platform(machine, tree([2, 1, 3], fast=1))
    speeds.write_text(
        '[[device]]\nname = "fast"\nsamples = [[100, 1.0], [1000, 40.0]]\n'
        '[[device]]\nname = "slow"\nsamples = [[100, 2.0]]\ncapacity = 400\n'
    )
    said = evener("tile", "--machine", machine, "--speeds", speeds, "--size", "1e3", "--block", 25,
                  "--hierarchical", "--json")  # fmt: skip
    assert said.code == 0, said.err
    found = json.loads(said.out)
    areas = np.multiply(found["height"], found["width"])
    assert found["method"] == "hierarchical"
    assert areas.sum() == 1600
    slow = [name.startswith("slow") for name in found["devices"]]
    assert (areas[slow] <= 400).all()
    # 100 blocks take a fast device 1 s, but 1,000 take it 40.
    assert max(found["seconds"]) < 1.1 * np.median(found["seconds"])
    said = evener("tile", "--speeds", speeds, "--size", 100, "--hierarchical")
    assert said.code == 2
    assert "no device has a place" in said.err


def test_names_that_do_not_fit_are_shortened_in_the_middle_or_left_out():
    names = ["rack0-gpu1", "rack0-gpu2", "rack1-gpu1"]
    assert _shortened(names[0], 10, names) == names[0]
    assert _shortened(names[0], 9, names) == "rack0-g…1"
    assert _shortened(names[1], 4, names) == "ra…2"
    assert _shortened(names[0], 3, names) == ""  # which of two would it be?
    assert _shortened(names[1], 2, names) == ""

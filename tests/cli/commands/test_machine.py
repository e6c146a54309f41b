"""`evener machine` as a user sees it: what is printed, written and refused."""

import json
from argparse import ArgumentParser

import pytest

from evener.cli import main
from evener.cli.machines import MachineOptions, add_machine_options, machine_of
from evener.cli.options import options_from
from evener.errors import InputError, UsageError
from evener.io.machines.platform_dicts import platform_from_dict
from evener.io.machines.platforms import read_platform, write_platform
from evener.io.machines.processes import read_processes
from evener.measuring.this_computer import cores
from evener.platforms.examples import fat_tree, grid, star, topo1, topo2, topo3, tree
from evener.platforms.platform import Link, Platform
from tests.assertions import run_evener


@pytest.fixture
def evener(capsys):
    """Run a command; returns exit code, stdout and stderr."""

    def run(*words):
        code = main([str(word) for word in words])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.mark.parametrize(
    ("words", "platform"),
    [
        ("topo1 --k 96 --fast 8 --speed 16", topo1(96, 8, 16)),
        ("topo1", topo1(96, 8, 16)),
        ("topo1 --speed 3 --no-memory-caps --units 9", topo1(96, 8, 3)),
        ("topo1 --units 1000000 --links", topo1(96, 8, 16, units=10**6, links=True)),
        ("topo2 --k 24 --fast 4 --speed 2", topo2(24, 4, 2)),
        ("topo2 --k 24 --fast 4 --middle 3.5", topo2(24, 4, 16, middle=3.5)),
        ("topo2 --units 5000", topo2(96, 8, 16, units=5000)),
        ("topo3", topo3(96, 24, 16)),
        ("topo3 --k 192 --fast 48 --speed 4", topo3(192, 48, 4)),
        ("flat --speeds 1,1,4", Platform.flat([1, 1, 4])),
        ("grid --shape 2x3", grid([2, 3])),
        ("grid --shape 2x2x2 --speeds 5 --alpha-us 2 --GB-per-s 10",
         grid([2, 2, 2], speeds=[5], link=Link(2e-6, 1e-10))),
        ("tree --shape 2x3", tree([2, 3])),
        ("tree --shape 2x2x3 --fast 1 --speed 4e8 --slow-speed 1e8",
         tree([2, 2, 3], fast=1, speed=4e8, slow_speed=1e8)),
        ("grid --shape 3x3 --torus --mips 1,2 --vector-length 8", grid([3, 3], wrap=True, able=[
            {"mips": 1.0, "vector_length": 8.0}, {"mips": 2.0, "vector_length": 8.0}])),
        ("star --k 5 --GB-per-s 10", star(5, link=Link(5e-7, 1e-10))),
        ("fat-tree --k 10 --arity 3 --mips 7", fat_tree(10, 3, able=[{"mips": 7.0}])),
        ("grid --shape 1x2 --GB-per-s inf", grid([1, 2], link=Link(5e-7, 0.0))),
    ],
)  # fmt: skip
def test_the_same_on_screen_in_a_file_and_as_json(evener, tmp_path, words, platform):
    code, shown, _ = evener("machine", *words.split())
    assert code == 0
    screen = tmp_path / "screen.toml"
    screen.write_text(shown)
    assert read_platform(screen) == platform
    file = tmp_path / "m.toml"
    code, shown, _ = evener("machine", *words.split(), "-o", file, "--json")
    assert code == 0
    assert read_platform(file) == platform
    assert platform_from_dict(json.loads(shown)) == platform


def test_middle_devices_slower_than_slow_ones_are_noted(evener):
    shown, noted = evener("machine", "topo2", "--units", "5000", "--speed", "4")[1:]
    assert "0.769, less than slow ones (1)" in noted
    assert "note" not in shown
    assert evener("machine", "topo2", "--units", "5000", "--speed", "16")[2] == ""


def test_this_computer(evener, tmp_path):
    file = tmp_path / "here.toml"
    code, shown, _ = evener("machine", "here", "-o", file)
    assert code == 0
    assert str(file) in shown
    assert read_platform(file).k >= 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "KIND"),
        ("topo9", "topo9"),
        ("topo1 --speed 3 --units 100", "Table III has no memory"),
        ("topo1 --speed nan", "'nan'"),
        ("topo1 --speed 0", "not above zero"),
        ("topo1 --speed inf", "not finite"),
        ("topo1 --k 0", "--k must lie"),
        ("topo1 --k 99999999999", "--k must lie"),
        ("topo1 --fast 97", "cannot be fast"),
        ("topo1 --units 0", "above zero"),
        ("topo1 --middle 2", "--middle"),
        ("topo2 --units 100 --middle 2", "equation 5"),
        ("topo3 --fast 8", "24 or 48"),
        ("flat", "--speeds"),
        ("flat --speeds 1,,2", "entry 2 is ''"),
        ("flat --speeds 1,-2", "entry 2 is '-2'"),
        ("flat --speeds inf", "entry 1 is 'inf'"),
        ("grid --shape 4", "NXxNY"),
        ("tree --shape 4", "NxSxD"),
        ("tree --shape 2x3x0", "two devices or more"),
        ("tree --shape 2x3 --fast 4", "a group has 3 devices, so 4 cannot be fast"),
        ("grid --shape 4x-1", "NXxNY"),
        ("grid --shape 99999x99999", "a grid must be"),
        ("grid --shape 2x2 --speeds 1,2,3", "3 speeds"),
        ("grid --shape 2x2 --mips 0", "--mips: entry 1 is '0'"),
        ("star --k 1", "a network joins 2 to"),
        ("fat-tree --k 4 --arity 1", "the arity of a fat tree must be >= 2"),
        ("grid --shape 2x2 --alpha-us x", "--alpha-us"),
    ],
)
def test_refused_as_usage(evener, words, message):
    code, shown, said = evener("machine", *words.split())
    assert code == 2
    assert not shown
    assert message in said
    assert len(said.strip().split("\n")) <= 3


def test_a_file_that_cannot_be_written(evener, tmp_path):
    code, _, said = evener("machine", "topo1", "-o", tmp_path / "none" / "m.toml")
    assert code == 3
    assert "cannot be written" in said


@pytest.mark.slow
def test_no_colour_where_none_is_wanted(tmp_path):
    file = tmp_path / "m.toml"
    write_platform(file, topo1(24, 2, 4))
    done = run_evener("machine", "show", file, NO_COLOR="1", FORCE_COLOR="")
    assert done.returncode == 0, done.stderr
    assert "\x1b[3" not in done.stdout


def machine(*words):
    parser = ArgumentParser(exit_on_error=False)
    add_machine_options(parser)
    return machine_of(options_from(parser.parse_args(words), MachineOptions))


def test_machine_options(tmp_path):
    file = tmp_path / "m.toml"
    write_platform(file, topo1(24, 2, 4))
    assert machine("--machine", str(file)) == topo1(24, 2, 4)
    assert machine("--k", "3") == Platform.flat([1, 1, 1])
    assert machine("--speeds", "1, 2.5,4e2") == Platform.flat([1, 2.5, 400])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "exactly one.*nothing given"),
        (["--k", "3", "--speeds", "1,2"], "--k and --speeds given"),
        (["--machine", "x", "--k", "3"], "--machine and --k given"),
        (["--k", "0"], "--k must lie between 1 and"),
        (["--speeds", "1,fast"], "entry 2 is 'fast'"),
    ],
)
def test_machine_options_refused(words, message):
    with pytest.raises(UsageError, match=message):
        machine(*words)


def test_a_missing_machine_file(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        machine("--machine", str(tmp_path / "none"))


def test_a_process_file_of_this_computer(evener, tmp_path):
    file = tmp_path / "p.toml"
    code, said, _ = evener("machine", "processes", "-o", file)
    found = read_processes(file)
    assert (code, said.split(":")[0]) == (0, str(file))
    assert [p.bind for p in found] == [f"cpu{core.cpu}" for core in cores()]
    code, said, _ = evener("machine", "processes", "--json")
    assert json.loads(said)["processes"][0]["host"] == found[0].host
    code, _, said = evener(
        "measure", "axpy", "--processes", file, "--device", "cpu0", "-o", "s.toml"
    )
    assert (code, "--device does not work with" in said) == (2, True)
    file.write_text(file.read_text() + "[process.options]\nblok = 3\n")
    code, _, said = evener("measure", "gemm", "--processes", file, "-o", tmp_path / "s.toml")
    assert (code, "kernel gemm takes no option 'blok' on cpu devices" in said) == (2, True)

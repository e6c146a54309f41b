"""`evener sizes`: the table, the JSON object, and what is refused."""

import json

import numpy as np
import pytest

from evener.cli import main
from evener.io.machines.platforms import write_platform
from evener.io.machines.speeds import read_speeds
from evener.measuring.devices import cores
from evener.platforms.examples import topo1
from evener.platforms.platform import Device, Platform


@pytest.fixture
def sizes(capsys):
    """Run `evener sizes`; returns exit code, stdout and stderr."""

    def run(*words):
        code = main(["sizes", *[str(word) for word in words]])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.fixture
def path_of_ten(tmp_path):
    file = tmp_path / "p.graph"
    lines = [f"{v - 1} {v + 1}".replace("0 2", "2") if v < 10 else "9" for v in range(1, 11)]
    file.write_text("10 9\n" + "\n".join(lines) + "\n")
    return file


def test_json_in_the_machines_order(sizes, tmp_path):
    file = tmp_path / "m.toml"
    write_platform(file, topo1(24, 2, 16, units=10_000))
    code, shown, said = sizes("--machine", file, "--n", 10_000, "--json")
    assert (code, said) == (0, "")
    found = json.loads(shown)
    assert found["devices"][:3] == ["fast0", "fast1", "slow0"]
    assert all(isinstance(size, int) for size in found["sizes"])
    assert sum(found["sizes"]) == 10_000
    assert found["saturated"] == [True] * 2 + [False] * 22
    for key in ("sizes", "low", "high", "saturated", "seconds", "targets"):
        assert len(found[key]) == 24
    assert found["makespan"] == max(found["seconds"])
    assert all(low <= size <= high for low, size, high in
               zip(found["low"], found["sizes"], found["high"], strict=True))  # fmt: skip


def test_table_by_device(sizes):
    code, shown, _ = sizes("--speeds", "1,1,4", "--n", 100)
    assert code == 0
    lines = [line.split() for line in shown.rstrip().split("\n")]
    assert lines[0] == ["device", "speed", "low", "size", "target", "high", "saturated", "time"]
    assert lines[1] == ["dev0", "1", "16", "17", "16.67", "17", "1.02x"]
    assert lines[3] == ["dev2", "4", "65", "67", "66.67", "68", "1.00x"]
    assert "100 units on 3 devices: all done after 1.02x\nSpeeds are relative: " in shown
    _, shown, _ = sizes("--speeds", "1e6,1e6,4e6", "--n", 10**8)
    assert shown.rstrip().endswith("100,000,000 units on 3 devices: all done after 16.7 s")


def test_long_machines_are_summarised(sizes, tmp_path):
    _, shown, _ = sizes("--k", 10_000, "--n", 10_005)
    assert "dev0 .. dev4 (5 equal)" in shown
    assert "dev5 .. dev9999 (9,995 equal)" in shown
    file = tmp_path / "m.toml"
    write_platform(file, Platform(tuple(Device(f"d{i}", 1.0 + i % 97) for i in range(1000))))
    _, shown, _ = sizes("--machine", file, "--n", 10**6)
    assert "... and 940 more groups" in shown
    assert len(shown.split("\n")) < 70


def test_rounding_does_not_split_groups_of_a_long_machine(sizes, tmp_path):
    # 60 groups fill the table; a unit left over splits one: then by target, sizes as a range.
    file = tmp_path / "m.toml"
    speeds = np.repeat(1.0 + np.arange(60), 4) + 0.1
    write_platform(file, Platform(tuple(Device(f"d{i}", s) for i, s in enumerate(speeds.tolist()))))
    _, shown, _ = sizes("--machine", file, "--n", 100_001)
    assert "more groups" not in shown
    assert len(shown.rstrip().split("\n")) == 63


def test_memory_by_vertices_and_edges(sizes, tmp_path):
    file = tmp_path / "m.toml"
    write_platform(file, Platform((Device("gpu", 16.0, memory=2.0**20), Device("cpu", 1.0))))
    words = ["--machine", file, "--n", 50_000, "--edges", 100_000, "--json"]
    # 24 + 4 x 12 = 72 bytes a vertex
    _, shown, _ = sizes(*words)
    assert json.loads(shown)["sizes"] == [2**20 // 72, 50_000 - 2**20 // 72]
    _, shown, _ = sizes(*words, "--bytes-per-vertex", 32, "--bytes-per-edge", 0)
    assert json.loads(shown)["sizes"][0] == 2**20 // 32


def test_a_graph_brings_its_load(sizes, path_of_ten):
    code, shown, _ = sizes("--k", 3, "--graph", path_of_ten, "--json")
    assert code == 0
    assert json.loads(shown)["sizes"] == [4, 3, 3]


def test_infeasible(sizes, tmp_path):
    file = tmp_path / "m.toml"
    write_platform(file, Platform((Device("a", 1.0, memory=2.0**30), Device("b", 2.0, memory=2e9))))
    code, shown, said = sizes("--machine", file, "--n", 200_000_000)
    room = 2**30 // 24 + 2_000_000_000 // 24
    assert (code, shown) == (4, "")
    assert f"GiB short: all devices together hold {room:,} units, 200,000,000 are asked" in said
    assert "It would fit with" in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--k", 3], "--n N or --graph"),
        (["--k", 3, "--n", 5, "--graph", "x"], "--n N or --graph"),
        (["--n", 5], "exactly one"),
        (["--k", 3, "--n", 0], "--n must be above zero"),
        (["--k", 3, "--n", 5, "--edges", -1], "--edges"),
        (["--k", 3, "--n", 5, "--epsilon", 1], "--epsilon"),
        (["--k", 3, "--n", 5, "--epsilon", "nan"], "--epsilon"),
        (["--k", 3, "--n", 5, "--bytes-per-vertex", -1], "--bytes-per-vertex"),
        (["--k", 3, "--n", 5, "--bytes-per-edge", "nan"], "--bytes-per-edge"),
        (["--k", 3, "--n", "many"], "--n"),
    ],
)
def test_refused_as_usage(sizes, words, message):
    code, shown, said = sizes(*words)
    assert (code, shown) == (2, "")
    assert message in said


OWN = """
import time

def waiting(d):
    return lambda: time.sleep(2e-5 * d)
"""


@pytest.mark.slow
def test_by_measuring(sizes, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(OWN)
    words = ["--measure", "own:waiting", "--dynamic", "--n", 150, "--epsilon", 0.9, "-o", "s.toml"]
    words += ["--repetitions", 3, "--device", ",".join(f"cpu{core.cpu}" for core in cores()[:2])]
    code, shown, said = sizes(*words, "--json")
    assert (code, said) == (0, "")
    found = json.loads(shown)
    assert sum(found["sizes"]) == 150
    assert found["written"] == "s.toml"
    assert [sum(step["sizes"]) for step in found["steps"]] == [150] * len(found["steps"])
    assert found["makespan"] == min(max(step["seconds"]) for step in found["steps"])
    names = [device.name for device in read_speeds(tmp_path / "s.toml")]
    assert found["devices"] == names


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--measure", "axpy"], "--measure KERNEL and --dynamic must be given together"),
        (["--dynamic"], "--measure KERNEL and --dynamic must be given together"),
        (["--k", 2, "--device", "cpu0"], "--device works with --measure KERNEL --dynamic only"),
        (["--k", 2, "-o", "s.toml"], "--output works with --measure"),
        (["--measure", "axpy", "--dynamic", "--k", 2], "with --machine or --k"),
        (["--measure", "axpy", "--dynamic", "--speeds", "1,2"], "--speeds takes a file"),
        (["--measure", "axpy", "--dynamic", "--explain"], "--explain does not work with --measure"),
        (["--measure", "axpy", "--dynamic", "--epsilon", 0], "an --epsilon above zero"),
        (["--measure", "axpy", "--dynamic", "-o", "-"], "cannot be stdout"),
        (
            ["--measure", "axpy", "--dynamic", "--block", 8],
            "--block works with the kernel gemm only",
        ),
        (["--measure", "axpy", "--dynamic", "--memory", 0], "a size must be above zero"),
    ],
)
def test_by_measuring_refused(sizes, words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, shown, said = sizes("--n", 9, *words)
    assert (code, shown) == (2, "")
    assert message in said


def test_by_measuring_a_graph_that_is_no_matrix(sizes, path_of_ten):
    words = ["--measure", "axpy", "--dynamic"]
    code, _, said = sizes("--graph", path_of_ten, *words)
    assert (code, "kernel axpy has no matrix" in said) == (2, True)

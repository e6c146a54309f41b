"""`evener evaluate`: any tool's partition, judged; the exit code says nothing of the verdict."""

import json

import numpy as np
import pytest

from evener.plans import metrics
from evener.plans.partition import Partition
from evener.sizing.memory_capped import target_sizes
from tests.assertions import grid

KEYS = {"edge_cut", "max_volume", "total_volume", "boundary", "imbalance", "seconds", "holds",
        "blocks"}  # fmt: skip
BLOCK_KEYS = {"device", "weight", "low", "target", "high", "volume", "seconds"}


@pytest.fixture
def part_file(tmp_path):
    """Columns 0 to 5 to device 0, 6 to 11 to device 1: equal halves."""
    file = tmp_path / "x.part"
    file.write_text("\n".join(str(v % 12 // 6) for v in range(120)) + "\n")
    return file


def test_json(evener, grid_file, part_file):
    said = evener("evaluate", grid_file, part_file, "--speeds", "1,3", "--json")
    assert said.code == 0
    found = json.loads(said.out)
    assert found.keys() >= KEYS
    assert all(block.keys() >= BLOCK_KEYS for block in found["blocks"])
    assert found["edge_cut"] == 10
    assert found["total_volume"] == found["boundary"] == 20
    assert found["max_volume"] == 10
    assert found["imbalance"] == pytest.approx(1.0)
    assert found["seconds"] == 60.0
    assert found["holds"] is False
    sizes = target_sizes([1, 3], 120)
    for i, block in enumerate(found["blocks"]):
        assert block["device"] == f"dev{i}"
        assert block["weight"] == 60
        assert block["target"] == pytest.approx(sizes.targets[i])
        assert (block["low"], block["high"]) == (sizes.low[i], sizes.high[i])
        assert block["volume"] == 10
        assert block["seconds"] == 60 / (1, 3)[i]
        assert block["holds"] is False


def test_agrees_with_the_metrics(evener, grid_file, tmp_path):
    part = np.random.default_rng(4_660).integers(0, 3, 120)
    np.savetxt(tmp_path / "x.part", part, fmt="%d")
    said = evener("evaluate", grid_file, tmp_path / "x.part", "--k", 3, "--json")
    found = json.loads(said.out)
    between = metrics.quotient(grid(10, 12), Partition(part, 3))
    assert found["edge_cut"] == metrics.edge_cut(between)
    assert [block["volume"] for block in found["blocks"]] == metrics.comm_volumes(between).tolist()


def test_for_people(evener, grid_file, part_file):
    said = evener("evaluate", grid_file, part_file, "--k", 2)
    assert said.code == 0
    assert "blocks within contract" in said.out
    assert "2 of 2" in said.out
    assert "Both blocks hold their contract; slowest device" in said.out
    said = evener("evaluate", grid_file, part_file, "--speeds", "1,3")
    assert said.code == 0
    assert "2 of 2 blocks break their contract (dev0, dev1: " in said.out


def test_empty_blocks_are_judged(evener, grid_file, part_file):
    said = evener("evaluate", grid_file, part_file, "--k", 3, "--json")
    assert said.code == 0
    block = json.loads(said.out)["blocks"][2]
    assert (block["weight"], block["components"], block["holds"]) == (0, 0, False)


def test_a_plan_is_a_partition(evener, grid_file, tmp_path):
    evener("plan", grid_file, "--k", 4, "-o", tmp_path / "x.plan")
    said = evener("evaluate", grid_file, tmp_path / "x.plan", "--k", 4, "--json")
    assert json.loads(said.out)["holds"] is True


def test_a_plan_brings_its_kernel(evener, grid_file, tmp_path):
    words = ["--k", 4, "--kernel", "spmv", "--overlap", "--bytes-per-value", 40]
    evener("plan", grid_file, *words, "--with", "rcb", "-o", tmp_path / "x.plan")

    def judged(*more):
        said = evener("evaluate", grid_file, tmp_path / "x.plan", "--k", 4, *more, "--json")
        return json.loads(said.out)

    assert judged() == judged(*words[2:])
    plain = judged("--kernel", "weights")
    assert plain["seconds"] != judged()["seconds"]
    assert plain["blocks"][0]["weight"] == plain["blocks"][0]["vertices"]
    assert judged("--bytes-per-value", 40) == judged()


def test_no_such_kernel(evener, grid_file, part_file):
    said = evener("evaluate", grid_file, part_file, "--k", 2, "--kernel", "spvm")
    assert said.code == 2
    assert "did you mean spmv?" in said.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0\n" * 119, "contains blocks of 119 vertices; 120 are needed"),
        ("0\n" * 119 + "2\n", "vertex 119 is in block 2, but 2 blocks"),
        ("0\n" * 119 + "-1\n", "x.part:120: the block -1 is below 0"),
        ("0\n" * 119 + "x\n", "x.part:120"),
        ("", "is empty"),
    ],
)
def test_refused_partitions_name_their_file(evener, grid_file, tmp_path, text, message):
    file = tmp_path / "x.part"
    file.write_text(text)
    said = evener("evaluate", grid_file, file, "--k", 2)
    assert (said.code, said.out) == (3, "")
    assert str(file) in said.err
    assert message in said.err


def test_a_plan_for_seconds_is_held_to_its_own_contract(evener, grid_file, tmp_path):
    machine, plan = tmp_path / "m.toml", tmp_path / "x.plan"
    devices = "".join(f'[[device]]\nname = "d{i}"\nspeed = 1e8\n' for i in range(3))
    machine.write_text(devices + '[[level]]\nname = "net"\nalpha_us = 10\n')
    assert evener("plan", grid_file, "--machine", machine, "-o", plan).code == 0
    own = evener("evaluate", grid_file, plan, "--machine", machine)
    assert "3 of 3" in own.out and "the plan's own" in own.out
    asked = evener("evaluate", grid_file, plan, "--machine", machine, "--epsilon", "0.03")
    assert "0 of 3" in asked.out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "x.plan: cannot be read"),
        (b"", "x.plan: is empty"),
        (b"0\n1\n", "x.plan: is not a plan file"),
        (b"PK\3\4 damaged", "x.plan: is not a readable plan file"),
    ],
)
def test_a_plan_that_cannot_be_read_is_said_to_be_so(evener, grid_file, tmp_path, content, message):
    """Not that a machine is missing, which a plan would have brought along."""
    file = tmp_path / "x.plan"
    if content is not None:
        file.write_bytes(content)
    said = evener("evaluate", grid_file, file)
    assert (said.code, said.out) == (3, "")
    assert message in said.err


def test_blocks_that_cannot_be_read_without_a_machine(evener, grid_file, tmp_path):
    said = evener("evaluate", grid_file, tmp_path / "x.part")
    assert said.code == 3
    assert "x.part: cannot be read" in said.err

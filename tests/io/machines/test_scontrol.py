"""Nodes of Slurm: equal and unlike ones, those that take no work, what is not stated."""

import pytest

from evener.errors import InputError
from evener.io.machines.scontrol import nodes_of_scontrol, takes_work
from evener.platforms.computer import memory_of_cores
from tests.io.machines.descriptions import SLURM, content_of

MIB = 2.0**20
NODE = "NodeName=a CoresPerSocket=2 Sockets=2 ThreadsPerCore=2 RealMemory=100 State=IDLE Gres=gpu:1"


def read(name, partition=""):
    return nodes_of_scontrol(content_of(name), name, partition)


def of(text):
    return nodes_of_scontrol(text.encode(), "x.txt").computers


def test_equal_nodes_whatever_they_do_now():
    nodes = read("slurm_equal")
    assert [node.host for node in nodes.computers] == ["n001", "n002", "n003"]
    assert nodes.notes == ()
    for node in nodes.computers:
        assert [(c.cpus, c.socket, c.numa) for c in node.cores] == [
            ((i,), i // 12, i // 12) for i in range(24)
        ]
        assert memory_of_cores(node) == dict.fromkeys(range(24), 4000 * MIB)
        assert node.gpus == ()
        assert node.numbering_guessed


def test_unlike_nodes_of_one_line_each():
    plain, four, mixed = read("slurm_unlike").computers
    assert plain.cores[3].cpus == (3, 19)  # the second threads follow the first ones
    assert memory_of_cores(plain)[0] == 4000 * MIB
    assert {core.cpu for core in four.cores} == set(range(32)) - {15, 31}  # Slurm keeps these
    assert four.memory == 500_000 * MIB
    assert [(g.index, g.model, g.sockets) for g in four.gpus] == [
        (i, "a100", {0, 1}) for i in range(4)
    ]
    assert [core.cpu for core in mixed.cores] == list(range(30))
    assert [(g.model, g.share, g.sockets) for g in mixed.gpus] == [
        ("v100", 1.0, {0}), ("a100_1g.5gb", 0.125, {1}), ("a100_1g.5gb", 0.125, {1})
    ]  # fmt: skip


def test_a_partition():
    assert [node.host for node in read("slurm_unlike", "gpu").computers] == ["gn01", "gn02"]
    assert [node.host for node in read("slurm_unlike", "long").computers] == ["cn01"]
    with pytest.raises(InputError, match="no node is in the partition 'gp'"):
        read("slurm_unlike", "gp")


def test_nodes_that_take_no_work_are_left_out_and_said():
    nodes = read("slurm_down")
    assert [node.host for node in nodes.computers] == ["a1", "a6"]
    assert nodes.notes == (
        "node a2 is left out: its state is DOWN*+DRAIN",
        "node a3 is left out: its state is IDLE+DRAIN",
        "node a4 is left out: its state is IDLE*",
        "node a5 is left out: its state is MIXED+MAINT",
    )
    assert [gpu.model for gpu in nodes.computers[0].gpus] == ["", ""]


def test_hidden_memory_means_no_limit():
    first, second = read("slurm_hidden").computers
    for node in (first, second):
        assert node.memories == ()
        assert "no memory" in node.notes[0]
    assert len(second.cores) == 6  # by CPUTot alone


@pytest.mark.parametrize(
    ("state", "takes"),
    [("IDLE", True), ("MIXED+CLOUD", True), ("IDLE~", True), ("IDLE#", True), ("COMPLETING", True),
     ("ALLOCATED+RESERVED", True), ("IDLE*", False), ("DOWN", False), ("DOWN~", False),
     ("IDLE+DRAIN", False), ("DRAINED$", False), ("FUTURE", False), ("UNKNOWN", False),
     ("FAIL", False), ("IDLE+NOT_RESPONDING", False), ("", False)],
)  # fmt: skip
def test_states(state, takes):
    assert takes_work(state) == takes


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Sockets=2", "Sockets=0", "Sockets of node a must be a whole number from 1"),
        ("CoresPerSocket=2", "CoresPerSocket=0", "from 1 to"),
        ("CoresPerSocket=2", "CoresPerSocket=two", "not 'two'"),
        ("CoresPerSocket=2", "CoresPerSocket=99999999999999999999", "whole number"),
        ("CoresPerSocket=2", "CoresPerSocket=65536", "262,144 processors"),
        ("CoresPerSocket=2 ", "", "neither CoresPerSocket nor CPUTot"),
        ("RealMemory=100", "RealMemory=-5", "RealMemory"),
        ("RealMemory=100", "RealMemory=100 MemSpecLimit=100", "all of its memory"),
        ("RealMemory=100", "RealMemory=100 CoreSpecCount=4", "all of its cores"),
        ("gpu:1", "gpu:many", "is not a number of GPUs such as 'gpu:a100:4'"),
        ("gpu:1", "gpu:a100:99999", "is not a number of GPUs such as 'gpu:a100:4'"),
        ("State=IDLE", "State=DOWN", "no node accepts jobs: their states are DOWN"),
        ("NodeName=a", "NodeName=", "has a node named ''"),
        ("NodeName=a", "NodeName=a\u202eb", "has a node named"),
        ("NodeName=a", "JobId=3\nNodeName=a", "begins with 'JobId=3'"),
    ],
)
def test_what_cannot_be(old, new, message):
    assert old in NODE
    with pytest.raises(InputError, match=message) as found:
        of(NODE.replace(old, new))
    assert found.value.file == "x.txt"


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "is empty"), ('{"nodes": []}', "begins with"), (f"{NODE}\n{NODE}", "'a' twice"),
     ("PartitionName=x", "begins with 'PartitionName=x'")],
)  # fmt: skip
def test_what_is_no_such_text(text, message):
    with pytest.raises(InputError, match=message):
        of(text)


def test_other_encodings():
    with pytest.raises(InputError, match="UTF-8"):
        nodes_of_scontrol(NODE.encode("utf-16"), "x.txt")
    assert len(nodes_of_scontrol(b"\xef\xbb\xbf" + NODE.encode(), "x").computers) == 1
    assert len(nodes_of_scontrol(NODE.encode() + b" Reason=na\xefve", "x").computers) == 1


def test_free_text_is_no_key():
    (node,) = of(f"{NODE}\n   Reason=CoresPerSocket=9 Comment=Sockets=8\n   Extra=NodeName=b")
    assert len(node.cores) == 4


def test_a_text_that_was_cut_is_read_or_refused():
    for name in SLURM:
        content = content_of(name)
        for length in range(1, len(content), 7):
            try:
                nodes = nodes_of_scontrol(content[:length], name)
            except InputError:
                continue
            assert all(node.cores for node in nodes.computers)

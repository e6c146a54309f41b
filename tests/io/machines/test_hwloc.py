"""Descriptions by hwloc: cores, where they are, memories, caches, GPUs; and what cannot be."""

import re

import pytest

from evener.errors import InputError
from evener.io.machines.hwloc import computer_of_hwloc
from evener.platforms.computer import memory_of_cores
from tests.io.machines.descriptions import HWLOC, content_of

GIB = 2.0**30


def read(name):
    return computer_of_hwloc(content_of(name), name)


def changed(name, old, new, count=1):
    content = content_of(name)
    assert old.encode() in content
    return content.replace(old.encode(), new.encode(), count)


def where(computer):
    return [(core.cpus, core.socket, core.numa, core.cache) for core in computer.cores]


def test_cores_of_two_kinds():
    lap = read("laptop_hybrid")
    assert (lap.host, lap.model, lap.architecture) == (
        "lap", "12th Gen Intel(R) Core(TM) i5", "x86_64"
    )  # fmt: skip
    assert where(lap) == [
        ((0, 1), 0, 0, 0), ((2, 3), 0, 0, 0),
        ((4,), 0, 0, 0), ((5,), 0, 0, 0), ((6,), 0, 0, 0), ((7,), 0, 0, 0),
    ]  # fmt: skip
    assert [core.clock for core in lap.cores] == [4.4e9] * 2 + [3.3e9] * 4
    assert [core.lanes for core in lap.cores] == [None] * 2 + [2] * 4
    assert lap.caches == {"L3": (12 * 2**20, 8), "L2": (2 * 2**20, 4)}
    assert lap.memory == 16 * GIB
    assert lap.read_from == (("cores, memory and caches", "hwloc 2.10.0"),)


def test_numa_nodes_beside_the_cores():
    epyc = read("two_sockets_nps4")
    assert where(epyc) == [
        ((i, i + 16), i // 8, i // 2, i // 2) for i in range(16)
    ]  # fmt: skip
    assert memory_of_cores(epyc) == dict.fromkeys(range(16), 32 * GIB)


def test_numa_nodes_of_version_1_contain_the_cores():
    old = read("two_sockets_v1")
    assert where(old) == [((i,), i // 2, i // 2, i // 2) for i in range(4)]
    assert old.caches == {"L3": (15 * 2**20, 2), "L2": (2**18, 1)}
    assert memory_of_cores(old) == dict.fromkeys(range(4), 4 * GIB)
    assert old.near == {"0000:05:00.0": {0, 1}, "0000:55:00.0": {2, 3}}


def test_memory_of_a_machine_without_numa_nodes():
    uma = read("one_socket_v1")
    assert where(uma) == [((0,), 0, 0, 0), ((1,), 0, 0, 0)]
    assert memory_of_cores(uma) == {0: 2 * GIB, 1: 2 * GIB}


def test_gpus_that_hwloc_lists_by_cuda():
    node, first, second = read("gpu_node"), {0, 1, 2, 3}, {4, 5, 6, 7}
    assert [(g.index, g.model, g.memory, g.bus, g.cpus) for g in node.gpus] == [
        (i, "NVIDIA A100-SXM4-40GB", 40 * GIB, f"0000:{bus}:00.0", near)
        for i, (bus, near) in enumerate(
            (("3b", first), ("3c", first), ("af", second), ("b0", second))
        )
    ]  # fmt: skip


def test_gpus_of_others_are_said():
    text = content_of("gpu_node").replace(b'"NVML"', b'"RSMI"').replace(b'"nvml', b'"rsmi')
    assert computer_of_hwloc(text, "x").notes == (
        "GPUs other than CUDA GPUs are left out: rsmi0..rsmi3",
    )


def test_capacities_of_arm_cores():
    board = read("big_little")
    assert [core.capacity for core in board.cores] == [256.0] * 4 + [1024.0] * 2
    assert board.architecture == "aarch64"


def test_only_what_a_container_may_use():
    container = read("container")
    assert where(container) == [((2,), 0, 0, 0), ((3,), 0, 0, 0), ((4,), 1, 1, 0)]
    # Of the two memories one may be used. It is local to two of three cores, and shared by all.
    assert container.memory == 32 * GIB
    assert memory_of_cores(container) == dict.fromkeys((2, 3, 4), 32 * GIB / 3)


def test_fast_memory_and_memory_without_cores():
    hbm = read("hbm_many")
    assert [core.cpu for core in hbm.cores] == list(range(64))
    assert memory_of_cores(hbm) == dict.fromkeys(range(64), 3 * GIB)


def test_processors_without_cores_are_cores():
    text = re.sub(rb'<object type="Core"[^>]*>(.*?)</object>', rb"\1", content_of("gpu_node"))
    computer = computer_of_hwloc(text, "x")
    assert [core.cpus for core in computer.cores] == [(i,) for i in range(8)]


def test_sockets_of_the_same_number_are_told_apart():
    text = changed("two_sockets_v1", 'type="Socket" os_index="1"', 'type="Socket" os_index="0"')
    assert [core.socket for core in computer_of_hwloc(text, "x").cores] == [0, 0, 1, 1]


def test_without_memory_there_is_a_note():
    text = re.sub(rb' local_memory="\d+"', b"", content_of("two_sockets_v1"))
    computer = computer_of_hwloc(text, "x")
    assert computer.memory == 0
    assert "no memory" in computer.notes[0]


def test_a_cpuset_without_end_and_with_empty_words():
    text = changed("big_little", 'cpuset="0x0000003f"', 'cpuset="0xf...f"', -1)
    assert len(computer_of_hwloc(text, "x").cores) == 6
    text = changed(
        "hbm_many",
        'os_index="0" cpuset="0xffffffff,0xffffffff"',
        'os_index="0" cpuset="0xffffffff,,"',
    )
    assert len(computer_of_hwloc(text, "x").cores) == 64


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("big_little", 'type="PU" os_index="3"', 'type="PU" os_index="4"', "twice"),
        ("big_little", 'type="PU" os_index="3"', 'type="PU"', "a PU without os_index"),
        ("big_little", 'type="PU" os_index="3"', 'type="PU" os_index="99999999999"', "65,536"),
        ("big_little", 'type="PU" os_index="3"', 'type="PU" os_index="-2"', "whole number"),
        ("big_little", 'local_memory="4294967296"', 'local_memory="4e9"', "whole number"),
        ("big_little", 'local_memory="4294967296"', f'local_memory="{10**30}"', "whole number"),
        ("big_little", 'value="1416"', 'value="fast"', "a frequency must be a whole number"),
        ("big_little", 'allowed_cpuset="0x0000003f"', 'allowed_cpuset="0x0"', "no usable core"),
        ("big_little", 'allowed_cpuset="0x0000003f"', 'allowed_cpuset="all"', "not a bitmap"),
        ("gpu_node", 'value="41943040"', 'value="40 GiB"', "CUDAGlobalMemorySize"),
        ("gpu_node", '<object type="Machine"', '<thing type="Machine"', "mismatched tag"),
    ],
)  # fmt: skip
def test_what_cannot_be(name, old, new, message):
    with pytest.raises(InputError, match=message) as found:
        computer_of_hwloc(changed(name, old, new), "x.xml")
    assert found.value.file == "x.xml"


def test_no_cores():
    machine = b'<topology version="2.0"><object type="Machine"/></topology>'
    for text, message in ((b"<topology/>", "no object"), (machine, "no usable core")):
        with pytest.raises(InputError, match=message):
            computer_of_hwloc(text, "x.xml")


@pytest.mark.parametrize("name", HWLOC)
def test_a_file_that_was_cut_is_refused(name):
    content = content_of(name).rstrip()
    for length in range(1, len(content), len(content) // 20):
        with pytest.raises(InputError):
            computer_of_hwloc(content[:length], name)

"""Platforms of described computers: devices, places, levels, memories, GPUs and their cores."""

from dataclasses import replace

import pytest

from evener.cli.described_machines import PER
from evener.errors import InputError
from evener.io.machines.hwloc import computer_of_hwloc
from evener.io.machines.nvidia_smi import gpus_of_nvidia_smi
from evener.io.machines.scontrol import nodes_of_scontrol
from evener.platforms.computer import Computer, ComputerCore, ComputerGpu, LocalMemory, with_gpus
from evener.platforms.described import described
from tests.io.machines.descriptions import HWLOC, NVIDIA, SLURM, content_of

GIB = 2.0**30


def hwloc(name):
    return computer_of_hwloc(content_of(name), name)


def slurm(name):
    return nodes_of_scontrol(content_of(name), name).computers


def of(computers, per="core"):
    platform = described(computers, per).platform
    return platform, [(d.name, d.at, d.cores) for d in platform.devices]


def levels(platform):
    return [level.name for level in platform.levels]


def test_a_device_for_each_core():
    platform, devices = of([hwloc("laptop_hybrid")])
    assert devices == [(f"cpu{i}", "socket0", (i,)) for i in (0, 2, 4, 5, 6, 7)]
    assert levels(platform) == ["machine", "socket"]
    fast, small = platform.speeds[0], platform.speeds[2]
    assert small / fast == pytest.approx(3300 * 2 / (4400 * 4), rel=1e-2)
    assert platform.memories.sum() == pytest.approx(16 * GIB, rel=1e-3)
    assert {d.node for d in platform.devices} == {"lap"}


@pytest.mark.parametrize(
    ("per", "k", "names", "at", "kept"),
    [
        ("core", 16, ["cpu0", "cpu1"], "socket0/numa0", ["machine", "socket", "numa"]),
        ("numa", 8, ["numa0", "numa1"], "socket0", ["machine", "socket"]),
        ("socket", 2, ["socket0", "socket1"], "", ["machine"]),
        ("node", 1, ["cpu"], "", ["machine"]),
    ],
)
def test_devices_of_more_cores(per, k, names, at, kept):
    platform, devices = of([hwloc("two_sockets_nps4")], per)
    assert platform.k == k
    assert [name for name, _, _ in devices[:2]] == names
    assert devices[0][1] == at
    assert levels(platform) == kept
    assert [cpu for _, _, cores in devices for cpu in cores] == list(range(16))
    assert platform.memories.sum() == 512 * GIB
    assert len(set(platform.speeds)) == 1
    assert platform.speeds.sum() == pytest.approx(16 * of([hwloc("two_sockets_nps4")])[0].speeds[0],
                                                  rel=1e-2)  # fmt: skip


def test_levels_that_divide_nothing_are_left_out():
    assert levels(of([hwloc("two_sockets_v1")])[0]) == ["machine", "socket"]  # a node a socket
    assert levels(of([hwloc("one_socket_v1")])[0]) == ["machine", "socket"]
    one = Computer("a", cores=(ComputerCore((0,)),))
    assert levels(of([one])[0]) == ["machine"]
    caches = Computer("a", cores=tuple(ComputerCore((i,), 0, 0, i // 2) for i in range(4)))
    platform, devices = of([caches])
    assert levels(platform) == ["machine", "socket", "cache"]
    assert [at for _, at, _ in devices] == ["socket0/cache0"] * 2 + ["socket0/cache1"] * 2


def test_a_numa_node_of_two_sockets_is_one_device():
    cores = tuple(ComputerCore((i,), i // 2) for i in range(4))
    assert of([Computer("a", cores=cores)], "numa")[1] == [("numa0", "", (0, 1, 2, 3))]


def test_gpus_are_devices_driven_by_a_core_near_them():
    platform, devices = of([hwloc("gpu_node")])
    assert devices == [
        ("cpu0", "socket0", (0,)), ("cpu1", "socket0", (1,)),
        ("cpu4", "socket1", (4,)), ("cpu5", "socket1", (5,)),
        ("cuda0", "socket0", (3,)), ("cuda1", "socket0", (2,)),
        ("cuda2", "socket1", (7,)), ("cuda3", "socket1", (6,)),
    ]  # fmt: skip
    assert [d.gpu for d in platform.devices] == [None] * 4 + [0, 1, 2, 3]
    assert [d.memory for d in platform.devices] == [32 * GIB] * 4 + [40 * GIB] * 4
    assert {d.kind for d in platform.devices[4:]} == {"cuda"}


def test_gpus_alone_share_the_cores_out():
    platform, devices = of([hwloc("gpu_node")], "gpu")
    assert devices == [
        ("cuda0", "socket0", (0, 2)), ("cuda1", "socket0", (1, 3)),
        ("cuda2", "socket1", (4, 6)), ("cuda3", "socket1", (5, 7)),
    ]  # fmt: skip
    assert levels(platform) == ["machine", "socket"]
    with pytest.raises(InputError, match="no GPU, but --per gpu was given"):
        described([hwloc("big_little")], "gpu")
    assert of(slurm("slurm_unlike"), "gpu")[0].k == 7  # the node without GPUs has no device


def test_instances_have_names_of_their_own():
    gpus = gpus_of_nvidia_smi(content_of("smi_mig"), "x").gpus
    platform, _ = of([with_gpus(replace(hwloc("gpu_node"), gpus=()), gpus)], "node")
    cpu, *devices = platform.devices
    assert cpu.cores == (0, 4, 5, 6)
    assert [(d.name, d.gpu) for d in devices] == [
        ("cuda0", 0),
        ("cuda1", "MIG-GPU-11111111-0000-0000-0000-000000000000/1/0"),
        ("cuda2", "MIG-GPU-11111111-0000-0000-0000-000000000000/5/0"),
        ("cuda3", "MIG-aaaaaaaa-1111-2222-3333-444444444444"),
    ]
    assert [d.at for d in devices] == ["socket0", "socket0", "socket0", "socket1"]
    assert [d.speed / devices[0].speed for d in devices] == pytest.approx(
        [1, 0.5, 0.25, 0.125], rel=1e-2
    )


def test_gpus_without_a_computer():
    platform, devices = of([with_gpus(Computer(), gpus_of_nvidia_smi(
        content_of("smi_eight"), "x").gpus)])  # fmt: skip
    assert devices == [(f"cuda{i}", "", ()) for i in range(8)]
    assert levels(platform) == ["machine"]


def test_as_many_gpus_as_cores_leave_no_core_and_more_share_them():
    cores = (ComputerCore((0,)), ComputerCore((1,)))
    two = Computer("a", cores=cores, gpus=(ComputerGpu(0), ComputerGpu(1)))
    assert of([two])[1] == [("cuda0", "", (1,)), ("cuda1", "", (0,))] or of([two])[1] == [
        ("cuda0", "socket0", (1,)), ("cuda1", "socket0", (0,))
    ]  # fmt: skip
    assert any("driving 2 GPUs takes both cores" in text for text in described([two]).remarks)
    three = replace(two, gpus=(*two.gpus, ComputerGpu(2)))
    assert [cores for _, _, cores in of([three])[1]] == [(1,), (0,), (0,)]


def test_several_computers_are_a_level_above():
    platform, devices = of(slurm("slurm_equal"), "socket")
    assert devices == [
        (f"n00{i}-socket{s}", f"n00{i}", tuple(range(12 * s, 12 * s + 12)))
        for i in (1, 2, 3)
        for s in (0, 1)
    ]
    assert levels(platform) == ["cluster", "machine"]
    assert platform.name.startswith("3 computers")
    platform, devices = of(slurm("slurm_equal"))
    assert devices[13] == ("n001-socket1-cpu1", "n001/socket1", (13,))
    assert levels(platform) == ["cluster", "machine", "socket"]


def test_unlike_nodes():
    platform, _ = of(slurm("slurm_unlike"))
    assert platform.k == 16 + 30 + 30
    gpus = [d for d in platform.devices if d.kind == "cuda"]
    assert [(d.name, d.at, d.gpu, d.memory / GIB) for d in gpus] == [
        ("gn01-cuda0", "gn01", 0, 40), ("gn01-cuda1", "gn01", 1, 40),
        ("gn01-cuda2", "gn01", 2, 40), ("gn01-cuda3", "gn01", 3, 40),
        ("gn02-cuda0", "gn02/socket0", 0, 16), ("gn02-cuda1", "gn02/socket1", 1, 5),
        ("gn02-cuda2", "gn02/socket1", 2, 5),
    ]  # fmt: skip
    drivers = [d.cores[0] // 16 for d in gpus[:4]]
    assert sorted(drivers) == [0, 0, 1, 1]  # as many of each socket


def test_what_is_guessed_is_said():
    found = described([hwloc("two_sockets_v1")])
    assert found.guessed["cpu0"] == {"speed"}
    assert found.guessed["level socket"] == {"alpha_us", "GB_per_s"}
    found = described(slurm("slurm_unlike"), "node")
    assert found.guessed["cn01-cpu"] == {"speed", "cores"}
    assert found.guessed["gn01-cuda0"] == {"speed", "fixed_seconds", "cores", "memory_GiB"}
    assert [text.split(":")[0] for text in found.remarks[-5:]] == [
        "speed", "alpha_us, GB_per_s", "fixed_seconds", "memory_GiB", "cores"
    ]  # fmt: skip
    fixed = {device.kind: device.fixed_seconds for device in found.platform.devices}
    assert fixed == {"cpu": 0.0, "cuda": 1e-5}


def test_remarks_name_the_computers_that_they_are_of():
    found = described(slurm("slurm_unlike"), notes=["a note"])
    assert found.sources == (
        "nodes, cores, memory and GPUs: read from scontrol show node",
        "gn01: GPUs: 4 x a100", "gn02: GPUs: 1 x v100", "gn02: GPUs: 2 x a100_1g.5gb", "a note",
    )  # fmt: skip
    assert (
        "CPU: AMD EPYC, L3 16 MiB of 4 processors" in described([hwloc("two_sockets_nps4")]).remarks
    )


def test_a_host_that_launchers_cannot_name_is_left_out():
    odd = Computer("a b", cores=(ComputerCore((0,)),), memories=(LocalMemory(1.0, frozenset({0})),))
    assert described([odd]).platform.devices[0].node == ""


def test_nothing_is_refused():
    with pytest.raises(InputError, match="neither cores nor GPUs"):
        described([Computer("a")])


@pytest.mark.parametrize("per", PER)
@pytest.mark.parametrize("name", [*HWLOC, *NVIDIA, *SLURM])
def test_every_core_has_one_device_at_most_and_memory_adds_up(name, per):
    if name in SLURM:
        computers = slurm(name)
    elif name in HWLOC:
        computers = [hwloc(name)]
    else:
        computers = [with_gpus(Computer(), gpus_of_nvidia_smi(content_of(name), name).gpus)]
    gpus = sum(len(computer.gpus) for computer in computers)
    if not gpus and (per == "gpu" or name in NVIDIA):
        with pytest.raises(InputError):
            described(computers, per)
        return
    platform = described(computers, per).platform
    owned = [(d.node, cpu) for d in platform.devices for cpu in d.cores]
    assert len(set(owned)) == len(owned)
    usable = [(c.host, core.cpu) for c in computers for core in c.cores if per != "gpu" or c.gpus]
    assert set(owned) == set(usable)
    assert sum(d.kind == "cuda" for d in platform.devices) == gpus
    if not gpus:
        held = sum(d.memory or 0.0 for d in platform.devices)
        whole = sum(computer.memory for computer in computers)
        assert whole * (1 - 1e-3) <= held <= whole * (1 + 1e-12)

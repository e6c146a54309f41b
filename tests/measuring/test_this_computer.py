"""This computer: programs that work, fail, hang or are missing; folders made by hand."""

import os
import shutil
import stat

import pytest

from evener.errors import ToolError, UsageError
from evener.measuring import this_computer as room
from evener.measuring.this_computer import (
    clock_of,
    computer_of_sysfs,
    cores,
    cpus_near,
    gpus_here,
    lanes_here,
    model_here,
    output_of,
    scontrol_text,
    this_computer,
    usable_memory,
    usable_quota,
    visible,
)
from evener.platforms.computer import Computer, ComputerGpu, memory_of_cores
from tests.io.machines.descriptions import file_of

GPUS = [ComputerGpu(0, uuid="GPU-aaaa-1"), ComputerGpu(1, uuid="GPU-bbbb-2")]


@pytest.fixture
def tools(tmp_path, monkeypatch):
    """Make programs in a folder that is the PATH; returns what makes one."""
    cat = shutil.which("cat")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)

    def make(name, text):
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{text.replace('cat ', f'{cat} ')}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    return make


def test_the_cores_that_this_process_may_use():
    found = this_computer()
    assert [(core.cpu, core.socket) for core in found.cores] == [tuple(core) for core in cores()]
    assert sum(memory_of_cores(found).values()) == pytest.approx(usable_memory())
    assert found.host
    assert all(core.clock is None or core.clock > 1e8 for core in found.cores)


def test_sysfs_is_read(tools):
    found = this_computer()
    assert [core.cpu for core in found.cores] == [core.cpu for core in cores()]
    assert dict(found.read_from)["cores, memory and caches"] == "/sys"
    assert found.notes == ()


def test_only_what_this_process_may_use(system, monkeypatch):
    monkeypatch.setattr(room, "computer_of_sysfs", lambda: computer_of_sysfs(system))
    monkeypatch.setattr(room, "allowed_cpus", lambda: {0, 1, 5, 6})
    assert [core.cpus for core in this_computer().cores] == [(0,), (1, 5), (6,)]
    assert cores() == [(0, 0), (1, 0), (6, 1)]
    monkeypatch.setattr(room, "usable_quota", lambda n: min(n, 2))
    assert cores() == [(0, 0), (1, 0)]


@pytest.mark.parametrize(
    ("chosen", "seen"),
    [(None, [0, 1, 1, 3]), ("0", [0]), ("3,0", [3, 0]), ("1", [1]), ("MIG-aaaa", [3]), ("", []),
     ("MIG-GPU-11111111-0000-0000-0000-000000000000/5/0", [1])],
)  # fmt: skip
def test_gpus_that_are_visible(tools, monkeypatch, chosen, seen):
    tools("nvidia-smi", f"cat {file_of('smi_mig')}")
    if chosen is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", chosen)
    found = this_computer()
    assert [gpu.index for gpu in found.gpus] == seen
    assert (len(seen) < 4) == any("CUDA_VISIBLE_DEVICES leaves out" in text for text in found.notes)
    assert ("GPUs", "nvidia-smi, driver 550.54.15") in found.read_from or not seen


@pytest.mark.parametrize(
    "text", [f"cat {file_of('smi_failed')}", f"cat {file_of('smi_failed')}; exit 9", "kill -9 $$"]
)
def test_a_driver_that_fails_is_said(tools, text):
    tools("nvidia-smi", text)
    found = this_computer()
    assert found.gpus == gpus_here() == ()
    assert found.notes[0].startswith("GPUs are left out: ")
    if "cat" in text:
        assert "NVIDIA-SMI has failed" in found.notes[0]


def test_output_of_programs(tools):
    tools("good", "echo yes")
    assert output_of(["good"], 20.0) == b"yes\n"
    tools("hangs", f"exec {shutil.which('sleep', path=os.defpath)} 60")
    with pytest.raises(ToolError, match=r"hangs did not answer within 0.2 s"):
        output_of(["hangs"], 0.2)
    with pytest.raises(ToolError, match="none cannot be run"):
        output_of(["none"], 20.0)


def put(folder, **files):
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")


@pytest.fixture
def system(tmp_path):
    """Two sockets, a NUMA node each, of two cores of two threads: processors i and i + 4."""
    tmp_path /= "system"
    for cpu in range(8):
        core, folder = cpu % 4, tmp_path / "cpu" / f"cpu{cpu}"
        near = "0-1,4-5" if core < 2 else "2-3,6-7"
        put(folder, topology__physical_package_id=core // 2, topology__core_id=core % 2,
            topology__thread_siblings_list=f"{core},{core + 4}", cpu_capacity=1024,
            cache__index0__level=1, cache__index0__type="Data", cache__index0__size="48K",
            cache__index0__shared_cpu_list=f"{core},{core + 4}",
            cache__index1__level=1, cache__index1__type="Instruction", cache__index1__size="32K",
            cache__index3__level=3, cache__index3__type="Unified", cache__index3__size="16M",
            cache__index3__shared_cpu_list=near, cpufreq__cpuinfo_max_freq=3500000)  # fmt: skip
    for node, near in enumerate(("0-1,4-5", "2-3,6-7")):
        total = f"Node {node} MemTotal:  {(node + 1) << 20} kB\nNode {node} MemFree: 1 kB"
        put(tmp_path / "node" / f"node{node}", cpulist=near, meminfo=total)
    return tmp_path


def test_cores_memory_and_caches(system):
    found = computer_of_sysfs(system, "x86_64")
    assert [(c.cpus, c.socket, c.numa, c.cache) for c in found.cores] == [
        ((i, i + 4), i // 2, i // 2, i // 2) for i in range(4)
    ]
    assert {c.capacity for c in found.cores} == {1024}
    assert memory_of_cores(found) == {0: 2**29, 1: 2**29, 2: 2**30, 3: 2**30}
    assert found.caches == {"L3": (16 * 2**20, 4), "L1d": (48 * 2**10, 2)}
    assert clock_of(0, system) == 3.5e9
    assert {c.lanes for c in found.cores} == {None}


def test_e_cores_have_narrower_vectors_and_lower_clocks(system):
    put(system.parent, cpu_atom__cpus="2-3,6-7", cpu_core__cpus="0-1,4-5")
    for cpu in (2, 3, 6, 7):
        put(system / f"cpu/cpu{cpu}", cpufreq__cpuinfo_max_freq=2500000)
    assert [core.lanes for core in computer_of_sysfs(system).cores] == [None, None, 2, 2]
    assert [clock_of(cpu, system) for cpu in (1, 2)] == [3.5e9, 2.5e9]


def test_little_is_said(tmp_path):
    put(tmp_path / "cpu/cpu0", topology__physical_package_id=-1)
    put(tmp_path / "cpu/cpu1", topology__physical_package_id="?")
    found = computer_of_sysfs(tmp_path)
    assert [(core.cpus, core.socket) for core in found.cores] == [((0,), 0), ((1,), 0)]
    assert (found.memories, found.caches) == ((), {})
    assert computer_of_sysfs(tmp_path / "none").cores == ()


@pytest.mark.parametrize(
    ("text", "lanes", "clock", "model"),
    [
        ("model name\t: A CPU\ncpu MHz\t\t: 2600.000\nflags\t\t: sse2 avx avx2 avx512f", 8, 2.6e9,
         "A CPU"),
        ("cpu MHz : 3000\nflags : fpu sse2 avx avx2", 4, 3e9, ""),
        ("flags : fpu sse2", 2, None, ""),
        ("Features\t: fp asimd", 2, None, ""),
        ("Features\t: fp asimd sve", 4, None, ""),
        ("", None, None, ""),
    ],
)  # fmt: skip
def test_what_proc_says(tmp_path, text, lanes, clock, model):
    (tmp_path / "cpuinfo").write_text(text)
    assert lanes_here(tmp_path / "cpuinfo") == lanes
    assert clock_of(0, tmp_path, tmp_path / "cpuinfo") == clock
    assert model_here(tmp_path / "cpuinfo") == model


def test_processors_near_a_pci_address(tmp_path):
    put(tmp_path / "0000:3b:00.0", local_cpulist="0-1")
    assert cpus_near("0000:3b:00.0", tmp_path) == {0, 1}
    assert cpus_near("0000:3c:00.0", tmp_path) == cpus_near("", tmp_path) == set()


def test_without_sysfs_psutil_counts(monkeypatch):
    monkeypatch.setattr(room, "computer_of_sysfs", Computer)
    monkeypatch.setattr(room, "allowed_cpus", lambda: None)
    monkeypatch.setattr("psutil.cpu_count", lambda logical=True: 6)
    assert cores() == [(cpu, 0) for cpu in range(6)]
    monkeypatch.setattr(room, "allowed_cpus", lambda: {0, 1})
    assert cores() == [(0, 0), (1, 0)]
    monkeypatch.setattr("psutil.cpu_count", lambda logical=True: None)
    assert len(cores()) >= 1


@pytest.mark.parametrize(
    ("text", "cores"),
    [("max 100000\n", 8), ("250000 100000\n", 3), ("1000 100000\n", 1), ("900000 100000", 8),
     ("nonsense", 8), ("", 8)],
)  # fmt: skip
def test_a_quota_of_cpu_time_limits_the_cores(tmp_path, text, cores):
    (tmp_path / "cpu.max").write_text(text)
    assert usable_quota(8, tmp_path) == cores


def test_memory_is_the_least_limit(tmp_path):
    whole = usable_memory(tmp_path)
    assert whole > 2**20
    (tmp_path / "memory.max").write_text("max\n")
    assert usable_memory(tmp_path) == whole
    (tmp_path / "memory.max").write_text("1048576\n")
    assert usable_memory(tmp_path) == 2**20


@pytest.mark.parametrize(
    ("chosen", "seen"),
    [
        (None, [0, 1]),
        ("", []),
        ("-1", []),
        ("1", [1]),
        ("1,0", [1, 0]),
        ("0,7,1", [0]),
        ("1,1", [1]),
        ("GPU-bbbb", [1]),
        ("GPU-", []),
        ("NoDevFiles", []),
    ],
)
def test_only_gpus_left_visible(chosen, seen):
    assert [gpu.index for gpu in visible(GPUS, chosen)] == seen


@pytest.fixture
def scontrol(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    for key in ("SLURM_JOB_NODELIST", "SLURM_NODELIST"):
        monkeypatch.delenv(key, raising=False)

    def make(text):
        path = tmp_path / "scontrol"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    return make


def test_all_nodes_those_of_the_job_or_those_asked_for(scontrol, monkeypatch):
    scontrol('echo "$@"')
    assert scontrol_text(None) == b"show node\n"
    assert scontrol_text("n[001-004],x9") == b"show node n[001-004],x9\n"
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n[1-2]")
    assert scontrol_text(None) == b"show node n[1-2]\n"
    assert scontrol_text("n7") == b"show node n7\n"


def test_scontrol_that_fails(scontrol):
    with pytest.raises(ToolError, match="scontrol is not installed here"):
        scontrol_text(None)
    scontrol("echo slurm_load_node error >&2; exit 1")
    with pytest.raises(ToolError, match="scontrol ended with exit code 1: slurm_load_node error"):
        scontrol_text(None)
    for nodes in ("-h", "a b", ""):
        with pytest.raises(UsageError, match="not a list of nodes"):
            scontrol_text(nodes)

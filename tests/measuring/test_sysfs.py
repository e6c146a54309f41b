"""What Linux says of a computer, from folders made by hand."""

import pytest

from evener.measuring.sysfs import (
    clock_of,
    computer_of_sysfs,
    cpus_near,
    lanes_here,
    model_here,
)
from evener.platforms.computer import memory_of_cores


def put(folder, **files):
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")


@pytest.fixture
def system(tmp_path):
    """Two sockets, a NUMA node each, of two cores of two threads: processors i and i + 4."""
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

"""What a computer says of itself, from folders and listings made by hand."""

import stat

import pytest

from evener.measuring import devices
from evener.measuring.devices import (
    Gpu,
    cuda_devices,
    parsed_gpus,
    usable_cores,
    usable_memory,
    usable_quota,
    visible,
)

LISTING = "0, GPU-aaaa-1, 8192\n1, GPU-bbbb-2, 16384\n"
GPUS = [Gpu(0, "GPU-aaaa-1", 8192 * 2.0**20), Gpu(1, "GPU-bbbb-2", 16384 * 2.0**20)]


@pytest.fixture
def sysfs(tmp_path):
    """Two sockets of two cores of two threads: CPUs 0-7."""
    for cpu in range(8):
        folder = tmp_path / f"cpu{cpu}" / "topology"
        folder.mkdir(parents=True)
        (folder / "physical_package_id").write_text(f"{cpu // 2 % 2}\n")
        (folder / "core_id").write_text(f"{cpu % 2}\n")
    (tmp_path / "cpufreq").mkdir()
    return tmp_path


def test_threads_of_a_core_count_once(sysfs):
    assert usable_cores(sysfs, None) == [(0, 0), (1, 0), (2, 1), (3, 1)]


def test_only_cores_that_this_process_may_use(sysfs):
    assert usable_cores(sysfs, {2, 6, 7}) == [(2, 1), (7, 1)]  # CPUs 2 and 6: threads of one core


def test_firmware_that_does_not_say(tmp_path):
    for cpu in range(3):
        folder = tmp_path / f"cpu{cpu}" / "topology"
        folder.mkdir(parents=True)
        for key in ("physical_package_id", "core_id"):
            (folder / key).write_text("-1\n")
    assert usable_cores(tmp_path, None) == [(0, 0), (1, 0), (2, 0)]


def test_without_sysfs_psutil_counts(tmp_path, monkeypatch):
    monkeypatch.setattr("psutil.cpu_count", lambda logical=True: 6)
    assert usable_cores(tmp_path, None) == [(cpu, 0) for cpu in range(6)]
    assert usable_cores(tmp_path, {0, 1}) == [(0, 0), (1, 0)]
    monkeypatch.setattr("psutil.cpu_count", lambda logical=True: None)
    assert len(usable_cores(tmp_path, None)) >= 1


@pytest.mark.parametrize(
    ("text", "cores"),
    [("max 100000\n", 8), ("250000 100000\n", 3), ("1000 100000\n", 1), ("900000 100000", 8),
     ("nonsense", 8), ("", 8)],
)  # fmt: skip
def test_a_quota_of_cpu_time_limits_the_cores(tmp_path, text, cores):
    (tmp_path / "cpu.max").write_text(text)
    assert usable_quota(tmp_path, 8) == cores


def test_memory_is_the_least_limit(tmp_path):
    whole = usable_memory(tmp_path)
    assert whole > 2**20
    (tmp_path / "memory.max").write_text("max\n")
    assert usable_memory(tmp_path) == whole
    (tmp_path / "memory.max").write_text("1048576\n")
    assert usable_memory(tmp_path) == 2**20


def test_the_listing_of_gpus():
    assert parsed_gpus(LISTING) == GPUS
    assert parsed_gpus("") == []
    assert parsed_gpus("0, GPU-a, [N/A]\nNo devices were found\n1, GPU-b, 0\n") == []


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


def program(folder, text):
    path = folder / "nvidia-smi"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.mark.parametrize("text", ["echo no devices; exit 6", "exec sleep 60", "kill -9 $$"])
def test_a_driver_that_fails_or_hangs_means_no_gpu(tmp_path, monkeypatch, text):
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(devices, "NVIDIA_SMI_SECONDS", 0.3)
    program(tmp_path, text)
    assert cuda_devices() == []

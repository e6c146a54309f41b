"""This computer, by programs that are there, that fail, hang or are not there."""

import os
import shutil
import stat

import pytest

from evener.errors import ToolError
from evener.measuring import this_computer as room
from evener.measuring.devices import CGROUP_FOLDER, cores, usable_memory
from evener.measuring.this_computer import output_of, this_computer
from evener.platforms.computer import memory_of_cores
from tests.io.machines.descriptions import file_of


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
    assert sum(memory_of_cores(found).values()) == pytest.approx(usable_memory(CGROUP_FOLDER))
    assert found.host
    assert all(core.clock is None or core.clock > 1e8 for core in found.cores)


def test_without_hwloc_sysfs_is_read(tools):
    found = this_computer()
    assert [core.cpu for core in found.cores] == [core.cpu for core in cores()]
    assert dict(found.read_from)["cores, memory and caches"] == "/sys"
    assert found.notes == ()


@pytest.mark.parametrize("text", ["echo nonsense", "echo '<topology/>'", "echo broken >&2; exit 3"])
def test_a_lstopo_that_fails_is_said(tools, text):
    tools("lstopo", text)
    found = this_computer()
    assert dict(found.read_from)["cores, memory and caches"] == "/sys"
    assert found.notes[0].startswith("lstopo failed, /sys is read in its place")


def test_hwloc_is_read_and_restricted(tools, monkeypatch):
    tools("lstopo", f"cat {file_of('two_sockets_nps4')}")
    monkeypatch.setattr(room, "allowed_cpus", lambda: {0, 1, 2, 16, 19})
    found = this_computer()
    assert [core.cpus for core in found.cores] == [(0, 16), (1,), (2,), (19,)]
    monkeypatch.setattr(room, "usable_quota", lambda folder, n: min(n, 2))
    assert [core.cpu for core in this_computer().cores] == [0, 1]


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
    assert found.gpus == ()
    assert found.notes[0].startswith("GPUs are left out: ")
    if "cat" in text:
        assert "NVIDIA-SMI has failed" in found.notes[0]


def test_output_of_programs(tools):
    tools("good", "echo yes")
    assert output_of(["good"]) == b"yes\n"
    tools("hangs", f"exec {shutil.which('sleep', path=os.defpath)} 60")
    with pytest.raises(ToolError, match=r"hangs gave no answer in 0.2 s"):
        output_of(["hangs"], 0.2)
    with pytest.raises(ToolError, match="none cannot be run"):
        output_of(["none"])

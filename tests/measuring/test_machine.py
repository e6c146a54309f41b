"""A machine file of this computer: what is measured, and what stands for what is not."""

import pytest

from evener.errors import NotFoundError
from evener.measuring import machine
from evener.measuring.devices import GPU_SPEED, cores, devices_of, discover_platform
from evener.measuring.machine import Home, measured_levels, measured_platform
from evener.measuring.outcomes import Precision
from evener.platforms.platform import Device, Link, Platform
from evener.running.comm import run_threads

DEVICES = [Device("cpu0", 1.0), Device("cpu1", 1.0), Device("cuda0", 1.0, kind="cuda")]


def test_cores_are_the_devices_that_are_discovered():
    found = [d for d in discover_platform().devices if d.kind == "cpu"]
    assert [f"socket{core.socket}" for core in cores()] == [d.at for d in found]
    # A speeds file of `evener measure` goes with a file of `evener machine here`.
    assert [device.name for device in devices_of(None)] == [d.name for d in found]


def test_this_computer(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.setattr(machine, "POINT", Precision(0.5, seconds=0.3, least=0.0))
    monkeypatch.setattr(machine, "PRECISION", Precision(0.5, seconds=0.05, least=0.0))
    said = []
    platform = measured_platform(lambda step, fraction: None, said.append, rows=2000)
    assert platform.k == len(cores())
    assert (platform.speeds > 1000).all()
    assert all(device.memory for device in platform.devices)
    if platform.k > 1:
        assert platform.levels[1].link.alpha + platform.levels[1].link.beta > 0


def test_what_could_not_be_measured_is_said_and_made_up_for():
    said = []
    speeds = machine.completed(DEVICES, {"cpu1": 5.0}, said.append)
    assert speeds == {"cpu0": 5.0, "cpu1": 5.0, "cuda0": 5.0 * GPU_SPEED}
    assert len(said) == 2
    with pytest.raises(NotFoundError, match="no core's speed"):
        machine.completed(DEVICES, {"cuda0": 5.0}, said.append)


@pytest.mark.parametrize(
    ("sockets", "inner", "outer"),
    [([0, 0], (0, 1), (0, 1)), ([0, 1], (0, 1), (0, 1)), ([0], None, None),
     ([0, 0, 1, 1], (0, 1), (0, 2)), ([0, 1, 1], (1, 2), (0, 1))],
)  # fmt: skip
def test_which_cores_speak(sockets, inner, outer, monkeypatch):
    monkeypatch.setattr(machine, "_link", lambda cpus, say: Link(float(cpus[0]), float(cpus[1])))
    machine_level, socket_level = measured_levels(range(len(sockets)), sockets, lambda text: None)

    def ends(link):
        return (link.alpha, link.beta) if link != Link() else None

    assert (ends(socket_level.link), ends(machine_level.link)) == (inner, outer)


@pytest.mark.slow
@pytest.mark.skipif(len(cores()) < 2, reason="two ranks need two cores")
def test_the_computers_of_all_ranks(monkeypatch):
    monkeypatch.setattr(machine, "POINT", Precision(0.5, seconds=0.3, least=0.0))
    monkeypatch.setattr(machine, "PRECISION", Precision(0.5, seconds=0.05, least=0.0))
    monkeypatch.setattr(machine, "cuda_devices", lambda: [None])
    said = []

    def play(comm):
        tell = said.append if comm.rank == 0 else lambda text: None
        return machine.measured_ranks(comm, lambda step, done: None, tell, rows=2000)

    first, second = run_threads(2, play)
    assert first == second
    assert [device.name for device in first.devices] == ["rank0", "rank1"]
    assert (first.speeds > 1000).all()
    assert [level.name for level in first.levels] == ["machine", "socket"]
    assert first.levels[1].link.alpha + first.levels[1].link.beta > 0
    assert any("GPU" in text for text in said)


def test_links_between_ranks_of_several_computers(monkeypatch):
    asked = []

    def link(comm, a, b, say):
        asked.append((a, b))
        return Link(1e-6 * (a + b), 1e-9)

    monkeypatch.setattr(machine, "_link_of_ranks", link)
    homes = [Home(host, at, 8e9, 0) for host, at in
             (("n0", 0), ("n0", 1), ("n1", 0), ("n1", 0), ("n2", 0))]  # fmt: skip
    levels = machine.rank_levels(None, homes, lambda text: None)
    assert sorted(asked) == [(0, 1), (0, 2), (0, 4), (2, 3)]
    assert [level.name for level in levels] == ["cluster", "machine", "socket"]
    assert [level.link.alpha for level in levels] == pytest.approx([3e-6, 1e-6, 5e-6])
    devices = machine._rank_devices(homes)
    platform = Platform(tuple(devices), levels)
    assert [device.at for device in platform.devices][1:3] == ["n0/socket1", "n1/socket0"]
    assert [device.memory for device in devices] == [4e9] * 4 + [8e9]

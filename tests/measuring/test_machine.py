"""A machine file of this computer: what is measured, and what stands for what is not."""

import pytest

from evener.errors import NotFoundError, ToolError
from evener.measuring import machine
from evener.measuring.devices import devices_of
from evener.measuring.machine import Home, measured_links, measured_platform
from evener.measuring.outcomes import Precision
from evener.measuring.this_computer import cores, this_computer
from evener.platforms.computer import Computer, ComputerCore, ComputerGpu
from evener.platforms.described import described
from evener.platforms.platform import Device, Link, Platform
from evener.running.comm import run_threads

DEVICES = [Device("cpu0", 1.0, cores=(0,)), Device("two", 1.0, cores=(1, 2)),
           Device("cuda0", 9.0, kind="cuda")]  # fmt: skip


def test_cores_are_the_devices_that_are_discovered():
    found = [d for d in described([this_computer()]).platform.devices if d.kind == "cpu"]
    assert [f"socket{core.socket}" for core in cores()] == [d.at for d in found]
    # A speeds file of `evener measure` goes with a file of `evener machine here`.
    assert [device.name for device in devices_of(None)] == [d.name for d in found]


def test_this_computer(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.setattr(machine, "POINT", Precision(0.5, seconds=0.3, least=0.0))
    monkeypatch.setattr(machine, "PRECISION", Precision(0.5, seconds=0.05, least=0.0))
    said, before = [], described([this_computer()])
    found = measured_platform(before, lambda step, fraction: None, said.append, rows=2000)
    platform = found.platform
    assert platform.k == len(cores())
    assert (platform.speeds > 1000).all()
    assert all(device.memory for device in platform.devices)
    assert not any("speed" in keys for keys in found.guessed.values())
    assert any("measured" in text for text in found.remarks)
    if platform.k > 1:
        assert platform.levels[1].link.alpha + platform.levels[1].link.beta > 0
        assert platform.levels[1].link != before.platform.levels[1].link
        assert not any(found.guessed.values())


def test_speeds_of_cores_add_up_and_what_could_not_be_measured_is_said():
    said = []
    speeds = machine.speeds_of_devices(DEVICES, {"cpu0": 5.0, "two.1": 7.0}, said.append)
    assert speeds == {"cpu0": 5.0, "two": 13.0}
    assert said == ["two.2 was not measured: it counts as fast as the median core"]
    both = {"cpu0": 5.0, "two.1": 7.0, "two.2": 8.0, "cuda0": 90.0}
    assert machine.speeds_of_devices(DEVICES, both, said.append) == {
        "cpu0": 5.0, "two": 15.0, "cuda0": 90.0
    }  # fmt: skip
    with pytest.raises(NotFoundError, match="no core's speed"):
        machine.speeds_of_devices(DEVICES, {"cuda0": 5.0}, said.append)


def test_what_is_measured_is_no_longer_marked_as_guessed():
    before = described([Computer("a", cores=(ComputerCore((0,)), ComputerCore((1,))))])
    after = machine.with_measured(before, {"cpu0": 5.0}, {"socket": Link(1e-6, 1e-9)})
    assert [d.speed for d in after.platform.devices] == [5.0, before.platform.devices[1].speed]
    assert after.platform.levels[1].link == Link(1e-6, 1e-9)
    assert {name: set(keys) for name, keys in after.guessed.items()} == {
        "cpu0": set(), "cpu1": {"speed"}, "level socket": set(),
        "level machine": {"alpha_us", "GB_per_s"},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("sockets", "inner", "outer"),
    [([0, 0], (0, 1), (0, 1)), ([0, 1], None, (0, 1)), ([0], None, None),
     ([0, 0, 1, 1], (0, 1), (0, 2)), ([0, 1, 1], (1, 2), (0, 1))],
)  # fmt: skip
def test_which_cores_speak(sockets, inner, outer, monkeypatch):
    monkeypatch.setattr(
        machine, "_link", lambda cpus, level, say: Link(float(cpus[0]), float(cpus[1]))
    )
    cores = tuple(ComputerCore((cpu,), socket) for cpu, socket in enumerate(sockets))
    platform = described([Computer("a", cores=cores)]).platform
    links = measured_links(platform, lambda text: None)
    ends = {name: (link.alpha, link.beta) for name, link in links.items()}
    assert (ends.get("socket"), ends.get("machine")) == (inner, outer)


def test_one_process_a_core_and_a_gpu_but_none_for_instances():
    gpus = (ComputerGpu(0), ComputerGpu(1))
    cores = tuple(ComputerCore((cpu,)) for cpu in range(5))
    said = []
    found = described([Computer("a", cores=cores, gpus=gpus)], "node").platform
    workers = machine._workers(found.devices, said.append)
    assert [(w.name, w.job.kind, w.job.cpus, w.job.options) for w in workers] == [
        ("cpu.0", "cpu", (0,), {}), ("cpu.1", "cpu", (1,), {}), ("cpu.2", "cpu", (2,), {}),
        ("cuda0", "cuda", (4,), {"index": 0}), ("cuda1", "cuda", (3,), {"index": 1}),
    ]  # fmt: skip
    cut = (*gpus, ComputerGpu(2, uuid="MIG-1", is_instance=True))
    found = described([Computer("a", cores=cores, gpus=cut)], "node").platform
    workers = machine._workers(found.devices, said.append)
    assert {worker.job.kind for worker in workers} == {"cpu"}
    assert len(said) == 1


def test_processes_are_ended_where_one_does_not_start(monkeypatch):
    ended = []

    def fail(worker, say):
        raise ToolError("no")

    monkeypatch.setattr(machine, "_works", fail)
    monkeypatch.setattr(machine.Worker, "launch", lambda self: None)
    monkeypatch.setattr(machine.Worker, "end", lambda self: ended.append(self.name))
    with pytest.raises(ToolError):
        machine.bench_of(DEVICES[:2], print)
    assert ended == ["cpu0", "two.1", "two.2"]


@pytest.mark.slow
@pytest.mark.skipif(len(cores()) < 2, reason="two ranks need two cores")
def test_the_computers_of_all_ranks(monkeypatch):
    monkeypatch.setattr(machine, "POINT", Precision(0.5, seconds=0.3, least=0.0))
    monkeypatch.setattr(machine, "PRECISION", Precision(0.5, seconds=0.05, least=0.0))
    monkeypatch.setattr(machine, "gpus_here", lambda: [None])
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

    monkeypatch.setattr(machine, "link_of_ranks", link)
    homes = [Home(host, at, 8 * 2.0**30, 0) for host, at in
             (("n0", 0), ("n0", 1), ("n1", 0), ("n1", 0), ("n2", 0))]  # fmt: skip
    levels = machine.rank_levels(None, homes, lambda text: None)
    assert sorted(asked) == [(0, 1), (0, 2), (0, 4), (2, 3)]
    assert [level.name for level in levels] == ["cluster", "machine", "socket"]
    assert [level.link.alpha for level in levels] == pytest.approx([3e-6, 1e-6, 5e-6])
    devices = machine._rank_devices(homes)
    platform = Platform(tuple(devices), levels)
    assert [device.at for device in platform.devices][1:3] == ["n0/socket1", "n1/socket0"]
    assert [device.memory for device in devices] == [4 * 2.0**30] * 4 + [8 * 2.0**30]

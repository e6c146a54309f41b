"""The computers of an MPI program's ranks, measured a device a rank."""

import pytest

from evener.measuring import machine_ranks
from evener.measuring.devices import cores
from evener.measuring.machine_ranks import Home
from evener.measuring.outcomes import Precision
from evener.platforms.platform import Link, Platform
from evener.running.comm import run_threads


@pytest.mark.slow
@pytest.mark.skipif(len(cores()) < 2, reason="two ranks need two cores")
def test_the_computers_of_all_ranks(monkeypatch):
    monkeypatch.setattr(machine_ranks, "POINT", Precision(0.5, seconds=0.3, least=0.0))
    monkeypatch.setattr(machine_ranks, "PRECISION", Precision(0.5, seconds=0.05, least=0.0))
    monkeypatch.setattr(machine_ranks, "cuda_devices", lambda: [None])
    said = []

    def play(comm):
        tell = said.append if comm.rank == 0 else lambda text: None
        return machine_ranks.measured_ranks(comm, lambda step, done: None, tell, rows=2000)

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

    monkeypatch.setattr(machine_ranks, "link_of_ranks", link)
    homes = [Home(host, at, 8 * 2.0**30, 0) for host, at in
             (("n0", 0), ("n0", 1), ("n1", 0), ("n1", 0), ("n2", 0))]  # fmt: skip
    levels = machine_ranks.rank_levels(None, homes, lambda text: None)
    assert sorted(asked) == [(0, 1), (0, 2), (0, 4), (2, 3)]
    assert [level.name for level in levels] == ["cluster", "machine", "socket"]
    assert [level.link.alpha for level in levels] == pytest.approx([3e-6, 1e-6, 5e-6])
    devices = machine_ranks._rank_devices(homes)
    platform = Platform(tuple(devices), levels)
    assert [device.at for device in platform.devices][1:3] == ["n0/socket1", "n1/socket0"]
    assert [device.memory for device in devices] == [4 * 2.0**30] * 4 + [8 * 2.0**30]

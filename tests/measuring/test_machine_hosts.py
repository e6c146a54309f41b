"""Computers that describe themselves as ranks: put together, measured, and refused."""

import json
from dataclasses import replace

import pytest

from evener.errors import UsageError
from evener.io.machines.hwloc import computer_of_hwloc
from evener.measuring import machine, machine_hosts, machine_ranks
from evener.measuring.devices import cores
from evener.measuring.machine_hosts import MARK, as_text, described_ranks
from evener.measuring.outcomes import Precision
from evener.platforms.computer import restricted
from evener.platforms.platform import Link
from evener.running.comm import run_threads
from tests.io.machines.descriptions import content_of


@pytest.fixture
def computers(monkeypatch):
    """Let the ranks, which are threads, be computers of their own; returns what sets them."""
    turns = iter(range(100))
    monkeypatch.setattr(machine_hosts, "_boot", lambda: f"boot {next(turns)}")

    def are(*found):
        left = iter(found)
        monkeypatch.setattr(machine_hosts, "this_computer", lambda: next(left))

    return are


def described_as(names, **options):
    said = []

    def play(comm):
        tell = said.append if comm.rank == 0 else lambda text: None
        options_ = {"measures": False, "rows": 2000} | options
        return described_ranks(comm, names, "core", say=tell, **options_)

    return run_threads(len(names), play), said


def test_each_rank_describes_its_computer(computers):
    node = computer_of_hwloc(content_of("two_sockets_v1"), "x")
    computers(node, node)
    (first, second), _ = described_as(["a", "b"])
    assert first == second
    assert [(d.name, d.node, d.at) for d in first.platform.devices[3:5]] == [
        ("a-socket1-cpu1", "a", "a/socket1"), ("b-socket0-cpu0", "b", "b/socket0")
    ]  # fmt: skip
    assert [level.name for level in first.platform.levels] == ["cluster", "machine", "socket"]


def test_one_computer_twice_is_refused(monkeypatch, computers):
    node = computer_of_hwloc(content_of("two_sockets_v1"), "x")
    computers(node, node)
    monkeypatch.setattr(machine_hosts, "_boot", lambda: "the same")
    with pytest.raises(UsageError, match="a and b of the hostfile are one computer"):
        described_as(["a", "b"])


def test_other_than_a_rank_for_each_name_is_refused():
    with pytest.raises(UsageError, match="1 ranks were started for 2 computers"):
        run_threads(1, lambda comm: described_ranks(
            comm, ["a", "b"], "core", measures=False, say=print))  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(len(cores()) < 2, reason="two computers of a core each need two cores")
def test_computers_are_measured_at_once_and_so_is_their_link(computers, monkeypatch):
    monkeypatch.setattr(machine, "POINT", Precision(0.5, seconds=0.3, least=0.0))
    monkeypatch.setattr(machine_ranks, "PRECISION", Precision(0.5, seconds=0.05, least=0.0))
    from evener.measuring.this_computer import this_computer

    whole = this_computer()
    one, two = (replace(restricted(whole, {core.cpu}), gpus=()) for core in whole.cores[:2])
    computers(one, two)
    (first, second), said = described_as(["a", "b"], measures=True)
    assert first == second
    assert (first.platform.speeds > 1000).all()
    assert not any("speed" in keys for keys in first.guessed.values())
    cluster, *within = first.platform.levels
    assert cluster.link not in (Link(), Link(2e-6, 1e-10))
    assert first.guessed["level cluster"] == set()
    assert all(first.guessed[f"level {level.name}"] for level in within)
    assert any("no link is measured" in text for text in said)


def test_the_child_prints_what_rank_0_found(computers, monkeypatch, capsys):
    monkeypatch.setattr("evener.running.launching.world", lambda: run_threads(1, lambda c: c)[0])
    node = computer_of_hwloc(content_of("gpu_node"), "x")
    computers(node)
    assert machine_hosts.main(["numa", "describe", "n7"]) == 0
    text = capsys.readouterr().out
    assert text.startswith(MARK)
    data = json.loads(text.removeprefix(MARK))
    assert [d["name"] for d in data["platform"]["devices"]][:2] == ["numa0", "numa1"]
    assert (data["guessed"]["numa0"], data["notes"]) == (["speed"], [])
    assert machine_hosts.main(["gpu", "describe", "n7", "n8"]) == 2
    assert "1 ranks were started for 2 computers" in capsys.readouterr().err


def test_text_is_one_line():
    node = computer_of_hwloc(content_of("gpu_node"), "x")
    from evener.platforms.described import described

    assert "\n" not in as_text(described([node]), ["a\nb"])

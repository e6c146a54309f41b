"""Where ranks run: what is taken from the platform, refused and remarked."""

import pytest

from evener.errors import InputError
from evener.integrations.launching import placing
from evener.integrations.launching.placing import (
    by_host,
    is_in_runs,
    oddities,
    places_of,
    refuse_missing_cores,
    refuse_other_hosts,
    share_cores,
)
from evener.platforms.platform import Device, Link, Platform
from tests.integrations.launching.jobs import ALIKE, MIXED, places


@pytest.fixture(autouse=True)
def _called_here(monkeypatch):
    monkeypatch.setattr(placing, "this_host", lambda: "here.domain")


def test_rank_and_device_are_one():
    devices = (
        Device("x", 1.0, node="n1", cores=(3, 1)),
        Device("y", 1.0, host="x", host_link=Link(), gpu=0),
        Device("z", 1.0, node="localhost"),
    )
    found = places_of(Platform(devices))
    assert [(p.rank, p.device, p.host, p.cores, p.gpu) for p in found] == [
        (0, "x", "n1", (1, 3), None),
        (1, "y", "n1", (), 0),
        (2, "z", "here.domain", (), None),
    ]


def test_without_hosts_all_are_here():
    assert {place.host for place in places_of(Platform.flat([1, 2]))} == {"here.domain"}


def test_hosts_of_some_are_refused():
    platform = Platform((Device("x", 1.0, node="n1"), Device("y", 1.0)))
    with pytest.raises(InputError, match="'y' has no host, but other devices have one"):
        places_of(platform)


@pytest.mark.parametrize(
    ("host", "here"),
    [("here.domain", True), ("here", True), ("localhost", True), ("here.other", False),
     ("her", False), ("here.domain.x", False)],
)  # fmt: skip
def test_names_of_this_computer(host, here):
    assert placing.is_here(host) == here


def test_runs_of_hosts():
    assert is_in_runs(places(*ALIKE))
    assert not is_in_runs(places(*MIXED))
    assert [len(own) for own in by_host(places(*MIXED)).values()] == [2, 1]


@pytest.mark.parametrize(
    ("hosts", "said"),
    [
        ({"a": 2, "c": None}, "lacks host 'b' of device 'd2'"),
        ({"a": 1, "b": 1}, "has 1 slot for host 'a', but 2 devices use it"),
    ],
)
def test_hosts_that_a_hostfile_lacks(hosts, said):
    with pytest.raises(InputError, match=said) as caught:
        refuse_other_hosts(places(*ALIKE), hosts, "hosts.txt")
    assert caught.value.file == "hosts.txt"


def test_hosts_that_a_hostfile_has():
    refuse_other_hosts(places(*ALIKE), {"b": None, "a": 2}, "hosts.txt")
    refuse_other_hosts(places(("here.domain", [])), {"localhost": 1}, "hosts.txt")


def test_cores_that_are_not_there():
    with pytest.raises(InputError, match="no core 2-3 on here for device 'd0'") as caught:
        refuse_missing_cores(places(("here", [1, 2, 3])), usable=(0, 1))
    assert caught.value.hint == "This process may use 0-1."
    refuse_missing_cores(places(("elsewhere", [1, 2, 3])), usable=(0, 1))


def test_what_ranks_share_is_said():
    shared = places(("a", [0, 1], 0), ("a", [1, 2], 0), ("b", [1], 0), ("b", [2], "GPU-1"))
    assert oddities(shared) == [
        "core 1 of a: up to 2 ranks on one core",
        "gpu 0 of a has 2 ranks: 0, 1",
    ]
    assert oddities(places(*ALIKE)) == []


def test_more_ranks_than_cores_share_them(monkeypatch):
    monkeypatch.setattr(placing.os, "sched_getaffinity", lambda _: {0, 1})
    assert share_cores(places(("here", []), ("here", []), ("here", [])))
    assert not share_cores(places(("here", []), ("here", []), ("there", [])))
    assert not share_cores(places(("there", []), ("there", []), ("there", [])))
    assert share_cores(places(("there", [4]), ("there", [3, 4])))

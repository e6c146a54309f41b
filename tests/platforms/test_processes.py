"""Processes: the cores they name, by number or by socket, and those that cannot be."""

import pytest

from evener.errors import InputError
from evener.platforms.processes import Process, of_host, refuse_twins


def test_cores_of_a_binding():
    sockets = {0: [0, 2], 1: [4, 6]}
    for bind, cores in (("", ()), ("cpu3", (3,)), ("cpu0-2,cpu7", (0, 1, 2, 7)),
                        ("socket1", (4, 6)), ("socket2", ())):  # fmt: skip
        assert Process("a", bind=bind).cores(sockets) == cores


def test_by_host_and_rank():
    own = [Process("a", 1, bind="cpu1"), Process("b", bind="cpu1"), Process("a", bind="cpu0")]
    refuse_twins(own)
    assert [p.rank for p in of_host(own, "a")] == [0, 1]


@pytest.mark.parametrize(
    "wrong",
    [{"host": ""}, {"host": " a"}, {"kind": "gpu"}, {"rank": -1}, {"memory": 0.0},
     {"bind": "core3"}, {"bind": "cpu3-1"}, {"bind": "cpu1,cpu0-1"}, {"bind": "socket0,cpu1"}],
)  # fmt: skip
def test_refused(wrong):
    with pytest.raises(InputError):
        Process(**{"host": "a"} | wrong)


@pytest.mark.parametrize(
    ("first", "second", "what"),
    [
        (Process("a"), Process("a"), "rank 0"),
        (Process("a", bind="cpu0-3"), Process("a", 1, bind="cpu2"), "core 2"),
        (Process("a", kind="cuda"), Process("a", 1, kind="cuda"), "CUDA device 0"),
    ],
)
def test_twins(first, second, what):
    with pytest.raises(InputError, match=f"two processes of a have {what}"):
        refuse_twins([first, second])

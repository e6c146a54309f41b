"""Devices of this computer by words: which cores each has."""

import os
import socket

import pytest

from evener.errors import UsageError
from evener.running.devices import devices_of


@pytest.fixture(autouse=True)
def six_cores(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(6)))


def test_devices_of_each_device():
    assert devices_of("cpu:0-1,cpu:2") == [[0, 1], [2]]
    assert devices_of("cpu:0+3-4, cpu:5") == [[0, 3, 4], [5]]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("gpu", "'gpu' is not a device"),
        ("cpu:", "'cpu:' is not a device"),
        ("cpu:0,,cpu:1", "'' is not a device"),
        ("cpu:9", "may not use core 9"),
        ("cpu:0-1,cpu:1", "core 1 belongs to two devices"),
        ("cpu:3-1", "no core, or the same core twice"),
        ("cpu:1+1", "no core, or the same core twice"),
        ("cpu:0-99999999,cpu:1,cpu:0", "a core number with more than 5 digits"),
        ("cpu:0-9999,cpu:9999", "core 9999 belongs to two devices"),
        ("cuda:99999999", "'cuda:99999999' is not a device"),
        ("cpu:0,cuda", "'cuda' is not a device"),
        ("cpu:0,cuda:99", "CUDA device 99 does not exist"),
        ("cuda:0,cuda:0", "a CUDA device occurs twice"),
    ],
)
def test_other_words_are_refused(words, reason):
    with pytest.raises(UsageError, match=reason):
        devices_of(words)


class TwoComputers:
    """Four ranks, two on each of two computers; what all have gathered is known beforehand."""

    size = 4

    def __init__(self, rank, here="a"):
        self.rank, self._here = rank, here

    def allgather(self, own):
        assert own == [self._here]
        return [["a"], ["a"], ["b"], ["b"]]

    def check_threads(self, devices, most):
        pass


@pytest.mark.parametrize("rank", range(4))
def test_computers_may_have_cores_of_the_same_number(monkeypatch, rank):
    here = "ab"[rank // 2]
    monkeypatch.setattr(socket, "gethostname", lambda: here)
    comm = TwoComputers(rank, here)
    assert devices_of("cpu:0,cpu:1-5,cpu:0-1,cpu:2", comm) == [[0], [1, 2, 3, 4, 5], [0, 1], [2]]
    with pytest.raises(UsageError, match="4 ranks cannot run 2 blocks"):
        devices_of("cpu:0,cpu:1", comm)  # two devices for four ranks


def test_cores_of_one_computer_belong_to_one_device_each(monkeypatch):
    monkeypatch.setattr(socket, "gethostname", lambda: "a")
    with pytest.raises(UsageError, match="core 1 belongs to two devices"):
        devices_of("cpu:0-1,cpu:1,cpu:0,cpu:1", TwoComputers(0))
    with pytest.raises(UsageError, match="may not use core 9"):
        devices_of("cpu:9,cpu:1,cpu:0,cpu:1", TwoComputers(0))
    assert devices_of("cpu:0,cpu:1,cpu:9,cpu:8", TwoComputers(0))[2] == [9]  # of the other one

"""Devices of this computer by words: which cores each has."""

import os

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
        ("gpu", "no device 'gpu'"),
        ("cpu:", "no device 'cpu:'"),
        ("cpu:0,,cpu:1", "no device ''"),
        ("cpu:9", "no core 9"),
        ("cpu:0-1,cpu:1", "core 1 belongs to two devices"),
        ("cpu:3-1", "no core, or one twice"),
        ("cpu:1+1", "no core, or one twice"),
        ("cpu:0,cuda", "no device 'cuda'"),
        ("cpu:0,cuda:99", "no CUDA device 99"),
        ("cuda:0,cuda:0", "a CUDA device is named twice"),
    ],
)
def test_other_words_are_refused(words, reason):
    with pytest.raises(UsageError, match=reason):
        devices_of(words)

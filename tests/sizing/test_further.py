"""Limits on further weights: what they follow, and when they cannot."""

import numpy as np
import pytest

from evener.errors import InfeasibleError, UsageError
from evener.platforms.platform import Device, Platform
from evener.sizing import contract_for
from tests.assertions import path

SEVERAL = np.stack([np.ones(12, int), np.arange(12), np.arange(12) % 2], axis=1)


def machine(speeds, **more):
    columns = {name: list(values) for name, values in more.items()}
    devices = [
        Device(f"dev{i}", speed=s, **{name: values[i] for name, values in columns.items()})
        for i, s in enumerate(speeds)
    ]
    return Platform(tuple(devices))


def test_speed_for_all_where_nothing_is_said():
    contract, sizes = contract_for(path(12).with_(vwgt=SEVERAL), machine([1.0, 2.0]), 0.25)
    assert contract.table("targets").tolist() == [[4, 22, 2], [8, 44, 4]]
    assert [one.by for one in contract.further] == ["speed", "speed"]
    assert sizes.sizes.tolist() == [4, 8]
    # Sums of 0s and 1s are whole numbers, others are not rounded.
    assert contract.table("low")[0].tolist() == [3, 16.5, 2]
    assert contract.table("high")[0].tolist() == [5, 27.5, 2]


@pytest.mark.parametrize("kind", ["memory", "memory_units"])
def test_memory_and_equal(kind):
    platform = machine([1.0, 2.0], **{kind: [3e6, 1e6]})
    graph = path(12).with_(vwgt=SEVERAL)
    contract, _ = contract_for(graph, platform, shares=("speed", "memory", "equal"))
    assert contract.table("targets").T.tolist() == [[4, 8], [49.5, 16.5], [3, 3]]


def test_speed_means_as_the_first_weight():
    """A device that memory keeps below its speed's share gets less of all weights."""
    platform = machine([1.0, 1.0], memory_units=[3, 12])
    contract, _ = contract_for(path(12).with_(vwgt=SEVERAL), platform)
    assert contract.table("targets").T.tolist() == [[3, 9], [16.5, 49.5], [1.5, 4.5]]


def test_one_weight_alone():
    contract, _ = contract_for(path(12).with_(vwgt=SEVERAL), machine([1.0, 1.0]), constraint=1)
    assert contract.targets.tolist() == [33, 33]
    assert contract.further == ()


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        (("speed", "size", "equal"), "weights cannot be shared by 'size'"),
        (("speed", "equal"), r"2 shares \(speed,equal\) for 3 weights a vertex"),
        (("memory", "speed", "speed"), "the first weight cannot be shared by memory"),
        (("speed", "memory", "speed"), "memory of device 'dev1' is not stated"),
    ],
)
def test_what_cannot_be(shares, message):
    platform = machine([1.0, 1.0], memory=[1e6, None])
    with pytest.raises(UsageError, match=message):
        contract_for(path(12).with_(vwgt=SEVERAL), platform, shares=shares)


def test_nothing_to_divide():
    graph = path(3).with_(vwgt=np.array([[1, 0], [1, 0], [1, 0]]))
    with pytest.raises(InfeasibleError, match="weights number 1 add up to 0"):
        contract_for(graph, machine([1.0, 1.0]))

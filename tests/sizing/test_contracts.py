"""The contract of every block of a graph: none empty, memory in bytes, a whole solution inside."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.errors import InfeasibleError, UsageError
from evener.planning.in_memory import plan
from evener.platforms.platform import Device, Platform
from evener.sizing.contracts import contract_for
from tests.assertions import path
from tests.examples import with_examples


def test_sizes_and_contract_agree():
    contract, sizes = contract_for(path(60), Platform.flat([1, 1, 4]))
    assert sizes.sizes.tolist() == [10, 10, 40]
    assert contract.targets.tolist() == [10.0, 10.0, 40.0]
    assert contract.low.tolist() == [10, 10, 39]
    assert contract.high.tolist() == [10, 10, 41]
    assert np.isinf(contract.caps).all()


@with_examples(150)
@given(
    st.integers(1, 25), st.integers(0, 6), st.sampled_from([0.0, 0.03, 0.4]), st.integers(0, 2**32)
)
def test_tiny_targets_leave_no_block_empty(k, more, epsilon, seed):
    n = k + more
    rng = np.random.default_rng([299792, seed])
    platform = Platform.flat(np.exp(rng.normal(0, 3, k)))
    contract, sizes = contract_for(path(n), platform, epsilon)
    assert (contract.low >= 1).all()
    assert contract.low.sum() <= n <= contract.high.sum()
    assert sizes.sizes.sum() == n
    assert (contract.low <= sizes.sizes).all()
    assert (sizes.sizes <= contract.high).all()
    # Nobody that finishes last could still give a vertex to someone who would finish before it.
    last = int(np.argmax(sizes.seconds))
    if sizes.sizes[last] > contract.low[last] and more:
        others = ((sizes.sizes + 1) / sizes.speeds)[sizes.sizes < contract.high]
        assert others.size == 0 or others.min() >= sizes.seconds[last] * (1 - 1e-9)


def test_one_vertex_each():
    contract, sizes = contract_for(path(4), Platform.flat([1, 1, 1, 1000]))
    assert contract.low.tolist() == sizes.sizes.tolist() == [1, 1, 1, 1]


def test_more_devices_than_vertices():
    with pytest.raises(InfeasibleError, match="5 devices but only 4 vertices"):
        contract_for(path(4), Platform.flat([1] * 5))


def test_memory_in_bytes_caps_and_is_kept():
    # 100 vertices of 24 bytes and 198 adjacency entries of 12: 47.76 bytes a vertex.
    platform = Platform((Device("gpu", 16.0, memory=1000.0), Device("cpu", 1.0)))
    contract, sizes = contract_for(path(100), platform)
    assert sizes.sizes.tolist() == [20, 80]
    assert sizes.saturated.tolist() == [True, False]
    assert contract.high[0] == 20
    assert contract.caps[0] == 1000.0


def test_too_little_memory():
    platform = Platform((Device("gpu", 16.0, memory=1000.0), Device("cpu", 1.0, memory=2000.0)))
    with pytest.raises(
        InfeasibleError, match="short: all devices together hold 61 units, but the load is 100"
    ):
        contract_for(path(100), platform)


@pytest.mark.parametrize(
    ("cap", "amount"),
    [
        ({"memory": 30.0}, "30 B, but the smallest vertex needs 36 B"),
        ({"memory_units": 0.5}, "0.5 units, but a vertex has 1"),
    ],
)
def test_a_device_without_memory_for_one_vertex_is_named(cap, amount):
    platform = Platform((Device("tiny", 16.0, **cap), Device("cpu", 1.0)))
    with pytest.raises(
        InfeasibleError, match=f"device 'tiny' cannot hold a single vertex.*{amount}"
    ):
        contract_for(path(100), platform)


def test_weighted_vertices():
    graph = path(4).with_(vwgt=np.array([1.5, 2.5, 3.0, 5.0]))
    contract, sizes = contract_for(graph, Platform.flat([1, 2]), 0.25)
    assert contract.targets.tolist() == sizes.sizes.tolist() == [4.0, 8.0]
    assert contract.low.tolist() == [3.0, 6.0]
    assert contract.high.tolist() == [5.0, 10.0]


def test_weights_of_nothing():
    with pytest.raises(InfeasibleError, match="weight zero"):
        contract_for(path(3).with_(vwgt=np.zeros(3, np.int64)), Platform.flat([1, 2]))


@with_examples(150)
@given(st.integers(1, 8), st.integers(0, 8), st.integers(0, 2**32))
def test_weighted_blocks_have_room_for_a_vertex_each(k, more, seed):
    rng = np.random.default_rng([602214, seed])
    weights = np.exp(rng.normal(0, 2, k + more))
    platform = Platform.flat(np.exp(rng.normal(0, 4, k)))
    contract, sizes = contract_for(path(k + more).with_(vwgt=weights), platform)
    # The i-th lowest high takes the i-th lightest vertex, so all blocks can have one at once.
    lightest = np.sort(weights)[:k]
    assert (np.sort(contract.high) >= lightest * (1 - 1e-12)).all()
    needs = np.empty(k)
    needs[np.argsort(sizes.high, kind="stable")] = lightest
    if (contract.high > 1.03 * contract.targets * (1 + 1e-12)).any():  # some had to be raised
        assert np.maximum(contract.low, needs).sum() <= weights.sum() * (1 + 1e-9)
    assert (contract.low <= contract.high).all()
    assert (contract.high >= contract.targets * (1 - 1e-12)).all()
    assert (contract.low >= 0).all()


@pytest.mark.parametrize(
    ("weights", "k", "loads"),
    [
        ([1, 1, 1, 1, 1, 100], 3, [2, 3, 100]),
        ([1, 1, 1, 1, 1, 100], 2, [5, 100]),
        ([1, 1_000_000], 2, [1, 1_000_000]),
        ([50, 1, 1, 60, 1, 1], 4, [2, 2, 50, 60]),
        ([9, 9, 9], 2, None),  # none is heavier than a share: 27 is not divided within 3 %
    ],
)
def test_a_vertex_heavier_than_a_share_has_a_block_of_its_own(weights, k, loads):
    graph = path(len(weights)).with_(vwgt=np.array(weights))
    if loads is None:
        with pytest.raises(InfeasibleError):
            plan(graph, k)
        return
    made = plan(graph, k)
    assert sorted(made.certificate.weights.tolist()) == loads
    assert any("this block is above its target" in note for note in made.notes)


def test_room_for_a_vertex_only_within_memory():
    slow = {"speed": 1e-6, "memory_units": 0.5}
    platform = Platform((Device("slow", **slow), Device("fast", 1.0)))
    contract, _ = contract_for(path(4).with_(vwgt=[2.0, 3, 4, 5]), platform)
    assert contract.high[0] == 0.5
    # The two ends need 36 bytes, the lighter vertices between them 48.
    small = Platform((Device("slow", 1e-6, memory=40.0), Device("fast", 1.0)))
    contract, _ = contract_for(path(4).with_(vwgt=[4.0, 2, 3, 5]), small)
    assert contract.high[0] == 4.0
    assert contract.low[1] <= 10.0


def test_targets_large_enough_stay_as_they_are():
    contract, sizes = contract_for(path(4).with_(vwgt=[1.0, 2, 3, 4]), Platform.flat([1, 1]), 0.1)
    assert contract.high.tolist() == sizes.high.tolist() == [5.5, 5.5]
    assert contract.low.tolist() == [4.5, 4.5]


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
        (("speed", "size", "equal"), "weights cannot be divided by 'size'"),
        (("speed", "equal"), r"2 shares \(speed,equal\) for 3 weights per vertex"),
        (("memory", "speed", "speed"), "the first weight must be divided by speed, not memory"),
        (("speed", "memory", "speed"), "memory of device 'dev1', which is not stated"),
    ],
)
def test_what_cannot_be(shares, message):
    platform = machine([1.0, 1.0], memory=[1e6, None])
    with pytest.raises(UsageError, match=message):
        contract_for(path(12).with_(vwgt=SEVERAL), platform, shares=shares)


def test_nothing_to_divide():
    graph = path(3).with_(vwgt=np.array([[1, 0], [1, 0], [1, 0]]))
    with pytest.raises(InfeasibleError, match="vertex weights 1 add up to 0"):
        contract_for(graph, machine([1.0, 1.0]))

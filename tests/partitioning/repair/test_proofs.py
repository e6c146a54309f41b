"""What no partition can keep is proved so, naming block, device and shortfall."""

import re
from fractions import Fraction

import numpy as np
import pytest

from evener.errors import InfeasibleError, NotFoundError
from evener.partitioning.enforce import enforce
from evener.plans.partition import Contract, Partition
from tests.partitioning.by_hand import any_solution, path, star


def refusal(graph, contract, names=None):
    part = np.zeros(graph.n, int)
    with pytest.raises(InfeasibleError) as refused:
        enforce(graph, Partition(part, contract.k), contract, names=names)
    assert not isinstance(refused.value, NotFoundError)
    assert 1 <= len(str(refused.value).splitlines()) <= 3
    if contract.k**graph.n < 5000:
        assert any_solution(graph, contract) is None
    return str(refused.value)


def free(k, **limits):
    """A contract of k blocks that allows everything but what `limits` forbid."""
    given = {"targets": [1.0] * k, "low": [0.0] * k, "high": [1e6] * k, "caps": [np.inf] * k}
    return Contract(**(given | limits))


def test_more_blocks_than_vertices():
    assert "4 blocks but only 3 vertices" in refusal(path(3), free(4))


def test_lows_above_the_total():
    said = refusal(path(5), free(2, low=[3, 4], high=[9, 9]))
    assert "at least 7 units" in said
    assert "has 5: 2 short" in said


def test_highs_below_the_total():
    said = refusal(path(5), free(2, high=[2, 1]))
    assert "at most 3 units" in said
    assert "2 too many" in said


def test_heavier_than_every_high_names_device_and_shortfall():
    graph = path(4, vwgt=[1.0, 9.5, 1.0, 1.0])
    said = refusal(graph, free(3, high=[5, 8, 6]), ["cpu0", "gpu0", "gpu1"])
    assert "vertex 1 weighs 9.5 units" in said
    assert "gpu0 has room for 8, 1.5 short" in said


def test_bytes_of_all_devices_together():
    gib = 2.0**30
    graph = path(4, bytes_per_vertex=gib, bytes_per_edge=0)
    said = refusal(graph, free(2, caps=[1.5 * gib, 2 * gib]))
    assert "needs 4.00 GiB" in said
    assert "512 MiB short" in said


def test_a_hub_larger_than_every_memory():
    graph = star(9, bytes_per_vertex=1, bytes_per_edge=10)
    said = refusal(graph, free(3, caps=[79, 80, 70]), ["a", "b", "c"])
    assert re.search(r"vertex 0 weighs 81 bytes.*b has room for 80, 1 short", said)


def test_a_device_too_small_for_the_lightest_vertex():
    said = refusal(path(4, vwgt=[2, 3, 4, 5]), free(2, high=[20, 1.5]), ["big", "small"])
    assert "small may hold 1.5 units" in said
    assert "0.5 short" in said


def test_a_device_without_memory_for_the_smallest_vertex():
    graph = path(4, bytes_per_vertex=10, bytes_per_edge=0)
    assert "tiny has 9 B" in refusal(graph, free(2, caps=[99, 9]), ["big", "tiny"])


def test_no_whole_number_between_the_limits():
    said = refusal(path(6), free(2, low=[2.2, 0], high=[2.8, 6]), ["odd", "even"])
    assert "odd needs 2.2 to 2.8 units" in said


def test_no_multiple_of_the_common_divisor_between_the_limits():
    said = refusal(path(3, vwgt=[4, 8, 12]), free(2, low=[9, 0], high=[11, 30]))
    assert "block 0 needs 9 to 11" in said


def test_whole_numbers_within_real_limits_do_not_add_up():
    refusal(path(7), free(2, low=[3.5, 3.5], high=[7, 7]))  # four and four of seven


def test_no_block_has_room_for_both_weight_and_bytes():
    graph = path(3, vwgt=[1, 10, 1], bytes_per_vertex=4, bytes_per_edge=1)
    said = refusal(graph, free(2, high=[20, 5], caps=[5, 100]), ["fast", "slow"])
    assert "vertex 1 needs 6 B" in said
    assert "fast has most room: 5 B, 1 B short" in said


def test_an_exact_fit_is_not_refused():
    graph = path(4, bytes_per_vertex=0.1, bytes_per_edge=0)
    contract = free(2, low=[2, 2], high=[2, 2], caps=[0.2, 0.2])
    enforce(graph, Partition(np.zeros(4, int), 2), contract)


def test_tenths_that_add_up_to_a_hair_more_are_not_refused():
    graph = path(10, vwgt=np.full(10, 0.1))
    contract = free(2, targets=[0.3, 0.7], low=[0.3, 0.7], high=[0.3, 0.7])
    result = enforce(graph, Partition(np.zeros(10, int), 2), contract)
    assert np.bincount(result.partition.part).tolist() == [3, 7]


def test_not_found_names_the_block_that_is_off_and_what_by():
    graph = path(4, vwgt=[1.0, 3.0, 3.0, 2.5])  # 4.75 each: no two or three come near
    contract = free(2, targets=[4.75, 4.75], low=[4.5, 4.5], high=[5, 5])
    with pytest.raises(InfeasibleError) as refused:
        enforce(graph, Partition(np.zeros(4, int), 2), contract, names=["left", "right"])
    assert isinstance(refused.value, NotFoundError)
    assert re.search(r"(left|right) has .* units instead of 4.5 to 5", str(refused.value))


def exactly_possible(weights, contract):
    """Whether sums of these whole weights can be within the limits, by exact arithmetic."""
    total = sum(weights)
    low, high = ([Fraction(x) for x in side.tolist()] for side in (contract.low, contract.high))
    if len(set(weights)) > 1 or contract.k > 3:
        raise NotImplementedError
    w, n = weights[0], len(weights)
    assert total == w * n
    ranges = [(-((-lo) // w), hi // w) for lo, hi in zip(low, high, strict=True)]
    if any(max(1, first) > last for first, last in ranges):
        return False
    return sum(max(1, first) for first, _ in ranges) <= n <= sum(last for _, last in ranges)


@pytest.mark.parametrize("bits", [20, 52, 53, 54, 56])
@pytest.mark.parametrize("more", [-1, 0, 1, 3])
@pytest.mark.parametrize("speeds", [(1, 2, 3), (1, 1, 1), (2, 3, 5), (1, 1, 23)])
def test_weights_beyond_what_a_float_holds(bits, more, speeds):
    """Proved exactly where exact integers say that it is impossible, and found where possible."""
    n, w = 50, 2**bits + more
    graph = path(n, vwgt=np.full(n, w, np.int64))
    targets = np.array([float(Fraction(w * n * s, sum(speeds))) for s in speeds])
    contract = Contract(targets, targets * 0.97, targets * 1.03)
    possible = exactly_possible([w] * n, contract)
    assert possible == (speeds in {(2, 3, 5), (1, 1, 23)})
    if possible:
        part = enforce(graph, Partition(np.zeros(n, int), 3), contract).partition.part
        sums = [w * int((part == b).sum()) for b in range(3)]
        limits = zip(sums, contract.low, contract.high, strict=True)
        assert all(Fraction(lo) <= total <= Fraction(hi) for total, lo, hi in limits)
    else:
        refusal(graph, contract)


def test_weights_that_are_nearly_one():
    """No one number divides them, and still no sum of them lies between."""
    weights = 2**53 + np.arange(50) % 3
    targets = weights.sum() * np.array([1, 2, 3]) / 6
    said = refusal(path(50, vwgt=weights), Contract(targets, targets * 0.97, targets * 1.03))
    assert "8 vertices weigh at most 7.20576e+16 and 9 weigh at least 8.10648e+16" in said


def test_numbers_of_vertices_that_do_not_add_up():
    """No block holds four of them, by weight; all limits together would."""
    graph = path(10, vwgt=[10.0, 10.5] * 5)
    assert "may hold at most 9 vertices" in refusal(graph, free(3, high=[39.9] * 3))
    assert "need at least 12 vertices" in refusal(graph, free(3, low=[31.6] * 3, high=[60] * 3))


def test_whole_numbers_are_divided_as_such():
    """As floats, 2^53 + 2 and 2^53 + 1 would be neighbours of what they are."""
    graph = path(4, vwgt=np.array([2**53 + 3, 2**53 + 1, 5, 1]))
    part = np.array([0, 1, 0, 1])
    contract = free(2, high=[2.0**54] * 2)
    assert enforce(graph, Partition(part, 2), contract).moved == 0


def refusal_beside(fixed, part, graph, contract, names=None):
    fixed = np.array(fixed, bool)
    with pytest.raises(InfeasibleError) as refused:
        enforce(graph, Partition(np.array(part), contract.k), contract, names=names, fixed=fixed)
    assert not isinstance(refused.value, NotFoundError)
    assert any_solution(graph, contract, np.array(part), fixed) is None
    return str(refused.value)


def test_fixed_vertices_too_heavy_for_their_block():
    graph = path(4, vwgt=[3.0, 4.0, 1.0, 1.0])
    said = refusal_beside([1, 1, 0, 0], [1, 1, 0, 0], graph, free(2, high=[9, 5]), ["cpu0", "gpu0"])
    assert "gpu0 may hold 5 units, but the vertices fixed there weigh 7: 2 too many" in said


def test_bytes_of_fixed_vertices():
    gib = 2.0**30
    graph = path(4, bytes_per_vertex=gib, bytes_per_edge=0)
    contract = free(2, caps=[4 * gib, 1.5 * gib])
    said = refusal_beside([0, 1, 1, 0], [0, 1, 1, 0], graph, contract)
    assert "block 1 has 1.50 GiB, but the vertices fixed there need 2.00 GiB: 512 MiB short" in said


def test_too_little_beside_fixed_vertices():
    said = refusal_beside([1, 1, 1, 0], [0, 0, 0, 0], path(4), free(2, low=[1, 3]))
    assert "at least 3 units besides fixed vertices together, but the graph has 1: 2 short" in said


def test_more_blocks_than_vertices_that_may_move():
    said = refusal_beside([1, 1, 0], [0, 0, 0], path(3), free(3))
    assert "2 blocks without fixed vertices but only 1 free vertices" in said


def test_no_room_beside_fixed_vertices():
    graph = path(4, vwgt=[4.0, 1.0, 6.0, 1.0])
    said = refusal_beside([1, 1, 0, 0], [0, 1, 1, 1], graph, free(2, high=[8, 5.5]))
    assert "vertex 2 weighs 6 units" in said
    assert "block 1, besides its fixed vertices, has room for 4.5, 1.5 short" in said

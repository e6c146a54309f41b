"""Contract and Partition: what they accept, and when a block keeps its contract."""

import numpy as np
import pytest

from evener.errors import InputError
from evener.plans.partition import Contract, Mapping, MappingScore, Partition


def contract(**changes):
    fields = {"targets": [2.0, 3.0], "low": [1, 2], "high": [3, 4]}
    return Contract(**(fields | changes))


def test_no_caps_is_infinity():
    assert contract().caps.tolist() == [np.inf, np.inf]
    assert contract().k == 2


@pytest.mark.parametrize(
    "changes",
    [
        {"low": [1]},
        {"high": [3, 4, 5]},
        {"caps": [1.0]},
        {"low": [4, 2]},
        {"low": [-1, 2]},
        {"caps": [0.0, 1.0]},
        {"caps": [np.nan, 1.0]},
        {"targets": [np.nan, 1.0]},
        {"high": [np.inf, 4.0]},
        {"targets": [], "low": [], "high": []},
    ],
)
def test_refused_contracts(changes):
    with pytest.raises(InputError):
        contract(**changes)


@pytest.mark.parametrize(
    ("weight", "size", "n_bytes", "holds"),
    [
        (1.0, 1, 8.0, True),
        (3.0, 1, 8.0, True),
        (0.999, 1, 8.0, False),
        (3.001, 1, 8.0, False),
        (2.0, 0, 8.0, False),
        (2.0, 1, 8.01, False),
        (3.0 + 1e-12, 1, 8.0, True),
    ],
)
def test_keeps(weight, size, n_bytes, holds):
    kept = contract(caps=[8.0, 100.0]).keeps(
        np.array([weight, 3.0]), np.array([size, 1]), np.array([n_bytes, 8.0])
    )
    assert kept.tolist() == [holds, True]


def test_a_partition_holds_its_blocks():
    partition = Partition([0, 2, 2], 3)
    assert partition.part.dtype == np.int32
    assert partition.n == 3
    assert partition.checked_for(3) is partition
    with pytest.raises(InputError, match="3 entries, but the graph has 4 vertices"):
        partition.checked_for(4)


@pytest.mark.parametrize(
    ("part", "k", "message"),
    [
        ([0, 3], 3, "vertex 1 is in block 3"),
        ([-1], 3, "vertex 0 is in block -1"),
        ([2**32], 3, "vertex 0 is in block 4294967296"),
        ([0.5], 3, "whole numbers"),
        ([[0]], 3, "dimension"),
        ([0], 0, "at least 1"),
        ([], 0, "at least 1"),
        ([], 2**31, "at most"),
    ],
)
def test_refused_partitions(part, k, message):
    with pytest.raises(InputError, match=message):
        Partition(part, k)


def test_a_mapping_renames_blocks():
    score = MappingScore(1.0, 8.0)
    mapping = Mapping(np.array([2, 1, 0]), score, score)
    assert mapping.moved == 2
    assert mapping.applied(Partition([0, 1, 2, 0], 3)).part.tolist() == [2, 1, 0, 2]
    with pytest.raises(InputError, match="mapping has 3 blocks"):
        mapping.applied(Partition([0, 1], 2))
    for device in ([0, 0], [0, 2], [[0]], [0.5, 1]):
        with pytest.raises(InputError):
            Mapping(np.array(device), score, score)

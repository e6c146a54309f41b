"""The certificate says what is, whoever made the partition, and shares nothing with them."""

import subprocess
import sys

import numpy as np
import pytest

from evener.errors import InputError
from evener.planning.evaluate import evaluate
from evener.plans.partition import Contract, Partition
from evener.platforms.platform import Platform
from evener.sizing import contract_for
from tests.assertions import grid, path


def judged(part, k=2, **limits):
    graph = path(len(part))
    fields = {"targets": np.full(k, len(part) / k), "low": np.ones(k), "high": np.full(k, 99.0)}
    return evaluate(graph, Partition(part, k), Platform.flat([1] * k), Contract(**fields | limits))


@pytest.mark.parametrize(
    ("part", "limits", "holds"),
    [
        ([0, 0, 1, 1], {}, [True, True]),
        ([0, 0, 0, 0], {}, [True, False]),
        ([0, 0, 0, 0], {"low": [0, 0]}, [True, False]),  # nothing is asked, but empty
        ([0, 0, 0, 1], {"high": [2, 9]}, [False, True]),
        ([0, 1, 1, 1], {"low": [2, 1]}, [False, True]),
        # Ends cost 24 + 12 bytes, the others 24 + 2 x 12.
        ([0, 0, 1, 1], {"caps": [84, 83.9]}, [True, False]),
    ],
)
def test_each_clause_of_the_contract(part, limits, holds):
    assert judged(part, **limits).certificate.holds.tolist() == holds
    assert judged(part, **limits).certificate.all_hold == all(holds)


def test_a_broken_partition_is_judged_all_the_same():
    graph, platform = grid(6, 6), Platform.flat([1, 2, 3])
    contract, _ = contract_for(graph, platform)
    found = evaluate(graph, Partition(np.arange(36) % 2, 3), platform, contract)
    assert not found.certificate.all_hold
    assert found.certificate.components.tolist() == [3, 3, 0]
    assert found.certificate.vertices.tolist() == [18, 18, 0]
    assert found.imbalance == pytest.approx(2.0)
    assert found.prediction.compute.tolist() == [18, 9, 0]


def test_pieces_of_a_striped_grid():
    graph, platform = grid(4, 6), Platform.flat([1, 1])
    contract, _ = contract_for(graph, platform)
    found = evaluate(graph, Partition(np.tile([0, 1], 12), 2), platform, contract)
    assert found.certificate.components.tolist() == [3, 3]
    assert found.edge_cut == 4 * 5
    assert found.certificate.boundary.tolist() == [12, 12]
    assert found.total_volume == 24
    assert found.max_volume == 12


@pytest.mark.parametrize("speed", [1e-308, 5e-324])
def test_seconds_beyond_all_numbers(speed):
    graph, platform = path(3, vwgt=[1e12, 1, 1]), Platform.flat([1, speed])
    contract = Contract([1.0, 1.0], [0.0, 0.0], [1e13, 1e13])
    with pytest.raises(InputError, match="'dev1' would need more seconds"):
        evaluate(graph, Partition([1, 1, 0], 2), platform, contract)


def test_the_judge_shares_no_code_with_the_partitioners():
    code = (
        "import evener.planning.evaluate, sys; "
        "print([m for m in sys.modules if m.startswith('evener.partitioning')])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"

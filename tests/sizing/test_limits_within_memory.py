"""Limits on weights within which blocks fit their memories."""

import numpy as np

from evener.plans.partition import Contract
from evener.sizing.contracts import limits_within_memory


def test_limits_leave_some_memory_free_and_hold_the_load():
    contract = Contract(
        np.array([40.0, 30.0, 30.0]), np.array([38.0, 29.0, 29.0]), np.array([40.0, 31.0, 31.0]),
        np.array([400.0, 1e6, 1e6]),
    )  # fmt: skip
    limits = limits_within_memory(contract, np.full(3, 10.0), 0.01)
    assert np.isclose(limits.high[0], 39.6)
    assert np.isclose(limits.targets.sum(), 100)
    assert (limits.targets <= limits.high).all()
    assert (limits.low == contract.low).all()
    # Nothing free where the others cannot take more.
    tight = Contract(contract.targets, contract.targets, contract.targets, contract.caps)
    assert list(limits_within_memory(tight, np.full(3, 10.0), 0.01).high) == [40, 30, 30]

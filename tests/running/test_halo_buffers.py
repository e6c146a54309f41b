"""Buffers of one exchange; test_halos.py has the exchanges."""

import numpy as np
import pytest

from evener.errors import InputError
from evener.running.comm import run_threads
from evener.running.halo_buffers import HaloBuffers, HaloTimes, check_operation

GIVES, TAKES = slice(0, 2), np.array([3, 2])  # by each of two ranks, to and from the other


def test_values_in_any_order_and_in_place():
    """A range is received in the array itself, numbers through a buffer."""

    def work(comm):
        other, times, x = 1 - comm.rank, HaloTimes(), np.arange(4.0) + 10 * comm.rank
        found = []
        for takes, kind in ((TAKES, "exchange"), (slice(2, 4), "bound")):
            made = HaloBuffers(comm, {other: GIVES}, {other: takes}, x, kind)
            made.start(x, times)
            made.finish(0.0, times)
            found.append((len(made.unpacked), made.nbytes))
            made.unpack(x, times)
            found.append(x[2:].tolist())
        return found, times.sent

    first, second = run_threads(2, work)
    assert first == ([(1, 32), [11, 10], (0, 16), [10, 11]], 32)
    assert second == ([(1, 32), [1, 0], (0, 16), [0, 1]], 32)


def test_own_values_come_first_where_they_are_combined():
    def work(comm):
        x, other = np.array([8.0, 4, 2, 1]), 1 - comm.rank
        made = HaloBuffers(comm, {other: TAKES}, {other: GIVES}, x, "reduce")
        made.start(x, HaloTimes())
        made.finish(0.0, HaloTimes())
        made.combine(x, np.subtract, HaloTimes())
        return x.tolist()

    assert run_threads(2, work) == [[8 - 1, 4 - 2, 2, 1]] * 2


def test_an_operation_that_a_type_does_not_have():
    check_operation(np.bitwise_or, np.zeros(2, np.int32))
    with pytest.raises(InputError, match="bitwise_or is not defined for float32"):
        check_operation(np.bitwise_or, np.zeros(2, np.float32))

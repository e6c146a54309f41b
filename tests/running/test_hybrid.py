"""Devices of processes: which belong where, and what they exchange within one process."""

import numpy as np
import pytest

from evener.errors import UsageError
from evener.running.failures import Names
from evener.running.hybrid import devices_of_process, names_of_processes, run_hybrid
from evener.running.swaps import ThreadSwap


class OneProcess:
    """What MpiComm offers, for a process alone."""

    def __init__(self, rank=0, size=1):
        self.rank, self.size = rank, size
        self.waits = self
        self.timeout, self.names = 5.0, Names()

    def check_threads(self, devices, most):
        assert devices <= most

    def barrier(self):
        pass

    rest = barrier

    def allgather(self, value):
        return [value]

    exchange = staticmethod(list)

    def tagged(self, outgoing, incoming, sized):
        assert not outgoing
        assert not incoming
        return ThreadSwap(0, None, {}, {})


def test_each_device_belongs_to_one_process():
    for processes in range(1, 7):
        for k in range(processes, 20):
            own = [devices_of_process(OneProcess(p, processes), k) for p in range(processes)]
            assert [d for devices in own for d in devices] == list(range(k))
            assert all(d * processes // k == p for p, devices in enumerate(own) for d in devices)
    with pytest.raises(UsageError, match="3 ranks cannot run 2 blocks"):
        devices_of_process(OneProcess(0, 3), 2)


def test_processes_are_called_by_their_devices():
    names = names_of_processes(OneProcess(0, 2), ["cpu0", "cpu1", "gpu"])
    assert names.of(0) == "rank 0 (cpu0, cpu1)"
    assert names.of(1) == "rank 1 (gpu)"


def test_devices_of_one_process_exchange():
    def work(own):
        found = {q: np.empty(1) for q in range(3) if q != own.rank}
        swap = own.swap({q: np.full(1, 10.0 * own.rank + q) for q in found}, found)
        swap.start()
        swap.finish()
        own.rest()
        own.barrier()
        sent = own.exchange([(own.rank, to) for to in range(3)])
        return own.bcast(own.rank, root=2), sent, {q: one[0] for q, one in found.items()}

    for device, (root, sent, found) in enumerate(run_hybrid(OneProcess(), 3, work)):
        assert root == 2
        assert sent == [(q, device) for q in range(3)]
        assert found == {q: 10.0 * q + device for q in range(3) if q != device}


def test_a_device_that_fails_stops_those_of_its_process():
    def work(own):
        if own.rank == 1:
            raise ZeroDivisionError("device 1")
        own.barrier()

    with pytest.raises(ZeroDivisionError, match="device 1"):
        run_hybrid(OneProcess(), 3, work)

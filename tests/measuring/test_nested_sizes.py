"""INPA and IDPA on devices that are measured: with clocks of their own, and as they are here."""

import numpy as np
import pytest

from evener.errors import InfeasibleError, UsageError
from evener.measuring.dynamic_sizes import measure_nested, product_seconds
from evener.running.apps import matmul_nested
from evener.running.apps.matmul import verify
from evener.running.apps.matmul_nested import CpuProduct, EmulatedProduct, NodeDevices, run_nested
from evener.running.comm import run_threads

N, BLOCK = 96, 4


def device(entries_per_s, memory=np.inf):
    return EmulatedProduct(lambda rows, columns, block: rows * columns / entries_per_s, memory)


@pytest.fixture
def own_clock(monkeypatch):
    """Products take what the devices' models say, and no time here."""

    def timed(device, column, row):
        seconds, device._whole = device._whole, 0.0
        device.add(column, row)
        device._whole = seconds
        return seconds

    monkeypatch.setattr(matmul_nested, "_timed", timed)


def sized(make, ranks=2, **options):
    """Return the sizes found by ranks whose devices `make` makes, and the product by them."""
    rng = np.random.default_rng(317811)
    A, B = rng.random((2, N, N))
    parts = [lambda a, b, c, d, own=own: own[a:b, c:d] for own in (A, B)]

    def work(comm):
        with NodeDevices(make(comm.rank)) as node:
            found = measure_nested(comm, node, N, BLOCK, repetitions=1, **options)
            columns = found.slices[comm.rank].columns
            return found, run_nested(comm, node, parts, N, found.nodes, columns)

    results = run_threads(ranks, work)
    for found, run in results:
        assert verify(A, B, run.C)
        assert found.nodes.areas.tolist() == results[0][0].nodes.areas.tolist()
    return results[0][0]


@pytest.mark.usefixtures("own_clock")
def test_nodes_and_devices_by_their_speeds():
    # A core and a GPU of seven times its speed beside two cores: 8 to 2, and 1 to 7 within.
    found = sized(lambda rank: [device(1e6), device(1e6 if rank else 7e6)])
    assert found.nodes.areas[0] / 24**2 == pytest.approx(0.8, abs=1 / 24)  # a column of blocks
    assert found.slices[0].columns[1] / found.slices[0].columns.sum() == pytest.approx(7 / 8, 0.03)
    assert found.slices[1].columns.tolist() == pytest.approx([found.slices[1].columns.mean()] * 2)


@pytest.mark.usefixtures("own_clock")
def test_a_gpu_whose_memory_ends():
    memory = 8 * 1800.0  # of 9,216 entries and the pivots
    found = sized(lambda rank: [device(1e6), device(1e6 if rank else 9e6, memory)])
    rows, own = BLOCK * found.nodes.height[0], found.slices[0].columns[1]
    assert 8 * (rows * own + BLOCK * (rows + own)) <= memory
    with pytest.raises(InfeasibleError):
        sized(lambda rank: [device(1e6, memory)])


def test_devices_of_this_computer():
    found = sized(lambda rank: [CpuProduct() for _ in range(rank + 1)], epsilon=0.5, max_steps=2)
    assert sum(found.nodes.areas) == 24**2


def test_refused_and_failing_devices():
    class Broken(CpuProduct):
        def take(self, rows, columns, block):
            raise OSError("the driver is gone")

    with NodeDevices([CpuProduct(), Broken()]) as node:
        with pytest.raises(OSError, match="driver"):
            product_seconds(node, 4, np.array([2, 2]), 2)
        seconds = product_seconds(node, 4, np.array([2, 0]), 2)
        assert seconds[1] == 0
        with pytest.raises(UsageError, match="not 0 times"):
            run_threads(1, lambda comm: measure_nested(comm, node, 8, 2, repetitions=0))

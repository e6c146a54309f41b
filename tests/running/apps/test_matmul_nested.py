"""Nested products on nodes of several devices, against NumPy, and what travels against theory."""

import numpy as np
import pytest

from evener.errors import InputError
from evener.plans.tiling import Tiling
from evener.running.apps.matmul import traffic, verify
from evener.running.apps.matmul_nested import CpuProduct, EmulatedProduct, NodeDevices, run_nested
from evener.running.comm import run_threads

N = 23
ROWS = Tiling((6, 6), [0, 4], [0, 0], [4, 2], [6, 6], 4)
QUARTERS = Tiling((4, 4), [0, 0, 3], [0, 3, 3], [4, 3, 1], [3, 1, 1], 6)
ONE_UNUSED = Tiling((6, 6), [0, 0], [0, 0], [6, 0], [6, 0], 4)


def emulated(rows, columns, block):
    return 1e-7 * rows * columns


DEVICES = {
    "cpu": lambda: [CpuProduct(), CpuProduct()],
    "emulated": lambda: [EmulatedProduct(emulated), CpuProduct(), EmulatedProduct(emulated)],
}


def product(tiling, columns, kinds, n=N):
    rng = np.random.default_rng(75025)
    A, B = rng.random((2, n, n))

    def work(comm):
        with NodeDevices(DEVICES[kinds[comm.rank]]()) as node:
            parts = (lambda a, b, c, d: A[a:b, c:d]), (lambda a, b, c, d: B[a:b, c:d])
            return run_nested(comm, node, parts, n, tiling, columns[comm.rank])

    return A, B, run_threads(tiling.k, work)


@pytest.mark.parametrize(
    ("tiling", "columns", "kinds"),
    [
        (ROWS, [[9, 14], [0, 20, 3]], ["cpu", "emulated"]),
        (QUARTERS, [[18, 0], [2, 3, 0], [1, 4]], ["cpu", "emulated", "cpu"]),
        (ONE_UNUSED, [[11, 12], [0, 0]], ["cpu", "cpu"]),
    ],
)
def test_it_is_the_product(tiling, columns, kinds):
    A, B, results = product(tiling, columns, kinds)
    for result in results:
        assert np.allclose(result.C, A @ B, rtol=1e-13)
        assert verify(A, B, result.C)
        assert result.received.tolist() == traffic(tiling, N).tolist()
        used = [[seconds > 0 for seconds in own] for own in result.seconds]
        areas = tiling.areas.tolist()
        assert used == [[c > 0 and area > 0 for c in own]
                        for own, area in zip(columns, areas, strict=True)]  # fmt: skip


@pytest.mark.parametrize(
    ("columns", "message"),
    [([[9, 13], [23, 0]], "2 whole numbers, one for each device, whose sum is 23"),
     ([[24, -1], [23, 0]], "whose sum is 23"), ([[9, 7, 7], [23, 0]], "2 whole numbers")],
)  # fmt: skip
def test_columns_that_do_not_fit_are_refused(columns, message):
    with pytest.raises(InputError, match=message):
        product(ROWS, columns, ["cpu", "cpu"])


def test_ranks_and_devices_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="2 rectangles, but there are 1 ranks"):
        run_threads(1, lambda comm: run_nested(comm, None, None, N, ROWS, [23]))
    with pytest.raises(InputError, match="at least one device"):
        NodeDevices([])
    with pytest.raises(InputError, match="occurs twice"):
        NodeDevices([CpuProduct()] * 2)


def test_an_emulated_device_has_its_memory_and_its_time():
    small = EmulatedProduct(emulated, memory=1000)
    with pytest.raises(
        MemoryError, match="8,560 bytes are needed, but the emulated device has 1,000"
    ):
        small.take(20, 50, 1)
    hurried = EmulatedProduct(lambda rows, columns, block: 0.0)
    hurried.take(30, 30, 2)
    hurried.add(np.ones((30, 2)), np.ones((2, 30)))
    assert hurried.late == 1
    assert (hurried.fetch() == 2).all()

"""Plays staged kernels on a device, or in the simulator. Run by test_gpu.py."""

import numpy as np
from numba import cuda

from evener.errors import InfeasibleError
from evener.plans.edge_partition import edge_metrics
from evener.running.locality import staged_cuda_kernels as kernels
from evener.running.locality.gpu import StagedKernel, staged_fluxes
from evener.running.locality.staging import Multiprocessor
from tests.running.locality.staged_cases import blocks_of, interactions, matrix


def slow_fluxes(edges, areas, values):
    sums = np.zeros_like(values)
    for u, v, area in zip(edges.tails, edges.heads, areas, strict=True):
        flowing = np.zeros(4)
        for end in (u, v):
            density, across, along, energy = values[:, end]
            force = 0.4 * (energy - 0.5 * (across**2 + along**2) / density)
            own = across, across**2 / density + force, along * across / density
            flowing += 0.5 * area * np.array([*own, (energy + force) * across / density])
        sums[:, u] -= flowing
        sums[:, v] += flowing
    return sums


A = matrix(13, 11, 50)
edges, partition, blocks = blocks_of(A, 3)
x = np.random.default_rng(2).random(11)
loads = edge_metrics(edges, partition).copies + np.count_nonzero(edges.degrees)
for message, expected in (
    (kernels.entry_times, A @ x),
    (kernels.likelihood, (A != 0) @ kernels.likelihood(0, x)),
):
    for is_repeatable in (False, True):
        given = {"threads": 8, "is_repeatable": is_repeatable}
        multiply = StagedKernel(blocks, A.data, message, **given)
        found = multiply(x)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        assert multiply.loads == loads
        if is_repeatable:
            assert np.array_equal(multiply(x), found)
    schedule, y = np.random.default_rng(1).permutation(edges.m), cuda.to_device(np.zeros(13))
    kernels.kernels_for(message).swapped[-(-edges.m // 16), 16](
        schedule, edges.tails, edges.heads - 13, A.data, x, y
    )
    np.testing.assert_allclose(y.copy_to_host(), expected, rtol=1e-12)
try:
    StagedKernel(blocks, A.data, on=Multiprocessor(shared_of_block=16))
    raise AssertionError("staged beyond shared memory")
except InfeasibleError as error:
    assert "a block stages" in str(error)

edges, partition, blocks = interactions(12, 30, 3)
rng = np.random.default_rng(3)
areas, values = rng.random(30), 1 + rng.random((4, 12))
expected = slow_fluxes(edges, areas, values)
sums, staged = staged_fluxes(blocks, areas, values, threads=8)
np.testing.assert_allclose(sums, expected, rtol=1e-12, atol=1e-14)
assert staged == edge_metrics(edges, partition).copies + np.count_nonzero(edges.degrees)
sums = cuda.to_device(np.zeros((4, 12)))
kernels.swapped_flux[4, 8](
    np.arange(30)[::-1].copy(), edges.tails, edges.heads, areas, values, sums
)
np.testing.assert_allclose(sums.copy_to_host(), expected, rtol=1e-12, atol=1e-14)
print("all as on the CPU")

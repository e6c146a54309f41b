"""Plays staged kernels on a device, or in the simulator. Run by test_gpu.py."""

import numpy as np
from numba import cuda
from scipy.sparse import csr_array

from evener.errors import InfeasibleError
from evener.plans.edge_partition import edge_metrics
from evener.running.locality import staged_cuda_kernels as kernels
from evener.running.locality.gpu import (
    ROWS,
    STAGED,
    RowsKernel,
    StagedKernel,
    product_for,
    staged_fluxes,
)
from evener.running.locality.staging import Multiprocessor
from tests.running.locality.staged_cases import blocks_of, interactions, matrix, slow_fluxes

A = matrix(13, 11, 50)
edges, partition, cut = blocks_of(A, 3)
rng = np.random.default_rng(2)
x = rng.random(11)
loads = edge_metrics(edges, partition).copies + np.count_nonzero(edges.degrees)
for message, expected in (
    (kernels.entry_times, A @ x),
    (kernels.likelihood, (A != 0) @ kernels.likelihood(0, x)),
):
    for way in STAGED:
        multiply = StagedKernel(cut, A.data, message, threads=8, way=way)
        found = multiply(x)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        is_half = way == "by_cache"
        assert multiply.loads == (cut.outputs.vertices.size if is_half else loads)
        if way == "by_outputs":
            assert np.array_equal(multiply(x), found)
    schedule, y = rng.permutation(edges.m), cuda.to_device(np.zeros(13))
    kernels.kernels_for(message).swapped[-(-edges.m // 16), 16](
        schedule, edges.tails, edges.heads - 13, A.data, x, y
    )
    np.testing.assert_allclose(y.copy_to_host(), expected, rtol=1e-12)
# Rows of 0 to 40 entries: within a thread, a block, and beyond both.
counts = np.array([0, 3, 40, 0, 1, 17, 5, 0, 0, 9, 2, 1, 0])
columns = np.concatenate([rng.permutation(45)[:count] for count in counts])
uneven = csr_array((rng.random(columns.size), columns, np.append(0, np.cumsum(counts))), (13, 45))
for way in ROWS:
    given = {"threads": 4, "run": 12}
    for matrix_of, vector in ((A, x), (uneven, rng.random(45))):
        found = RowsKernel(matrix_of, way, **given)(vector)
        np.testing.assert_allclose(found, matrix_of @ vector, rtol=1e-12)
chosen = product_for(A, A.data, lambda k: blocks_of(A, k)[2], threads=8)
assert isinstance(chosen.product, StagedKernel) and "1 blocks stage" in chosen.reason
assert 0 < chosen.occupancy <= 1.0
tiny = Multiprocessor(shared=64, shared_of_block=16, reserved=0)
chosen = product_for(A, A.data, lambda k: blocks_of(A, k)[2], threads=8, on=tiny)
assert isinstance(chosen.product, RowsKernel) and "without staging" in chosen.reason
np.testing.assert_allclose(chosen.product(x), A @ x, rtol=1e-12)
edges, partition, blocks = interactions(12, 30, 3)
areas, values = rng.random(30), 1 + rng.random((4, 12))
expected = slow_fluxes(edges, areas, values)
sums, staged = staged_fluxes(blocks, areas, values, threads=8)
np.testing.assert_allclose(sums, expected, rtol=1e-12, atol=1e-14)
assert staged == edge_metrics(edges, partition).copies + np.count_nonzero(edges.degrees)
for stage in (
    lambda: StagedKernel(cut, A.data, on=tiny),
    lambda: staged_fluxes(blocks, areas, values, on=tiny),
):
    try:
        stage()
        raise AssertionError("staged beyond shared memory")
    except InfeasibleError as error:
        assert "a block stages" in str(error)
sums = cuda.to_device(np.zeros((4, 12)))
kernels.swapped_flux[4, 8](
    np.arange(30)[::-1].copy(), edges.tails, edges.heads, areas, values, sums
)
np.testing.assert_allclose(sums.copy_to_host(), expected, rtol=1e-12, atol=1e-14)
print("all as on the CPU")

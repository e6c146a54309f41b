"""Kernels for CUDA devices, in a process of its own: in Numba's simulator, or on a GPU."""

import pytest

from tests.running import cuda_runs


@pytest.mark.slow
def test_in_the_simulator():
    cuda_runs.in_the_simulator("tests.measuring.cuda_cases")


@pytest.mark.gpu
def test_on_a_gpu():
    cuda_runs.on_a_gpu("tests.measuring.cuda_cases")


@pytest.mark.slow
def test_the_product_compiles_to_ptx():
    cuda_runs.compiled("tests.measuring.gemm_ptx")

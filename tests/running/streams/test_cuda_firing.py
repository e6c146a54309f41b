"""Filters on CUDA devices: simulated ones, real ones, and kernels compiled for real ones."""

import pytest

from tests.running import cuda_runs


@pytest.mark.slow
def test_in_the_simulator():
    cuda_runs.in_the_simulator("tests.running.streams.cuda_filters")


@pytest.mark.gpu
def test_on_a_gpu():
    cuda_runs.on_a_gpu("tests.running.streams.cuda_filters")


@pytest.mark.slow
def test_kernels_compile_to_ptx():
    cuda_runs.compiled("tests.running.streams.cuda_filters_ptx")

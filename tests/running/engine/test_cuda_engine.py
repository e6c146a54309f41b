"""Vertex programs on CUDA devices: simulated ones, and kernels compiled for real ones."""

import pytest

from tests.running import cuda_runs


@pytest.mark.slow
def test_in_the_simulator():
    cuda_runs.in_the_simulator("tests.running.engine.cuda_cases")


@pytest.mark.gpu
def test_on_a_gpu():
    cuda_runs.on_a_gpu("tests.running.engine.cuda_cases")


@pytest.mark.slow
def test_kernels_compile_to_ptx():
    cuda_runs.compiled("tests.running.engine.cuda_ptx")

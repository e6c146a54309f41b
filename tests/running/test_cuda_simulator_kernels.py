"""Numba's simulator of CUDA devices, as far as it is mended here."""

import pytest

from tests.running import cuda_runs


@pytest.mark.slow
def test_threads_that_come_at_once_share_an_array():
    cuda_runs.in_the_simulator("tests.running.cuda_shared")

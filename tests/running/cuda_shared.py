"""Simulated threads that come at once share an array. Run by test_cuda_simulator_kernels.py."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba.cuda.simulator.kernelapi import FakeCUDAShared

from evener.running import cuda_simulator_kernels as cuda_simulator

TOGETHER = 4
barrier = threading.Barrier(TOGETHER, timeout=60)


class Slow:
    """NumPy, whose new arrays wait until each thread is making one."""

    def __getattr__(self, name):
        return getattr(np, name)

    def empty(self, shape, dtype):
        barrier.wait()
        return np.empty(shape, dtype)


assert cuda_simulator.is_simulated()
cuda_simulator.np = Slow()
block = FakeCUDAShared(64)


def kernel(_):
    return block.array(3, np.float64)


with ThreadPoolExecutor(TOGETHER) as pool:
    arrays = list(pool.map(kernel, range(TOGETHER)))
assert all(one is arrays[0] for one in arrays)
assert block.array(0, np.dtype(np.float64)).size == 8
print("all as on the CPU")

"""Compiles what an engine would launch on a CUDA device to PTX. Run by test_cuda_engine.py.

Numba asks the device for its compute capability, which is answered here instead.
"""

import sys
from types import SimpleNamespace

import numpy as np
from numba import cuda, typeof
from numba.cuda import dispatcher

from evener.running.apps import bfs, pagerank, sssp, wcc
from evener.running.engine.cuda_engine import cuda_engine
from evener.running.engine.device_cuda_kernels import CudaDevice
from tests.running.engine.parts import random_graph, whole

# Devices of the second lack no instruction of the first, and run what is compiled for it: two
# schedules show that the compiler takes another capability.
PROGRAMS = {
    (7, 5): (pagerank.PROGRAM, bfs.PROGRAM, sssp.PROGRAM, wcc.PROGRAM),
    (8, 0): (pagerank.PROGRAM, wcc.PROGRAM),
}


class Compiling(CudaDevice):
    """A device that compiles kernels instead of running them; its memory is that of the CPU."""

    def __init__(self, capability):
        self.capability, self.compiled = capability, {}

    def put(self, array):
        return np.array(array)

    def empty(self, size, dtype):
        return np.zeros(max(int(size), 1), dtype)

    def pinned(self, size, dtype):
        return np.zeros(size, dtype)

    def send(self, here, there, first=0, end=None):
        """Nothing is run, so nothing is moved."""

    fetch = send

    def launch(self, kernel, threads, *arguments):
        types = tuple(typeof(argument) for argument in arguments)
        text, _ = cuda.compile_ptx(kernel.py_func, types, cc=self.capability)
        assert ".visible .entry" in text
        self.compiled[kernel.py_func.__name__] = len(text)

    def wait(self):
        """Nothing is awaited."""


try:
    cuda.compile_ptx(lambda x: None, (typeof(np.zeros(1)),), cc=min(PROGRAMS))
except Exception as error:  # of the driver or of NVVM, whatever they are
    print(f"no compiler: {type(error).__name__}")
    sys.exit()
graph = random_graph(40, 150, 1, directed=True, weights=9)
for capability, programs in PROGRAMS.items():
    answer = SimpleNamespace(compute_capability=capability)
    dispatcher.get_current_device = lambda answer=answer: answer
    for program in programs:
        device = Compiling(capability)
        cuda_engine(program, whole(graph), device).compile()
        print(capability, program.name, device.compiled)
print("all compiled")

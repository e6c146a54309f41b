"""A CUDA device that compiles to PTX what it is asked to launch; no GPU is needed.

Numba asks the device for its compute capability, which is answered here instead.
"""

import sys
from types import SimpleNamespace

import numpy as np
from numba import cuda, typeof
from numba.cuda import dispatcher

from evener.running.engine.device_cuda_kernels import CudaDevice


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

    def recorded(self, work):
        return work

    def wait(self):
        """Nothing is awaited."""


def pretend(capability):
    """Let Numba compile for a device of this compute capability."""
    answer = SimpleNamespace(compute_capability=capability)
    dispatcher.get_current_device = lambda: answer


def needs_compiler():
    """End the process with a word of why where NVIDIA's compiler is missing."""
    try:
        cuda.compile_ptx(lambda x: None, (typeof(np.zeros(1)),), cc=(7, 5))
    except Exception as error:  # of the driver or of NVVM, whatever they are
        print(f"no compiler: {type(error).__name__}")
        sys.exit()

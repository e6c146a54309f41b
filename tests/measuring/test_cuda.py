"""Kernels for CUDA devices, in a process of its own: in Numba's simulator, or on a GPU."""

import importlib.util
import os
import subprocess
import sys

import pytest

from evener.measuring.devices import cuda_devices

PROGRAM = """
import numpy as np
from evener.measuring import cpu, cuda
from evener.measuring.benchmark import benchmark
from evener.measuring.outcomes import Point, Precision

SIZES = {"Axpy": 200, "Triad": 200, "Spmv": 150, "Jacobi": 150, "Pagerank": 150, "Gemm": 3}
for name, d in SIZES.items():
    options = {"block": 9} if name == "Gemm" else {}
    for transfers in (True, False):
        here = getattr(cpu, name)(**options)
        there = getattr(cuda, f"Cuda{name}")(**options, transfers=transfers)
        for kernel in (here, there):
            kernel.initialize(d)
            for _ in range(2 if transfers else 1):
                kernel.execute()
        assert here.complexity(d) == there.complexity(d)
        if transfers:
            for key in ("_y", "_z", "result", "_change"):
                if hasattr(here, key) and not (name == "Gemm" and key != "result"):
                    assert np.allclose(getattr(here, key), getattr(there, key)), (name, key)
        here.finalize(), there.finalize()
quick = Precision(0.5, repetitions=3, shortest=0.0, least=0.0)
assert isinstance(benchmark(cuda.CudaSpmv(), 64, quick), Point)
try:
    cuda.CudaSpmv(index=99)
except Exception as error:
    assert "no CUDA device 99" in str(error), error
else:
    raise AssertionError
ping = cuda.Ping()
ping.initialize(50)
ping.execute()
ping.finalize()
print("all as on the CPU")
"""


def run(**variables):
    return subprocess.run([sys.executable, "-c", PROGRAM], env=os.environ | variables, text=True,
                          capture_output=True, timeout=250, check=False)  # fmt: skip


@pytest.mark.slow
def test_in_the_simulator():
    if importlib.util.find_spec("numba.cuda") is None:
        pytest.skip("numba-cuda is not installed")
    done = run(NUMBA_ENABLE_CUDASIM="1")
    assert done.stdout == "all as on the CPU\n", done.stderr


@pytest.mark.gpu
def test_on_a_gpu():
    if not cuda_devices():
        pytest.skip("no CUDA device here")
    done = run()
    assert done.stdout == "all as on the CPU\n", done.stderr

"""The measured kernels on a CUDA device give what they give on a CPU. Run by test_cuda.py."""

import contextlib
import os
import sys
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np

from evener.measuring import cpu, cuda
from evener.measuring.benchmark import benchmark
from evener.measuring.cuda_product import CudaProduct
from evener.measuring.cuda_streamed import CudaGemmStreamed
from evener.measuring.dynamic_sizes import product_seconds
from evener.measuring.outcomes import Point, Precision
from evener.measuring.streamed import bytes_in_core
from evener.measuring.together import one_rank
from evener.plans.tiling import Tiling
from evener.running.apps.matmul_nested import CpuProduct, NodeDevices, run_nested

SIMULATED = os.environ.get("NUMBA_ENABLE_CUDASIM") == "1"
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
    assert "CUDA device 99 does not exist" in str(error), error
else:
    raise AssertionError

# Streamed through a device with room for all, for three strips. Few threads: they are simulated.
rng = np.random.default_rng(1)
for room, strips in ((bytes_in_core(10, 6, 2), 1), (700, 3)):
    kernel = CudaGemmStreamed(block=2, width=3, room=room)
    kernel.initialize(5)
    kernel._a[:], kernel._b[:] = rng.random((10, 6)), rng.random((10, 6))
    for _ in range(2):
        kernel.execute()
    assert np.allclose(kernel.result, 2 * kernel._a[:, :2] @ kernel._b[:2]), room
    assert len(kernel.strips.edges) == strips + 1
    assert kernel.strips.in_core == (strips == 1)
    assert kernel.bytes_there <= room
    kernel.finalize()
for make in (lambda: CudaGemmStreamed(transfers=False), lambda: cuda.CudaGemm(blas="mkl")):
    try:
        make()
    except Exception as error:
        assert "does not work with gemm-streamed" in str(error) or "not 'mkl'" in str(error), error
    else:
        raise AssertionError
if SIMULATED:  # what cuBLAS is asked for, by a CuPy of NumPy

    def gemm(transa, transb, a, b, out, alpha, beta):
        assert a.flags.f_contiguous and b.flags.f_contiguous and out.flags.f_contiguous
        out[:] = alpha * a @ b + beta * out

    class Stream(contextlib.nullcontext):
        pass

    try:
        cuda.CudaGemm(blas="cublas")
    except Exception as error:
        assert "reached through CuPy" in str(error), error
    else:
        assert find_spec("cupy") is not None
    sys.modules["cupy"] = SimpleNamespace(
        asarray=lambda one: one._ary if hasattr(one, "_ary") else one,
        cuda=SimpleNamespace(ExternalStream=Stream),
    )
    sys.modules["cupy.cublas"] = SimpleNamespace(gemm=gemm)
    both = [cuda.CudaGemm(2, blas=blas) for blas in ("tiles", "cublas")]
    for kernel in both:
        kernel.initialize(6)
        kernel._b[:] *= np.arange(1, 1 + kernel._b.size).reshape(kernel._b.shape)
        kernel.execute()
    assert np.allclose(*[kernel.result for kernel in both], atol=0)
    assert both[0].result.any()
# A node of a core and a GPU multiplies: pivots of 4, 4 and 2.
A, B = rng.random((2, 10, 10))
parts = [lambda a, b, c, d, own=own: own[a:b, c:d] for own in (A, B)]
with NodeDevices([CpuProduct(), CudaProduct()]) as node:
    found = run_nested(one_rank(), node, parts, 10, Tiling((3, 3), [0], [0], [3], [3], 4), [4, 6])
    assert np.allclose(found.C, A @ B)
    assert np.isfinite(product_seconds(node, 3, np.array([1, 2]), 2, 1)).all()
ping = cuda.Ping()
ping.initialize(50)
ping.execute()
ping.finalize()
print("all as on the CPU")

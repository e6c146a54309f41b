"""Compiles the tiled product of matrices to PTX. Run by test_cuda.py."""

import sys

from numba import cuda, float64

from evener.measuring.cuda_kernels import gemm

MATRIX = float64[:, ::1]

try:
    cuda.compile_ptx(lambda x: None, (MATRIX,), cc=(7, 5))
except Exception as error:  # of the driver or of NVVM, whatever they are
    print(f"no compiler: {type(error).__name__}")
    sys.exit()
for capability in ((7, 5), (8, 0)):
    text, _ = cuda.compile_ptx(gemm.py_func, (MATRIX,) * 3, cc=capability)
    assert ".visible .entry" in text
    assert ".shared" in text
    assert "bar.sync" in text  # tiles are read when all of them are there
print("all compiled")

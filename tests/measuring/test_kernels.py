"""Kernels compute what they say, and are found by name."""

import itertools
import sys

import numpy as np
import pytest

from evener.errors import InputError, UsageError
from evener.measuring import kernels
from evener.measuring.cpu import (
    Axpy,
    Gemm,
    Jacobi,
    Pagerank,
    Spmv,
    Triad,
    blocks_of,
    load_pattern,
    stencil,
    window,
)
from evener.measuring.kernels import KERNELS, FunctionKernel, make_kernel


@pytest.mark.parametrize("name", [name for name in KERNELS if "cpu" in KERNELS[name].homes])
@pytest.mark.parametrize("d", [1, 2, 3, 7, 30, 600])
def test_every_kernel_executes_at_every_load(name, d):
    kernel = make_kernel(name)
    for _ in range(2):  # a kernel can be used again
        assert kernel.complexity(d) > 0
        kernel.initialize(d)
        for _ in range(3):
            assert kernel.execute() is None
        kernel.finalize()


def test_axpy_and_triad():
    axpy, triad = Axpy(), Triad()
    for kernel in (axpy, triad):
        kernel.initialize(10_000)
        kernel.execute()
    x = np.linspace(0.0, 1.0, 10_000)
    assert np.allclose(axpy._y, 1.0 + 1e-9 * x, rtol=1e-15)
    assert np.allclose(triad._z, x + 1e-9, rtol=1e-15)


def test_gemm_adds_the_product():
    kernel = Gemm(block=3)
    kernel.initialize(6)
    rng = np.random.default_rng(1)
    for matrix in (kernel._a, kernel._b):
        matrix[:] = rng.random(matrix.shape)
    kernel.execute()
    kernel.execute()
    assert np.allclose(kernel.result, 2 * kernel._a[:, :3] @ kernel._b[:3])
    assert kernel.complexity(6) == 2 * 6 * 9 * 3
    # A, B and C of 2 x 3 blocks, and the pivots: the memory of the application.
    taken = [kernel._a, kernel._b, kernel._c, kernel._column, kernel._row]
    assert [one.shape for one in taken] == [(6, 9)] * 3 + [(6, 3), (3, 9)]
    assert not any(np.shares_memory(*two) for two in itertools.combinations(taken, 2))


def test_what_gpus_multiply_by(monkeypatch):
    monkeypatch.setattr(kernels, "find_spec", lambda name: None)
    assert kernels.blas_of("gemm", ["cpu", "cuda"]) == {"blas": "tiles"}
    monkeypatch.setattr(kernels, "find_spec", lambda name: name)
    assert kernels.blas_of("gemm-streamed", ["cuda"]) == {"blas": "cublas"}
    assert kernels.blas_of("gemm", ["cpu"]) == {}
    assert kernels.blas_of("spmv", ["cuda"]) == kernels.blas_of("own:kernel", ["cuda"]) == {}
    with pytest.raises(UsageError, match="gemm-streamed runs on cuda devices, not on cpu"):
        make_kernel("gemm-streamed")


def test_blocks_are_nearly_square_and_nearly_all():
    for d in range(1, 3000):
        m, n = blocks_of(d)
        assert 0.9 * d <= m * n <= d or d < 20
        assert m <= n <= 2 * m + 1


def test_spmv_of_a_given_matrix(tmp_path):
    rng = np.random.default_rng(2)
    dense = rng.random((6, 6)) < 0.4
    indptr = np.concatenate([[0], np.cumsum(dense.sum(axis=1))])
    indices = np.nonzero(dense)[1]
    file = tmp_path / "a.npz"
    np.savez(file, indptr=indptr, indices=indices)
    for d in (1, 4, 6, 15):
        got_ptr, got = window(indptr, indices, d)
        assert got_ptr.size == d + 1
        assert np.array_equal(np.diff(got_ptr), np.resize(dense.sum(axis=1), d))
        if d <= 6:  # the columns in use, numbered anew in order
            assert np.array_equal(got, np.unique(indices[: indptr[d]], return_inverse=True)[1])
        else:  # no copy shares a column with another
            assert got[: indptr[6]].max() < got[indptr[6] : 2 * indptr[6]].min()
        kernel = Spmv(matrix=file)
        kernel.initialize(d)
        kernel.execute()
        assert np.allclose(kernel.result, kernel._a.toarray() @ kernel._x)
        assert kernel.complexity(d) == 2 * got.size


def test_a_file_that_holds_no_matrix(tmp_path):
    file = tmp_path / "a.npz"
    with pytest.raises(InputError, match=r"a\.npz"):
        load_pattern(file)
    np.savez(file, indptr=[0, 9], indices=[1])
    with pytest.raises(InputError, match="do not match"):
        load_pattern(file)


@pytest.mark.parametrize("d", [1, 2, 5, 27, 1000])
@pytest.mark.parametrize("degree", [1, 3, 7, 20])
def test_rows_of_the_generated_matrix_hold_different_columns(d, degree):
    indptr, indices = stencil(d, degree)
    width = min(d, degree)
    assert np.array_equal(np.diff(indptr), np.full(d, width))
    rows = np.sort(indices.reshape(d, width), axis=1)
    assert ((np.diff(rows, axis=1) > 0).all() if width > 1 else True) and rows.min() >= 0
    assert rows.max() < d


def test_sweeps_of_jacobi_solve():
    kernel = Jacobi()
    kernel.initialize(500)
    for _ in range(200):
        kernel.execute()
    whole = kernel._a.toarray() + np.diag(1.0 / kernel._inverse)
    assert np.allclose(whole @ kernel.result, 1.0, atol=1e-6)


def test_steps_of_pagerank_converge():
    kernel = Pagerank()
    kernel.initialize(500)
    kernel.execute()
    first = kernel._change
    for _ in range(60):
        kernel.execute()
    assert kernel._change < 1e-3 * first


OWN = """
class Mine:
    def complexity(self, d): return 3.0 * d
    def initialize(self, d): self.d = d
    def execute(self): pass
    def finalize(self): pass
class Half:
    def execute(self): pass
ready = Mine()
def prepare(d):
    return lambda: sum(range(d))
def nothing(d):
    return d
number = 7
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    (tmp_path / "own_kernels.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("own_kernels", None)


def test_the_users_own(own):
    assert make_kernel("own_kernels:Mine").complexity(2) == 6.0
    assert make_kernel("own_kernels:ready").complexity(2) == 6.0
    function = make_kernel("own_kernels:prepare")
    assert isinstance(function, FunctionKernel)
    function.initialize(5)
    function.execute()
    function.finalize()
    with pytest.raises(TypeError, match="not a function"):
        make_kernel("own_kernels:nothing").initialize(3)


@pytest.mark.parametrize(
    ("name", "message"),
    [("own_kernels:Half", "lacks initialize, finalize, complexity"),
     ("own_kernels:number", "lacks"), ("own_kernels:missing", "cannot be imported"),
     ("no_such_module_here:x", "cannot be imported"),
     ("fft", "no kernel"), (":", "no kernel"), ("a:", "no kernel")],
)  # fmt: skip
def test_kernels_that_are_none(own, name, message):
    with pytest.raises(UsageError, match=message):
        make_kernel(name)


def test_a_kernel_for_other_devices():
    with pytest.raises(UsageError, match="not on fpga"):
        make_kernel("spmv", "fpga")
    with pytest.raises(UsageError, match="width"):
        make_kernel("gemm", options={"block": 0})
    assert kernels.unit_of("gemm") == "block of b x b"
    assert kernels.unit_of("own:kernel") == "unit"

"""The kernels that are timed on a CPU core.

Dense kernels: axpy, triad, and the update of a matrix by blocks (GEMM), on float64 through NumPy;
`execute` allocates nothing. Sparse kernels: SpMV, a Jacobi sweep, a PageRank step, on CSR through
SciPy. Their matrix of d rows is generated, or consists of the first d rows of a given matrix and
the columns in these rows; if the given matrix has fewer rows, it is repeated along the diagonal.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, cast

import numpy as np
from scipy import sparse
from scipy.linalg.blas import dgemm

from evener.arrays import FloatArray, IntArray
from evener.errors import InputError, UsageError

EMPTY = np.empty(0)
CHUNK = 4096  # elements per chunk, so that a temporary array fits in the cache
FACTOR = 1e-9  # small, so that repetitions do not overflow


class Axpy:
    """y = y + a x over d elements; each takes 16 bytes read, 8 written, and 2 operations."""

    def __init__(self) -> None:
        self._x = self._y = self._part = EMPTY

    def complexity(self, d: int) -> float:
        """Return the arithmetic operations [flop]."""
        return 2.0 * d

    def initialize(self, d: int) -> None:
        """Allocate x and y."""
        self._x, self._y = np.linspace(0.0, 1.0, d), np.ones(d)
        self._part = np.empty(min(d, CHUNK))

    def execute(self) -> None:
        """Update y chunk by chunk, as a compiled loop would."""
        for start in range(0, self._x.size, CHUNK):
            y = self._y[start : start + CHUNK]
            part = self._part[: y.size]
            np.multiply(self._x[start : start + CHUNK], FACTOR, out=part)
            np.add(y, part, out=y)

    def finalize(self) -> None:
        """Release x and y."""
        self._x = self._y = EMPTY


class Triad:
    """z = x + a y over d elements (STREAM's triad)."""

    def __init__(self) -> None:
        self._x = self._y = self._z = EMPTY

    def complexity(self, d: int) -> float:
        """Return the arithmetic operations [flop]."""
        return 2.0 * d

    def initialize(self, d: int) -> None:
        """Allocate x, y and z."""
        self._x, self._y, self._z = np.linspace(0.0, 1.0, d), np.ones(d), np.zeros(d)

    def execute(self) -> None:
        """Compute z chunk by chunk."""
        for start in range(0, self._x.size, CHUNK):
            z = self._z[start : start + CHUNK]
            np.multiply(self._y[start : start + CHUNK], FACTOR, out=z)
            np.add(z, self._x[start : start + CHUNK], out=z)

    def finalize(self) -> None:
        """Release x, y and z."""
        self._x = self._y = self._z = EMPTY


class Gemm:
    """C = C + A B for m x n blocks of b x b, with m and n about equal (A.2 of [Cla14]_).

    A, B and C, each of m x n blocks, are in memory, as the application stores its parts of them.
    The product multiplies a column of m blocks of A by a row of n blocks of B, which are first
    copied to buffers, as the application copies data that it sends. The m n units are at most d;
    the time counts as the time of d units. width: sets n, and m is d, so that a unit is a row of n
    blocks.
    """

    def __init__(self, block: int = 64, width: int | None = None) -> None:
        if not 1 <= block <= 4096:
            raise UsageError(f"a block's width must lie between 1 and 4,096, not {block}")
        self._block, self._width = block, width
        self.finalize()

    def complexity(self, d: int) -> float:
        """Return the arithmetic operations [flop]."""
        rows, columns = self._shape(d)
        return 2.0 * rows * columns * self._block

    def initialize(self, d: int) -> None:
        """Allocate A, B and C, and the buffers of the pivot column and row."""
        rows, columns = shape = self._shape(d)
        self._a, self._b = np.full(shape, FACTOR), np.full(shape, FACTOR)
        self._c = np.zeros(shape)
        self._column, self._row = np.empty((rows, self._block)), np.empty((self._block, columns))

    def execute(self) -> None:
        """Copy the pivot column and row, multiply and add; BLAS through SciPy adds in place."""
        self._copy_pivots()
        # BLAS stores columns: C^T += B^T A^T, where the transposes are views.
        dgemm(1.0, self._row.T, self._column.T, 1.0, self._c.T, overwrite_c=1)

    def finalize(self) -> None:
        """Release the matrices."""
        self._a = self._b = self._c = self._column = self._row = np.empty((0, 0))

    def _copy_pivots(self) -> None:
        np.copyto(self._column, self._a[:, : self._block])
        np.copyto(self._row, self._b[: self._block])

    def _shape(self, d: int) -> tuple[int, int]:
        """Return the numbers of rows and columns of A, B and C [elements]."""
        m, n = blocks_of(d) if self._width is None else (d, self._width)
        return m * self._block, n * self._block

    @property
    def result(self) -> FloatArray:
        """The current C."""
        return self._c


def blocks_of(d: int) -> tuple[int, int]:
    """Return m <= n, m n <= d and near d; for large d, both are within about a third of sqrt(d).

    The thesis takes m = floor(sqrt(d)), n = floor(d / m), which leaves out up to a tenth of d.
    """
    root = max(math.isqrt(d), 1)
    m = max(range(root - root // 4, root + 1), key=lambda m: (m * (d // m), m))
    return m, max(d // m, 1)


SEED = 5
DAMPING = 0.85


class Spmv:
    """y = A x. matrix: an .npz of indptr and indices; if None, rows have `degree` entries."""

    def __init__(self, matrix: str | Path | None = None, degree: int = 7) -> None:
        if not 1 <= degree <= 10_000:
            raise UsageError(f"a row must have 1 to 10,000 entries, not {degree}")
        self._given = None if matrix is None else load_pattern(matrix)
        self._degree = degree
        self._a: Any = None
        self._x = self._y = EMPTY

    def complexity(self, d: int) -> float:
        """Return the arithmetic operations [flop]: two per entry."""
        if self._given is None:
            return 2.0 * d * min(self._degree, d)
        indptr = self._given[0]
        whole, rest = divmod(d, indptr.size - 1)
        return 2.0 * float(whole * indptr[-1] + indptr[rest])

    def initialize(self, d: int) -> None:
        """Create A and x."""
        pattern = self._pattern(d) if self._given is None else window(*self._given, d)
        self._a = with_values(*pattern, d)
        self._x = np.linspace(0.5, 1.0, self._a.shape[1])

    def execute(self) -> None:
        """Multiply."""
        self._y = self._a @ self._x

    def finalize(self) -> None:
        """Release A, x and y."""
        self._a, self._x, self._y = None, EMPTY, EMPTY

    def _pattern(self, d: int) -> tuple[IntArray, IntArray]:
        return stencil(d, self._degree)

    @property
    def result(self) -> FloatArray:
        """The current y."""
        return self._y


class Jacobi(Spmv):
    """x = (b - R x) / D with the diagonal D of A = D + R."""

    def initialize(self, d: int) -> None:
        """Create R, b, 1/D and x."""
        super().initialize(d)
        self._b = np.ones(d)
        self._inverse = 1.0 / (1.0 + np.asarray(abs(self._a).sum(axis=1)).ravel())
        self._y = np.zeros(d)

    def execute(self) -> None:
        """Do one sweep; if A is square, the new x replaces the old one."""
        y = self._a @ self._x
        np.subtract(self._b, y, out=y)
        np.multiply(y, self._inverse, out=y)
        self._y = y
        self._x[: y.size] = y[: self._x.size]

    def complexity(self, d: int) -> float:
        """Return the arithmetic operations [flop]."""
        return super().complexity(d) + 2.0 * d


class Pagerank(Spmv):
    """x = (1 - c) / n + c A x and the sum of changes; A's columns are random, some often used."""

    def initialize(self, d: int) -> None:
        """Create A, scaled so that x does not grow."""
        super().initialize(d)
        rows = np.diff(self._a.indptr)
        self._a.data[:] = np.repeat(1.0 / np.maximum(rows, 1), rows)
        self._change = 0.0

    def execute(self) -> None:
        """Do one step, and compute by how much x changed."""
        y = self._a @ self._x
        np.multiply(y, DAMPING, out=y)
        np.add(y, (1.0 - DAMPING) / max(y.size, 1), out=y)
        shared = min(y.size, self._x.size)
        self._change = float(np.abs(y[:shared] - self._x[:shared]).sum())
        self._x[:shared] = y[:shared]
        self._y = y

    def complexity(self, d: int) -> float:
        """Return the arithmetic operations [flop]."""
        return super().complexity(d) + 5.0 * d

    def _pattern(self, d: int) -> tuple[IntArray, IntArray]:
        rng = np.random.default_rng(SEED)
        width = min(self._degree, d)
        # The square of a uniform number is often small, so that many rows use the same columns.
        columns = (rng.random(d * width, dtype=np.float32) ** 2 * d).astype(np.int32)
        return np.arange(d + 1, dtype=np.int64) * width, np.minimum(columns, d - 1)


def stencil(d: int, degree: int) -> tuple[IntArray, IntArray]:
    """Return indptr (d + 1,) and indices of rows that are adjacent like the cells of a cube.

    The first seven entries of a row are the cell and its neighbours on three axes; further entries
    are further along these axes.
    """
    width = min(degree, d)
    side = max(round(d ** (1 / 3)), 1)
    steps = [0]
    for reach in range(1, width):
        steps += [s * sign for s in (reach, reach * side, reach * side**2) for sign in (-1, 1)]
    offsets = list(dict.fromkeys(step % d for step in steps))
    offsets += [i for i in range(width) if i not in offsets[:width]] if len(offsets) < width else []
    columns = np.sort(np.array(offsets[:width], np.int64))
    rows: IntArray = np.arange(d, dtype=np.int32 if d < 2**31 - 1 else np.int64)
    indices: IntArray = np.empty((d, width), rows.dtype)
    for i, offset in enumerate(columns):
        indices[:, i] = (rows + offset) % d
    return np.arange(d + 1, dtype=np.int64) * width, indices.ravel()


def window(indptr: IntArray, indices: IntArray, d: int) -> tuple[IntArray, IntArray]:
    """Return the first d rows of a matrix, with columns renumbered without gaps.

    If the matrix has fewer rows, it is repeated, and each copy has its own columns.
    """
    n = indptr.size - 1
    copies, rest = divmod(d, n)
    starts = [np.asarray(indptr[:-1]) + c * indptr[-1] for c in range(copies)]
    starts.append(np.asarray(indptr[: rest + 1]) + copies * indptr[-1])
    used, columns = np.unique(indices[: indptr[rest]] if copies == 0 else indices,
                              return_inverse=True)  # fmt: skip
    parts = [columns + c * used.size for c in range(copies)]
    parts.append(columns[: indptr[rest]] + copies * used.size)
    narrow: type[np.int32 | np.int64] = (
        np.int32 if (copies + 1) * used.size < 2**31 - 1 else np.int64
    )
    numbered = np.concatenate(parts).astype(narrow)
    return cast(IntArray, np.concatenate(starts)), cast(IntArray, numbered)


def with_values(indptr: IntArray, indices: IntArray, d: int) -> Any:
    """Return the CSR matrix of d rows with this pattern and values in (0, 1)."""
    values = np.linspace(0.1, 0.9, indices.size)
    columns = max(int(indices.max(initial=0)) + 1, d)
    if indices.size < 2**31 - 1:
        indptr = indptr.astype(indices.dtype)
    return sparse.csr_matrix((values, indices, indptr), shape=(d, columns))


def load_pattern(path: str | Path) -> tuple[IntArray, IntArray]:
    """Return indptr and indices of an .npz. Raises InputError if it does not contain them."""
    try:
        with np.load(path, allow_pickle=False) as file:
            indptr, indices = file["indptr"], file["indices"]
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"the matrix cannot be read: {error}", file=path) from error
    if indptr.size < 2 or indptr[-1] != indices.size:
        raise InputError(
            "the matrix has no rows, or its indptr and indices do not match", file=path
        )
    return indptr, indices

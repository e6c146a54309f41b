"""Dense kernels on a CPU core: axpy, triad, and the update of a matrix by blocks (GEMM).

All work on float64 through NumPy; `execute` takes no memory.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg.blas import dgemm

from evener.arrays import FloatArray
from evener.errors import UsageError

EMPTY = np.empty(0)
CHUNK = 4096  # elements for which a temporary stays in the cache
FACTOR = 1e-9  # small, so that no number of repetitions overflows


class Axpy:
    """y = y + a x over d elements: 16 bytes read, 8 written and 2 operations each."""

    def __init__(self) -> None:
        self._x = self._y = self._part = EMPTY

    def complexity(self, d: int) -> float:
        """Arithmetic operations [flop]."""
        return 2.0 * d

    def initialize(self, d: int) -> None:
        """Take x and y."""
        self._x, self._y = np.linspace(0.0, 1.0, d), np.ones(d)
        self._part = np.empty(min(d, CHUNK))

    def execute(self) -> None:
        """Go through both in chunks, as a compiled loop would."""
        for start in range(0, self._x.size, CHUNK):
            y = self._y[start : start + CHUNK]
            part = self._part[: y.size]
            np.multiply(self._x[start : start + CHUNK], FACTOR, out=part)
            np.add(y, part, out=y)

    def finalize(self) -> None:
        """Give x and y back."""
        self._x = self._y = EMPTY


class Triad:
    """z = x + a y over d elements (STREAM's triad)."""

    def __init__(self) -> None:
        self._x = self._y = self._z = EMPTY

    def complexity(self, d: int) -> float:
        """Arithmetic operations [flop]."""
        return 2.0 * d

    def initialize(self, d: int) -> None:
        """Take x, y and z."""
        self._x, self._y, self._z = np.linspace(0.0, 1.0, d), np.ones(d), np.zeros(d)

    def execute(self) -> None:
        """Go through all three in chunks."""
        for start in range(0, self._x.size, CHUNK):
            z = self._z[start : start + CHUNK]
            np.multiply(self._y[start : start + CHUNK], FACTOR, out=z)
            np.add(z, self._x[start : start + CHUNK], out=z)

    def finalize(self) -> None:
        """Give them back."""
        self._x = self._y = self._z = EMPTY


class Gemm:
    """C = C + A B for m x n blocks of b x b, m and n as equal as they can be (A.2 of [Cla14]_).

    A is a column of m blocks and B a row of n, copied out of larger matrices first, as the
    application copies what it sends. Units: m n, which is at most d; time is that of d units.
    width: n is this, and m is d: a unit is a row of n blocks.
    """

    def __init__(self, block: int = 64, width: int | None = None) -> None:
        if not 1 <= block <= 4096:
            raise UsageError(f"a block's width must lie between 1 and 4,096, not {block}")
        self._b, self._width = block, width
        self._c = self._a = self._column = self._row = np.empty((0, 0))

    def complexity(self, d: int) -> float:
        """Arithmetic operations [flop]."""
        m, n = self._sides(d)
        return 2.0 * (m * self._b) * (n * self._b) * self._b

    def initialize(self, d: int) -> None:
        """Take C, and matrices of its shape that hold A and B."""
        b = self._b
        m, n = self._sides(d)
        self._c, self._a = np.zeros((m * b, n * b)), np.full((m * b, n * b), FACTOR)
        self._column, self._row = np.empty((m * b, b)), np.empty((b, n * b))

    def execute(self) -> None:
        """Copy the pivot column and row, multiply, add; BLAS through SciPy adds in place."""
        np.copyto(self._column, self._a[:, : self._b])
        np.copyto(self._row, self._a[: self._b])
        # BLAS thinks in columns: C^T += B^T A^T, whose transposes are views.
        dgemm(1.0, self._row.T, self._column.T, 1.0, self._c.T, overwrite_c=1)

    def finalize(self) -> None:
        """Give the matrices back."""
        self._c = self._a = self._column = self._row = np.empty((0, 0))

    def _sides(self, d: int) -> tuple[int, int]:
        return blocks_of(d) if self._width is None else (d, self._width)

    @property
    def result(self) -> FloatArray:
        """C so far."""
        return self._c


def blocks_of(d: int) -> tuple[int, int]:
    """Return m <= n, at most a third apart where d allows, with m n <= d as near d as can be.

    The thesis takes m = floor(sqrt(d)), n = floor(d / m), which leaves out up to a tenth of d.
    """
    root = max(math.isqrt(d), 1)
    m = max(range(root - root // 4, root + 1), key=lambda m: (m * (d // m), m))
    return m, max(d // m, 1)

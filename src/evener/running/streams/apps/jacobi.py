"""Jacobi of [Muralidharan13]_, figure 1: two arrays are made, one is swept, the result copied.

Statements 1 to 4 are filters, as in the figure. To make iterations differ, the values of statements
1 and 2 grow by one from each iteration to the next. Statement 3 reads only A, as printed in the
paper: each of its sweeps writes the same B.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.errors import InputError
from evener.running.streams.apps.jacobi_kernels import fill, sweep
from evener.running.streams.program import Outputs, StreamChannel, StreamFilter, StreamProgram

FIRST, SECOND = 2.0 + 2.0 / 1000, 3.0 + 3.0 / 1000  # of statements 1 and 2
PART = 0.2  # of statement 3
Array = npt.NDArray[Any]


def program(n: int = 999, sweeps: int = 10) -> StreamProgram:
    """Return the program on arrays (n, n). sweeps: of statement 3; the paper has 1000.

    Its output is the sums of the rows of A after statement 4 (n,). Raises InputError for fewer than
    3 rows, and for sweeps below 1.
    """
    if n < 3 or sweeps < 1:
        raise InputError(f"Jacobi needs at least 3 rows and 1 sweep, not {n} and {sweeps}")
    arrays = [StreamChannel(*ends, (n, n)) for ends in (("1", "3"), ("2", "3"), ("3", "4"))]
    return StreamProgram(
        (
            StreamFilter("start", lambda iteration: np.array([float(iteration)]), cuda=_start),
            StreamFilter("1", lambda step, out: fill(FIRST + step[0], out), fills=True, vector=n,
                         cuda=partial(_fill, FIRST)),
            StreamFilter("2", lambda step, out: fill(SECOND + step[0], out), fills=True, vector=n,
                         cuda=partial(_fill, SECOND)),
            StreamFilter("3", lambda a, b, out: sweep(a, b, PART, sweeps, out), fills=True,
                         vector=n, cuda=partial(_sweep, sweeps)),
            StreamFilter("4", _row_sums, vector=n, cuda=_row_sums_there),
        ),
        (StreamChannel("start", "1", (1,)), StreamChannel("start", "2", (1,)), *arrays),
        "jacobi",
        lambda outputs: verify(outputs, n),
    )  # fmt: skip


def _row_sums(b: Array) -> Array:
    """Return the row sums of what statement 4 copies to A.

    A's first row and column, which are not copied, are zeros here.
    """
    a = np.zeros_like(b)
    a[1:, 1:] = b[1:, 1:]
    return np.asarray(a.sum(axis=1))


# The same on a CUDA device, whose arrays these functions are given.


def _start(device: Any, iteration: int, *outs: Any) -> None:
    from evener.running.streams.apps import jacobi_cuda_kernels as kernels

    for out in outs:
        device.launch(kernels.count, 1, iteration, out)


def _fill(offset: float, device: Any, step: Any, out: Any) -> None:
    from evener.running.streams.apps import jacobi_cuda_kernels as kernels

    device.launch(kernels.fill, out.size, offset, step, out)


def _sweep(sweeps: int, device: Any, a: Any, b: Any, out: Any) -> None:
    from evener.running.streams.apps import jacobi_cuda_kernels as kernels

    device.launch(kernels.copy, out.size, b, out)
    for _ in range(sweeps):
        device.launch(kernels.sweep, out.size, a, PART, out)


def _row_sums_there(device: Any, b: Any) -> Any:
    from evener.running.streams.apps import jacobi_cuda_kernels as kernels

    sums = device.empty(b.shape[0], np.float64)
    device.launch(kernels.sum_rows, sums.size, b, sums)
    return sums


def verify(outputs: Outputs, n: int) -> bool:
    """Return whether the row sums of all iterations match the formulas, up to 10^-12 of each.

    For inner rows i, the formula is the sum over columns j of part x (4 i j - j + 4 FIRST + 4 t),
    in closed form; the last column and row have the values of statement 2.
    """
    sums = outputs["4"]
    t, i = np.arange(len(sums))[:, None], np.arange(n)[None, :]
    columns, inner = (n - 1) * n / 2 - (n - 1), n - 2  # sum and number of the inner columns
    expected = PART * (columns * (4 * i - 1) + inner * 4 * (FIRST + t))
    expected += i * (n - 1) + SECOND + t
    expected[:, 0] = 0.0
    expected[:, -1] = (n - 1) * (n * (n - 1) / 2) + (n - 1) * (SECOND + t[:, 0])
    return bool(np.allclose(sums, expected, rtol=1e-12, atol=0.0))

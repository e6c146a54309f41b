"""Repeated products x <- A x where the entries of A, a graph's arcs, are divided over devices.

Each device multiplies by its own entries; a row's sum is that of its master, then those of its
mirrors by rising device. So a superstep sends a value each way for each copy of a vertex.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evener.arrays import FloatArray
from evener.running.apps import rows_kernels as kernels
from evener.running.apps.rows import (
    MatrixRows,
    cut,
    random_looking,
    reciprocals,
    row_sums,
    within_rows,
)
from evener.running.comm import Comm
from evener.running.edge_shares import EdgeShare
from evener.running.engine.pool import ThreadPool
from evener.running.engine.recording import DeviceRun, StepRecorder


def edge_products(
    comm: Comm,
    share: EdgeShare,
    pool: ThreadPool,
    tell: Callable[[int], None] | None = None,
    *,
    most: int = 1,
    averaging: int = 1,
) -> DeviceRun:
    """Return x of one device's masters after `most` products x <- A x; every device calls.

    Other arguments, and A, as of `spmv.products`.
    """
    assert share.computed.out is not None
    rows, m = MatrixRows.of(share.computed.out), share.n_masters
    shared = slice(share.n_interior, m)
    cuts, steps = cut(rows), StepRecorder(comm, share.exchanged, tell)
    numbers = share.computed.numbers
    factors = _factors(rows, pool, steps) if averaging else np.ones(numbers.size)
    later = factors[shared].copy()
    factors[share.n_interior :] = 1.0  # of rows whose sums are not whole before they are reduced
    x, y = random_looking(numbers), np.empty(numbers.size)
    tickets, carried = np.zeros(1, np.int64), np.zeros(cuts.first_rows.size - 1)
    within = within_rows(rows, cuts)
    pool.prepare(kernels.multiply, tickets, cuts, rows, factors, x, y, carried)
    steps.begin()
    for step in range(most):
        if step:  # mirrors know the first x
            steps.exchange(x)
        with steps.timed("computing"):
            tickets[0] = 0
            pool.run(kernels.multiply, tickets, cuts, rows, factors, x, y, carried)
            np.add.at(y, cuts.first_rows[within], carried[within])
        steps.reduce(y, "sum")
        with steps.timed("computing"):
            y[shared] *= later
        x, y = y, x
        steps.now.edges = rows.ends.size
        steps.end(share.n_mirrored + (share.n_mirrors if step else 0))
    return steps.result(x[:m])


def _factors(rows: MatrixRows, pool: ThreadPool, steps: StepRecorder) -> FloatArray:
    """Return 1 / sum of each row of a master, 0 for rows without arcs; (n_local,); as
    `reciprocals` of their sums.
    """
    sums = row_sums(rows, pool, cut(rows, whole=True).first_rows)
    steps.halo.reduce(sums, "sum")
    return reciprocals(sums)

"""Repeated products x <- A x of a sparse A whose rows are divided over ranks by any partition.

Every rank calls `run`; ranks are threads or processes of MPI (see evener.running.comm). Each rank
multiplies its rows by SciPy and receives the values of x that they need from other ranks (ghosts).
`Product` does one multiplication or exchange at a time, for programs with loops of their own.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, as_numbers
from evener.errors import InputError
from evener.graphs.graph import Graph
from evener.graphs.lists import Arcs
from evener.plans.partition import Partition
from evener.running.building import Lists
from evener.running.comm import Comm
from evener.running.distributing import local_part
from evener.running.halos import Halo
from evener.running.local_graphs import LocalGraph

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class SpmvRun:
    """The last x, (n,) float64, and the seconds of each iteration on each rank.

    compute, exchange (iterations, p) [s]: a rank that computes less waits longer in the exchange.
    """

    x: FloatArray
    compute: FloatArray
    exchange: FloatArray


class Product:
    """One rank's part of x <- A x: its rows, and room for its x with the ghosts.

    A (n, n): a SciPy matrix in CSR, the same on all ranks. partition: a block for each rank, which
    may be empty. x (n,). Raises InputError for shapes that do not fit.
    """

    def __init__(self, comm: Comm, A: csr_array, partition: Partition, x: npt.ArrayLike) -> None:
        whole = as_numbers(x, "x")
        if A.shape != (whole.size, whole.size):
            raise InputError(f"a matrix of shape {A.shape} and {whole.size} values of x")
        if partition.k != comm.size:
            raise InputError(f"{comm.size} ranks need as many blocks, not {partition.k}")
        self.local, self.rows = local_rows(A, partition, comm.rank)
        self.x: FloatArray = whole[self.local.numbers]
        self.halo = Halo.of(comm, self.local)

    @property
    def values(self) -> FloatArray:
        """(m,) x of the owned rows, in their order."""
        return self.x[: self.local.n_owned]

    def multiply(self, repeat: int = 1) -> None:
        """Replace x of the owned rows by their part of A x. Call `exchange` before the next one.

        repeat: how often the same product is computed, to imitate a longer computation.
        """
        for _ in range(repeat):
            y = self.rows @ self.x
        self.values[:] = y

    def exchange(self, rest: float = 0.0) -> None:
        """Send the values of x that others need, receive the ghosts. rest: as in Swap.finish."""
        self.halo.exchange(self.x, rest)


def local_rows(A: csr_array, partition: Partition, rank: int) -> tuple[LocalGraph, csr_array]:
    """Return a rank's part of a matrix (n, n), and its rows (m, n_local), columns by local numbers.

    The pattern need not be symmetric; rows keep the order of their entries.
    """
    from scipy.sparse import csr_array

    partition.checked_for(A.shape[0])
    columns = csr_array((np.ones(A.nnz, np.int8), A.indices, A.indptr), A.shape).tocsc()
    out = Arcs(A.indptr.astype(np.int64), A.indices, A.data)
    into = Arcs(columns.indptr.astype(np.int64), columns.indices, None)
    local = local_part(Lists(out, into, "out"), partition, rank, threads=1)
    assert local.out is not None
    offsets, ends, values = local.out
    signed = offsets.astype(np.int64), ends.astype(np.int64)
    rows = csr_array((values, signed[1], signed[0]), shape=(local.n_owned, local.n_local))
    return local, rows


def run(
    comm: Comm,
    A: csr_array,
    partition: Partition,
    x: npt.ArrayLike,
    iterations: int = 1,
    *,
    repeat: int = 1,
    rest: float = 0.0,
) -> SpmvRun:
    """Multiply x by A `iterations` times, each followed by an exchange.

    A, partition, x: as for Product. repeat: as for Product.multiply, 1 at least. rest: as for
    Product.exchange. Raises InputError for shapes that do not fit, and for counts below 1.
    """
    if iterations < 1 or repeat < 1:
        raise InputError(f"{iterations} iterations of {repeat} products: at least one of each")
    product = Product(comm, A, partition, x)
    spent = np.empty((iterations, 2))
    for i in range(iterations):
        begin = time.perf_counter()
        product.multiply(repeat)
        middle = time.perf_counter()
        product.exchange(rest)
        spent[i] = middle - begin, time.perf_counter() - middle
    pieces = comm.allgather((product.local.owned, product.values.copy(), spent))
    whole = np.empty(partition.n)
    for owned, values, _ in pieces:
        whole[owned] = values
    seconds = np.stack([spent for _, _, spent in pieces], axis=1)
    return SpmvRun(whole, seconds[..., 0], seconds[..., 1])


def verify(A: csr_array, x: npt.ArrayLike, result: SpmvRun, tolerance: float = 1e-10) -> bool:
    """Whether SciPy alone gets the same x, with differences up to tolerance x the largest value."""
    expected: Any = as_numbers(x, "x")
    for _ in range(len(result.compute)):
        expected = A @ expected
    return bool(np.abs(result.x - expected).max() <= tolerance * np.abs(expected).max())


def averaging_matrix(graph: Graph) -> csr_array:
    """Return the matrix (n, n) that averages each vertex and its neighbours.

    It has the graph's pattern and a diagonal; its products neither grow nor vanish.
    """
    from scipy.sparse import csr_array, eye_array

    pattern = csr_array(
        (np.ones(graph.adjncy.size), graph.adjncy, graph.xadj), shape=(graph.n, graph.n)
    )
    A = csr_array(pattern + eye_array(graph.n))
    A.data /= np.repeat(np.diff(A.indptr), np.diff(A.indptr))
    return A

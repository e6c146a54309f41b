"""Repeated products x <- A x with a sparse A whose rows are divided over ranks by any partition.

SPMV is the application: A is made of a graph's arcs, and the threads of each device multiply. `run`
takes any SciPy matrix, with which each rank multiplies its rows; ranks are threads or MPI processes
(see evener.running.comm), and all call it. In both cases a rank receives the values of x that its
rows need from other ranks (ghosts). `Product` does one multiplication or exchange of `run` at a
time, for programs with their own loops.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, as_numbers
from evener.errors import InputError
from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.graphs.lists import Arcs
from evener.plans.partition import Partition
from evener.running.apps import rows_kernels as kernels
from evener.running.apps.matrices import matrix_of
from evener.running.apps.rows import (
    NONE,
    MatrixRows,
    cut,
    piece_count,
    random_looking,
    reciprocals,
    row_sums,
    within_rows,
)
from evener.running.building import Lists
from evener.running.comm import Comm
from evener.running.distributing import local_part
from evener.running.engine.pool import ThreadPool
from evener.running.engine.program import Solver
from evener.running.engine.recording import DeviceRun, StepRecorder
from evener.running.engine.states import RunState
from evener.running.engine.supersteps import WHOLE, Stretch
from evener.running.halos import Halo
from evener.running.local_graphs import LocalGraph

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def products(
    comm: Comm,
    local: LocalGraph,
    pool: ThreadPool,
    tell: Callable[[int], None] | None = None,
    *,
    most: int = 1,
    averaging: int = 1,
    stretch: Stretch = WHOLE,
) -> DeviceRun:
    """Return one device's x after `most` products x <- A x. Collective.

    A has the weight of each arc in the row of the vertex that it leaves; 1 if arcs have no weights.
    Initially x is `random_looking`. averaging: 1: divide each row by its sum, so that x neither
    grows nor vanishes (rows without arcs give 0); 0: A unchanged. stretch: initial state, and the
    function that saves later states. The same number of devices gives the same x, for any number of
    threads.

    If edges are divided, so are the entries of A: a row's sum is that of its master plus those of
    its mirrors, by ascending device. So in a superstep each mirror sends one value and receives
    one.
    """
    assert local.out is not None
    on_edges, m = local.divides_edges, local.n_owned
    start, keep = stretch
    steps = StepRecorder(comm, local, tell, stretch.first)
    rows = MatrixRows.of(local.out)
    cuts = cut(rows)
    factors: FloatArray = NONE
    if averaging:
        sums = row_sums(rows, pool, cut(rows, whole=True).first_rows)
        if on_edges:
            steps.halo.reduce(sums, "sum")
            sums[m:] = 1.0  # rows of mirrors are not divided here
        factors = reciprocals(sums)
        del sums  # frees its memory
    # Rows with mirrors are multiplied by their factors once their sums are reduced.
    shared, later = slice(local.n_interior, m), NONE
    if on_edges and averaging:
        later = factors[shared].copy()
        factors[local.n_interior :] = 1.0
    x, y = random_looking(local.numbers), np.empty(local.n_local)
    if start is not None:
        x[:m] = start.values
    tickets, carried = np.zeros(1, np.int64), np.zeros(cuts.first_rows.size - 1)
    within = within_rows(rows, cuts)
    pool.prepare(kernels.multiply, tickets, cuts, rows, factors, x, y, carried)
    steps.begin()

    def state() -> RunState:
        return RunState(steps.done, x[:m])

    for step in range(steps.done, most):
        received = 0
        if step or not on_edges:  # mirrors know the first x
            steps.exchange(x)
            received = local.n_ghosts
        with steps.timed("computing"):
            tickets[0] = 0
            pool.run(kernels.multiply, tickets, cuts, rows, factors, x, y, carried)
            np.add.at(y, cuts.first_rows[within], carried[within])
        if on_edges:
            steps.reduce(y, "sum")
            received += sum(numbers.size for numbers in local.sends.values())
            if averaging:
                with steps.timed("computing"):
                    y[shared] *= later
        x, y = y, x
        steps.now.edges = rows.ends.size
        steps.end(received)
        if keep is not None and not keep(steps.done, state, steps):
            break
    return steps.result(x[:m])


def _bytes_of_products(n_owned: int, n_local: int, n_arcs: int, _: bool) -> int:
    """Return the bytes of x before and after a product, of factors, and of 3 numbers per piece."""
    return 8 * (2 * n_local + n_owned + 3 * piece_count(n_owned, n_arcs) + 3)


SPMV = Solver(
    "spmv",
    products,
    _bytes_of_products,
    {"averaging": 1},
    want="out",
    moves=True,
    on_edges=True,
)


def verify_products(
    graph: Graph | DirectedGraph, x: npt.NDArray[Any], count: int, averaging: int = 1
) -> bool:
    """Return whether SciPy gets the same x (n,) by `count` products, up to rounding."""
    A = matrix_of(graph, weighted=True)
    n = A.shape[0]
    expected = random_looking(np.arange(n))
    sums = A @ np.ones(n) if averaging else np.ones(n)
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(count):
            expected = np.divide(A @ expected, sums, out=np.zeros(n), where=sums > 0)
    largest = float(np.abs(expected[np.isfinite(expected)]).max(initial=0.0))
    return np.allclose(x, expected, rtol=1e-9, atol=1e-12 * largest, equal_nan=True)


@dataclass(frozen=True, eq=False)
class SpmvRun:
    """The last x, (n,) float64, and the seconds of each iteration on each rank.

    compute, exchange (iterations, p) [s]: a rank with a shorter compute waits longer in exchange.
    """

    x: FloatArray
    compute: FloatArray
    exchange: FloatArray


class Product:
    """One rank's part of x <- A x: its rows, and space for its x with the ghosts.

    A (n, n): a SciPy CSR matrix, the same on all ranks. partition: one block per rank, which may be
    empty. x (n,). Raises InputError for shapes that do not match.
    """

    def __init__(self, comm: Comm, A: csr_array, partition: Partition, x: npt.ArrayLike) -> None:
        whole = as_numbers(x, "x")
        if A.shape != (whole.size, whole.size):
            raise InputError(
                f"a matrix of shape {A.shape} cannot be multiplied by {whole.size} values of x"
            )
        if partition.k != comm.size:
            raise InputError(
                f"{comm.size} ranks need {comm.size} blocks, but the partition has {partition.k}"
            )
        self.local, self.rows = local_rows(A, partition, comm.rank)
        self.x: FloatArray = whole[self.local.numbers]
        self.halo = Halo.of(comm, self.local)

    @property
    def values(self) -> FloatArray:
        """x of the own rows (m,), in their order."""
        return self.x[: self.local.n_owned]

    def multiply(self, repeat: int = 1) -> None:
        """Replace x of the own rows by their part of A x. Call `exchange` before the next product.

        repeat: number of times that the same product is computed, to imitate a longer computation.
        """
        for _ in range(repeat):
            y = self.rows @ self.x
        self.values[:] = y

    def exchange(self, rest: float = 0.0) -> None:
        """Send values of x that other ranks need, and receive ghosts. rest: as in Swap.finish."""
        self.halo.exchange(self.x, rest)


def local_rows(A: csr_array, partition: Partition, rank: int) -> tuple[LocalGraph, csr_array]:
    """Return a rank's part of a matrix (n, n), and its rows (m, n_local) with local column numbers.

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
    """Multiply x by A `iterations` times; an exchange follows each product.

    A, partition, x: as for Product. repeat: as for Product.multiply, at least 1. rest: as for
    Product.exchange. Raises InputError for shapes that do not match, and for counts below 1.
    """
    if iterations < 1 or repeat < 1:
        raise InputError(f"iterations and repeat must be at least 1, not {iterations} and {repeat}")
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
    """Return whether SciPy gets the same x, up to tolerance times the largest value."""
    expected: Any = as_numbers(x, "x")
    for _ in range(len(result.compute)):
        expected = A @ expected
    return bool(np.abs(result.x - expected).max() <= tolerance * np.abs(expected).max())


def averaging_matrix(graph: Graph) -> csr_array:
    """Return the matrix (n, n) that averages each vertex and its neighbours.

    It has the graph's pattern and a diagonal; its products neither grow nor vanish.
    """
    from scipy.sparse import csr_array, eye_array

    A = csr_array(matrix_of(graph, weighted=False) + eye_array(graph.n))
    A.data /= np.repeat(np.diff(A.indptr), np.diff(A.indptr))
    return A
